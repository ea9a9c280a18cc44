#define XXH_INLINE_ALL
#include <xxhash.h>

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/frontend/error_report.h>
#include <torch/csrc/jit/operator_upgraders/upgraders_entry.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <set>

#include "base/ending.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/temporary_file.h"
#include "loader/archive/archive.h"
#include "loader/archive/load_code.h"
#include "loader/archive/preflight.h"
#include "loader/archive/repair.h"
#include "loader/archive/tensor_records.h"
#include "loader/custom_ops.h"
#include "loader/devices.h"
#include "loader/exported/exported.h"
#include "loader/methods.h"
#include "loader/names.h"
#include "loader/torch_model.h"
#include "loader/vector_math.h"
#include "loader/walk/provenance.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

constexpr int kMostRepairs = 40;

std::string hashOf(std::span<const std::byte> bytes)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return text;
}

struct Loaded {
    std::optional<torch::jit::Module> module;
    std::string error;  // if there is no module
};

// LibTorch reads the bytes that have been checked, not the file at the path, which may have changed by then.
class CheckedBytes final : public caffe2::serialize::ReadAdapterInterface {
public:
    explicit CheckedBytes(std::span<const std::byte> bytes) : m_bytes(bytes) {}
    [[nodiscard]] std::size_t size() const override { return m_bytes.size(); }
    std::size_t read(std::uint64_t at, void* to, std::size_t count, const char* /*what*/) const override
    {
        if (at >= m_bytes.size()) return 0;
        const std::span<const std::byte> part = m_bytes.subspan(at, std::min(count, m_bytes.size() - at));
        std::memcpy(to, part.data(), part.size());
        return part.size();
    }

private:
    std::span<const std::byte> m_bytes;
};

// Exception boundary: everything LibTorch throws becomes text, but for std::bad_alloc.
Loaded tryLoad(std::span<const std::byte> file)
{
    try {
        resolveVectorMath();
        return {torch::jit::load(std::make_shared<CheckedBytes>(file), at::kCPU), {}};
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const c10::Error& e) {
        const std::string what = e.what_without_backtrace();
        if (what.find("can't allocate memory") != std::string::npos) throw std::bad_alloc();
        return {{}, what};
    } catch (const std::exception& e) {
        return {{}, e.what()};
    }
}

void readEverything(std::span<const std::byte> file)
{
    const Loaded loaded = tryLoad(file);
    try {
        if (loaded.module) readAllSources(*loaded.module);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception&) {
        // An error that the caller will meet as a value, or never.
    }
}

// Generous: a disk at 50 MB/s; weights, their copies, and code as large.
ChildLimits limitsFor(std::size_t bytes)
{
    return {.seconds = static_cast<unsigned>(60 + bytes / 50'000'000), .bytes = (std::uint64_t{1} << 30) + 4 * bytes};
}

// Loads the file `name`, as it is or repaired.
base::Result<Loaded> loadSafely(std::span<const std::byte> file, const std::string& name)
{
    const base::Status safe = survives(
        name, [&] { readEverything(file); }, limitsFor(file.size()));
    if (!safe) return base::forward(safe);
    return tryLoad(file);
}

tl::unexpected<base::Error> refuse(const std::string& path, const std::string& error)
{
    const std::string unknown = "Unknown builtin op: ";
    if (const std::size_t at = error.find(unknown); at != std::string::npos) {
        const std::string name = names::firstLine(std::string_view(error).substr(at + unknown.size()));
        const std::string op = name.substr(0, name.find_first_of(". \n", name.find("::")));
        const MissingOperator missing = missingOperator(op);
        return fail(ErrorCode::Unsupported,
                    path + " uses the operator " + op + ", which is not part of " + missing.from, missing.hint, path);
    }
    return fail(ErrorCode::Input, "PyTorch cannot load " + path + ": " + names::firstLine(error),
                "save the model again, with torch.jit.trace if it was scripted", path);
}

// The archive's records with the edits made so far.
class Repairer {
public:
    Repairer(std::span<const std::byte> file, const Archive& archive) : m_file(file), m_archive(archive) {}

    // Edits the record that the error names; false if the error is of another kind.
    bool edit(const std::string& error);
    base::Status write(const std::string& path) const;
    [[nodiscard]] const std::vector<Repair>& repairs() const { return m_repairs; }

private:
    std::span<const std::byte> m_file;
    const Archive& m_archive;
    std::map<std::string, std::string> m_edited;  // by name within the root
    std::vector<Repair> m_repairs;
};

bool Repairer::edit(const std::string& error)
{
    const auto mismatch = parseTypeMismatch(error);
    if (!mismatch) return false;
    const Record* record = m_archive.find(mismatch->record);
    if (!record) return false;
    if (!m_edited.contains(mismatch->record)) {
        auto code = readRecord(m_file, *record);
        if (!code) return false;
        m_edited[mismatch->record] = std::move(*code);
    }
    const auto insertion = declareUnion(m_edited[mismatch->record], *mismatch);
    if (!insertion) return false;
    m_repairs.push_back({.record = mismatch->record, .line = insertion->line, .inserted = insertion->text});
    return true;
}

base::Status Repairer::write(const std::string& path) const
{
    std::vector<std::string> bytes;
    std::vector<StoredRecord> records;
    bytes.reserve(m_archive.records.size());
    const std::size_t root = m_archive.root.size() + 1;
    for (const Record& record : m_archive.records) {
        const std::string name = record.name.substr(root);
        const std::string debugged = name.ends_with(".debug_pkl") ? name.substr(0, name.size() - 10) : std::string();
        if (m_edited.contains(debugged)) continue;
        if (const auto it = m_edited.find(name); it != m_edited.end()) {
            records.push_back({record.name, it->second});
            continue;
        }
        auto content = readRecord(m_file, record);
        if (!content) return base::forward(content);
        bytes.push_back(std::move(*content));
        records.push_back({record.name, bytes.back()});
    }
    return writeArchive(path, records);
}

struct Opened {
    torch::jit::Module module;
    std::vector<Repair> repairs;
    std::vector<std::string> customOps;
    ModelLimits limits;
};

base::Result<Opened> openModule(const std::string& path, std::span<const std::byte> file, const Archive& archive)
{
    torch::jit::populate_upgraders_graph_map();  // compiled once here, not again in each child process
    base::Result<Loaded> loaded = loadSafely(file, path);
    Repairer repairer(file, archive);
    for (int i = 0; loaded && !loaded->module && i < kMostRepairs; ++i) {
        if (!repairer.edit(loaded->error)) return refuse(path, loaded->error);
        const base::TemporaryFile temporary(std::filesystem::temp_directory_path());
        if (auto ok = repairer.write(temporary.path()); !ok) return base::forward(ok);
        const auto repaired = MappedFile::open(temporary.path());
        if (!repaired) return base::forward(repaired);
        loaded = loadSafely(repaired->bytes(), path);
    }
    if (!loaded) return base::forward(loaded);
    if (!loaded->module) return refuse(path, loaded->error);
    return Opened{.module = std::move(*loaded->module), .repairs = repairer.repairs(), .customOps = {}, .limits = {}};
}

base::Result<Opened> openTorchScript(const std::string& path, std::span<const std::byte> file, const Archive& archive)
{
    if (const base::Status fit = checkTensorRecords(file, archive, path); !fit) return base::forward(fit);
    if (const base::Status inert = checkLoadRunsNothing(file, archive, path); !inert) return base::forward(inert);
    auto customOps = listCustomOps(file, archive);
    if (!customOps) return base::forward(customOps);
    auto opened = openModule(path, file, archive);
    if (opened) opened->customOps = std::move(*customOps);
    return opened;
}

base::Result<Opened> openExported(const std::string& path, std::span<const std::byte> file, const Archive& archive)
{
    const base::MemoryAllowance allowance(static_cast<std::int64_t>(limitsFor(file.size()).bytes));
    auto read = readExported(file, archive, path);
    if (!read) return base::forward(read);
    return Opened{.module = std::move(read->module), .repairs = {}, .customOps = {}, .limits = std::move(read->limits)};
}

std::int64_t countNotFinite(const at::Tensor& tensor)
{
    if (!tensor.is_floating_point() || tensor.layout() != at::kStrided) return 0;
    return tensor.numel() - at::isfinite(tensor).sum().item<int64_t>();
}

base::Result<std::vector<Parameter>> listParameters(const torch::jit::Module& module)
{
    std::vector<Parameter> out;
    std::set<std::string> seen;
    const auto add = [&](const std::string& name, const at::Tensor& tensor) -> base::Status {
        if (!tensor.defined() || !seen.insert(name).second) return {};
        const auto dtype = dtypeOf(tensor.scalar_type());
        if (!dtype) return fail(ErrorCode::Unsupported, dtype.error().message, dtype.error().hint, name);
        out.push_back(
            {.name = name, .dtype = *dtype, .shape = tensor.sizes().vec(), .notFinite = countNotFinite(tensor)});
        return {};
    };
    for (const auto& p : module.named_parameters())
        if (auto ok = add(p.name, p.value); !ok) return base::forward(ok);
    for (const auto& b : module.named_buffers())
        if (auto ok = add(b.name, b.value); !ok) return base::forward(ok);
    return out;
}

std::vector<Argument> listArguments(const c10::FunctionSchema& schema)
{
    std::vector<Argument> out;
    for (std::size_t i = 1; i < schema.arguments().size(); ++i) {
        const c10::Argument& a = schema.arguments()[i];
        const bool optional = a.default_value().has_value() || a.type()->kind() == c10::TypeKind::OptionalType;
        out.push_back({.name = a.name(), .type = a.type()->str(), .optional = optional});
    }
    return out;
}

// The part of a model to load: forward, or all methods of a model without it.
enum class Entry : std::uint8_t { Forward, Methods };

// Modules with typed overloads of forward are compiled to forward__0, forward__1, and so on.
tl::unexpected<base::Error> noForward(const torch::jit::Module& module, const std::string& className)
{
    if (module.find_method("forward__0"))
        return fail(ErrorCode::Unsupported, "the model " + className + " has several overloads of forward",
                    "script a module whose forward calls one of them");
    std::string methods;
    for (const torch::jit::Method& method : module.get_methods())
        if (!method.name().starts_with("_")) methods += (methods.empty() ? "" : ", ") + method.name();
    const std::string has = methods.empty() ? "" : "; methods: " + methods;
    return fail(ErrorCode::Unsupported, "the model " + className + " has no forward method" + has,
                "script or trace a module whose forward calls the method to compute");
}

base::Result<ModelInfo> describeModule(const torch::jit::Module& module, Entry entry)
{
    ModelInfo info;
    info.className = module.type()->name() ? module.type()->name()->name() : "Module";
    if (entry == Entry::Methods) return info;
    if (!module.find_method("forward")) return noForward(module, info.className);
    const auto forward = module.get_method("forward");
    info.arguments = listArguments(forward.function().getSchema());
    info.traced = looksTraced(module);
    auto parameters = listParameters(module);
    if (!parameters) return base::forward(parameters);
    info.parameters = std::move(*parameters);
    return info;
}

// LibTorch's warnings address authors of Python code; what matters to a user of this program is an error or a note.
struct Silent final : c10::WarningHandler {
    void process(const c10::Warning&) override {}
};

// Neither warnings nor output of models: standard output is for results. Walks count calls of print.
void silence()
{
    static Silent silent;
    c10::WarningUtils::set_warning_handler(&silent);
    torch::jit::setPrintHandler([](const std::string&) {});
}

base::Result<Model> loadChecked(const std::string& path, Entry entry, Sha256 hashed)
{
    const auto file = MappedFile::open(path);
    if (!file) return base::forward(file);
    const auto archive = scanArchive(file->bytes(), path);
    if (!archive) return base::forward(archive);
    if (const base::Status intact = checkContents(file->bytes(), *archive, path); !intact) return base::forward(intact);
    silence();
    registerCustomOps();
    const bool exported = archive->kind == ArchiveKind::Exported;
    auto opened = (exported ? openExported : openTorchScript)(path, file->bytes(), *archive);
    if (!opened) return base::forward(opened);
    opened->module.eval();
    auto devices = rewriteDevices(opened->module);
    auto info = describeModule(opened->module, entry);
    if (!info) return base::forward(info);
    info->path = path;
    info->hash = hashOf(file->bytes());
    if (hashed == Sha256::Yes && !exported) info->sha256 = base::sha256(file->bytes());
    info->fileBytes = static_cast<std::int64_t>(file->bytes().size());
    info->repairs = std::move(opened->repairs);
    info->devices = std::move(devices);
    info->exported = exported;
    info->limits = std::move(opened->limits);
    std::ranges::copy_if(opened->customOps, std::back_inserter(info->stubs), isStub);
    return Model(std::make_shared<const Model::Impl>(Model::Impl{std::move(*info), std::move(opened->module)}));
}

base::Result<Model> loadFor(const std::string& path, Entry entry, Sha256 hashed)
{
    const base::Uninterruptible here;
    try {
        return loadChecked(path, entry, hashed);
    } catch (const c10::Error& e) {
        return refuse(path, e.what_without_backtrace());
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::Resources, "there is not enough memory to load " + path, {}, path);
    } catch (const std::exception& e) {
        return refuse(path, e.what());
    }
}

}  // namespace

Model::Model(std::shared_ptr<const Impl> impl) : m_impl(std::move(impl)) {}

const ModelInfo& Model::info() const { return m_impl->info; }

base::Result<Model> load(const std::string& path, Sha256 hashed) { return loadFor(path, Entry::Forward, hashed); }
base::Result<Model> loadMethods(const std::string& path) { return loadFor(path, Entry::Methods, Sha256::No); }

}  // namespace hopscope::loader
