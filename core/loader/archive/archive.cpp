#include "loader/archive/archive.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <set>

#include "loader/archive/archive_bytes.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;
using bytes::Reader;

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kSizesFollowData = 8;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;

// How a sentence speaks of a format.
struct Words {
    const char *format, *remedy;
};

constexpr Words kTorchScript = {"a TorchScript archive",
                                "save the model in Python with hopscope.save(model, data, \"model.pt\"), "
                                "or torch.jit.trace(model, inputs).save(..)"};
constexpr Words kExported = {"an exported program", "save the program with torch.export.save(program, path)"};

// The format that a damaged or foreign file was meant to have: by its first entry, or else by its name.
const Words& wordsFor(const Reader& file, std::string_view name)
{
    const std::string_view entry = file.u32(0) == kLocalHeader ? file.text(30, file.u16(26)) : std::string_view();
    const auto within = [&](const char* part) { return entry.find(part) != std::string_view::npos; };
    if (within("/data/weights/") || within("/models/") || entry.ends_with("/archive_format")) return kExported;
    return name.ends_with(".pt2") && !entry.ends_with(".pkl") ? kExported : kTorchScript;
}

struct Scan {
    Reader file;
    std::string name;
    ArchiveLimits limits;
    const Words& words;

    [[nodiscard]] tl::unexpected<base::Error> bad(const std::string& what, std::uint64_t offset) const
    {
        return fail(ErrorCode::Input, name + ": " + what,
                    std::string("the file is damaged or not ") + words.format + ": copy or export it again",
                    name + ":" + std::to_string(offset));
    }
};

struct Directory {
    std::uint64_t offset = 0, size = 0, records = 0;
};

struct Magic {
    std::string_view bytes;
    std::size_t at;
    const char* what;
};

constexpr std::array<Magic, 8> kMagics = {{
    {"\x93NUMPY", 0, "a NumPy array"},
    {"\x1f\x8b", 0, "a gzip file"},
    {"\x7f"
     "ELF",
     0, "a program or shared library"},
    {"\x89HDF", 0, "an HDF5 file"},
    {"ustar", 257, "a tar archive"},
    {"{\"", 8, "a safetensors file"},
    {"<?xml", 0, "an XML file"},
    {"\x89PNG", 0, "an image"},
}};

bool looksLikeText(std::span<const std::byte> file)
{
    const auto head = file.first(std::min<std::size_t>(file.size(), 512));
    return std::all_of(head.begin(), head.end(), [](std::byte b) {
        const int c = std::to_integer<int>(b);
        return c == '\n' || c == '\r' || c == '\t' || (c >= 32 && c != 127);
    });
}

tl::unexpected<base::Error> notAZip(const Scan& scan)
{
    const std::span<const std::byte> all = scan.file.all();
    const auto input = [&](const std::string& what) {
        return fail(ErrorCode::Input, scan.name + " is " + what + ", not " + scan.words.format, scan.words.remedy,
                    scan.name);
    };
    if (all.empty()) return input("empty");
    if (scan.file.matches(4, "PTMF"))
        return fail(ErrorCode::Unsupported, scan.name + " is a TorchScript model in FlatBuffer form",
                    "save it with torch.jit.save in the usual zip form", scan.name);
    if (scan.name.ends_with(".onnx")) return input("an ONNX model");
    for (const Magic& magic : kMagics)
        if (scan.file.matches(magic.at, magic.bytes)) return input(magic.what);
    if (all[0] == std::byte{0x80}) return input("a pickle (an old torch.save file, perhaps a state dict)");
    return input(looksLikeText(all) ? "a text file" : "of an unknown format");
}

// The end record is the last thing in the file, behind it at most a comment.
base::Result<std::uint64_t> findDirectoryEnd(const Scan& scan)
{
    const std::uint64_t size = scan.file.size();
    if (size < 22) return scan.bad("too short for a zip archive", size);
    const std::uint64_t lowest = size - std::min<std::uint64_t>(size, 22 + 0xFFFF);
    for (std::uint64_t at = size - 22;; --at) {
        if (scan.file.u32(at) == kDirectoryEnd && at + 22 + scan.file.u16(at + 20) == size) return at;
        if (at == lowest) break;
    }
    return scan.bad("the zip directory at the end is missing (truncated?)", size);
}

base::Result<Directory> findDirectory(const Scan& scan)
{
    const auto end = findDirectoryEnd(scan);
    if (!end) return base::forward(end);
    const Reader& in = scan.file;
    Directory d{.offset = in.u32(*end + 16), .size = in.u32(*end + 12), .records = in.u16(*end + 10)};
    std::uint64_t limit = *end;
    if (*end >= 20 && in.u32(*end - 20) == kLocator64) {
        const std::uint64_t at = in.u64(*end - 12);
        if (!in.has(at, 56) || in.u32(at) != kDirectoryEnd64) return scan.bad("bad 64-bit zip directory", *end - 20);
        d = {.offset = in.u64(at + 48), .size = in.u64(at + 40), .records = in.u64(at + 32)};
        limit = at;
    }
    if (d.size > limit || d.offset > limit - d.size) return scan.bad("the zip directory lies outside the file", *end);
    if (d.records > scan.limits.records) return scan.bad("too many entries: " + std::to_string(d.records), *end);
    if (d.records > d.size / 46) return scan.bad("the zip directory is too short for its entries", *end);
    return d;
}

// Replaces the fields that the 32-bit header marks as "see the 64-bit extra field", in their fixed order.
bool readZip64(const Reader& in, std::uint64_t at, std::uint64_t length, std::initializer_list<std::uint64_t*> fields)
{
    const bool wanted = std::any_of(fields.begin(), fields.end(), [](auto* f) { return *f == kIn64; });
    if (!wanted) return true;
    for (const std::uint64_t end = at + length; at + 4 <= end;) {
        const std::uint16_t tag = in.u16(at), bytes = in.u16(at + 2);
        at += 4;
        if (at + bytes > end) return false;
        if (tag != kZip64Extra) {
            at += bytes;
            continue;
        }
        std::uint64_t left = bytes;
        for (std::uint64_t* field : fields) {
            if (*field != kIn64) continue;
            if (left < 8) return false;
            *field = in.u64(at);
            at += 8;
            left -= 8;
        }
        return true;
    }
    return false;
}

base::Status checkName(const Scan& scan, const std::string& name, std::uint64_t at)
{
    const auto bad = [&](const char* what) {
        return scan.bad(std::string(what) + " entry name '" + bytes::printable(name) + "'", at);
    };
    if (name.empty()) return bad("empty");
    if (name.find('\0') != std::string::npos) return bad("NUL in");
    if (name.front() == '/' || name.find('\\') != std::string::npos || name.find(':') != std::string::npos)
        return bad("absolute or foreign");
    const std::string padded = "/" + name + "/";
    if (padded.find("/../") != std::string::npos || padded.find("/./") != std::string::npos) return bad("climbing");
    if (name.find("//") != std::string::npos) return bad("doubled slash in");
    return {};
}

base::Status checkLocalHeader(const Scan& scan, Record& record, std::uint16_t flags)
{
    const Reader& in = scan.file;
    const std::uint64_t at = record.offset;
    if (!in.has(at, 30) || in.u32(at) != kLocalHeader) return scan.bad("no local header for " + record.name, at);
    const std::uint64_t nameLength = in.u16(at + 26), extraLength = in.u16(at + 28);
    if (!in.has(at + 30, nameLength + extraLength)) return scan.bad("local header runs past the end", at);
    const bool sameName = in.text(at + 30, nameLength) == record.name;
    const bool sameMethod = in.u16(at + 8) == (record.deflated ? 8 : 0) && in.u16(at + 6) == flags;
    if (!sameName || !sameMethod) return scan.bad("local header disagrees with the directory for " + record.name, at);
    std::uint64_t size = in.u32(at + 22), compressed = in.u32(at + 18);
    const std::uint32_t crc = in.u32(at + 14);
    if (!readZip64(in, at + 30 + nameLength, extraLength, {&size, &compressed}) && !(flags & kSizesFollowData))
        return scan.bad("bad 64-bit sizes in the local header of " + record.name, at);
    const bool same = size == record.size && compressed == record.compressed && crc == record.crc;
    if (!same && !(flags & kSizesFollowData))
        return scan.bad("local header disagrees with the directory for " + record.name, at);
    record.data = at + 30 + nameLength + extraLength;
    return {};
}

base::Status checkSizes(const Scan& scan, const Record& record, std::uint64_t directory, std::uint64_t at)
{
    if (record.offset >= directory || record.data > directory || record.compressed > directory - record.data)
        return scan.bad("entry " + record.name + " does not end before the zip directory", at);
    if (!record.deflated && record.compressed != record.size)
        return scan.bad("stored entry " + record.name + " has two sizes", at);
    if (record.deflated && record.size > scan.limits.ratioFreeBytes &&
        record.size / scan.limits.ratio > record.compressed)
        return scan.bad("entry " + record.name + " unpacks to more than " + std::to_string(scan.limits.ratio) +
                            " times its size (a zip bomb?)",
                        at);
    return {};
}

base::Result<Record> readEntry(const Scan& scan, const Directory& directory, std::uint64_t& at)
{
    const Reader& in = scan.file;
    const std::uint64_t end = directory.offset + directory.size;
    if (at + 46 > end || in.u32(at) != kDirectoryEntry) return scan.bad("bad zip directory entry", at);
    const std::uint64_t nameLength = in.u16(at + 28), extraLength = in.u16(at + 30), comment = in.u16(at + 32);
    const std::uint64_t next = at + 46 + nameLength + extraLength + comment;
    if (next > end) return scan.bad("zip directory entry runs past the directory", at);
    const std::uint16_t flags = in.u16(at + 8), method = in.u16(at + 10);
    Record record{.name = std::string(in.text(at + 46, nameLength)),
                  .offset = in.u32(at + 42),
                  .data = 0,
                  .compressed = in.u32(at + 20),
                  .size = in.u32(at + 24),
                  .crc = in.u32(at + 16),
                  .deflated = method == 8};
    if (auto ok = checkName(scan, record.name, at); !ok) return base::forward(ok);
    if (flags & kEncrypted) return scan.bad("entry " + record.name + " is encrypted", at);
    if (method != 0 && method != 8) return scan.bad("entry " + record.name + " has an unknown compression", at);
    if (!readZip64(in, at + 46 + nameLength, extraLength, {&record.size, &record.compressed, &record.offset}))
        return scan.bad("bad 64-bit sizes of entry " + record.name, at);
    if (auto ok = checkLocalHeader(scan, record, flags); !ok) return base::forward(ok);
    if (auto ok = checkSizes(scan, record, directory.offset, at); !ok) return base::forward(ok);
    at = next;
    return record;
}

base::Status checkOverlaps(const Scan& scan, const std::vector<Record>& records)
{
    std::vector<const Record*> order;
    for (const Record& r : records) order.push_back(&r);
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (order[i]->offset < order[i - 1]->data + order[i - 1]->compressed)
            return scan.bad("entries " + order[i - 1]->name + " and " + order[i]->name + " overlap", order[i]->offset);
    return {};
}

base::Status checkTogether(const Scan& scan, Archive& archive, std::uint64_t directory)
{
    std::set<std::string_view> names;
    std::uint64_t total = 0;
    for (const Record& r : archive.records) {
        if (!names.insert(r.name).second) return scan.bad("duplicate entry " + r.name, r.offset);
        if (r.size > scan.limits.bytes - total) return scan.bad("unpacked size is over the limit", r.offset);
        total += r.size;
    }
    if (archive.records.empty()) return scan.bad("the zip archive is empty", directory);
    const std::string& first = archive.records.front().name;
    archive.root = first.substr(0, first.find('/'));
    return checkOverlaps(scan, archive.records);
}

bool holds(const Archive& archive, const std::string& folder, const char* ending)
{
    const std::string prefix = archive.root + "/" + folder;
    return std::ranges::any_of(archive.records,
                               [&](const Record& r) { return r.name.starts_with(prefix) && r.name.ends_with(ending); });
}

// Packages of torch.export without a program.
base::Status refusePackage(const Scan& scan, const Archive& archive)
{
    if (holds(archive, "data/aotinductor/", ""))
        return fail(ErrorCode::Unsupported, scan.name + " is a package of AOTInductor: machine code without a graph",
                    "save the program before it is compiled, with torch.export.save(program, path)", scan.name);
    return fail(ErrorCode::Input,
                scan.name + " is a torch.export package without a program: models/NAME.json is missing",
                "torch.export.save leaves such a file behind when it fails: read its exception", scan.name);
}

// Tells programs from TorchScript, and names the format of a well-formed zip archive that is neither.
base::Status checkKind(const Scan& scan, Archive& archive)
{
    const auto input = [&](const std::string& what, const std::string& hint) {
        return fail(ErrorCode::Input, scan.name + " " + what, hint, scan.name);
    };
    const bool program = holds(archive, "models/", ".json");
    if (!program && archive.find("archive_format")) return refusePackage(scan, archive);
    if (program) archive.kind = ArchiveKind::Exported;
    if (!program && &scan.words == &kExported && !archive.find("constants.pkl"))
        return input("is a zip archive, but not an exported program: models/NAME.json is missing", scan.words.remedy);
    const std::string prefix = archive.root + "/";
    for (const Record& r : archive.records)
        if (!r.name.starts_with(prefix))
            return input(
                "is a zip archive, but neither TorchScript nor an exported program: its entries have no common folder",
                (program ? kExported : kTorchScript).remedy);
    if (program) return {};
    if (archive.find("model.json"))
        return fail(ErrorCode::Unsupported, scan.name + " has an old format of TorchScript (model.json)",
                    "load it in Python and save it again with torch.jit.save", scan.name);
    if (archive.find("data.pkl") && !archive.find("constants.pkl"))
        return input("was saved by torch.save (a state dict or a pickled module), not TorchScript",
                     "build the model in Python, load these weights into it, and save it with "
                     "hopscope.save(model, data, \"model.pt\") or torch.jit.trace(model, inputs).save(..)");
    // LibTorch writes the version to either place, depending on the operators that it belongs to.
    const bool version = archive.find("version") || archive.find(".data/version");
    for (const char* required : {"constants.pkl", "data.pkl", "version"})
        if (!archive.find(required) && !(version && std::string_view(required) == "version"))
            return input(std::string("is a zip archive, but not TorchScript: '") + required + "' is missing",
                         kTorchScript.remedy);
    return {};
}

// Names after "ops." in TorchScript code: "ops.torch_scatter.scatter_max(".
void collectOps(std::string_view code, std::set<std::string>& found)
{
    const auto word = [&](std::size_t at) {
        std::size_t end = at;
        while (end < code.size() && (std::isalnum(static_cast<unsigned char>(code[end])) || code[end] == '_')) ++end;
        return code.substr(at, end - at);
    };
    for (std::size_t at = code.find("ops."); at != std::string_view::npos; at = code.find("ops.", at + 4)) {
        if (at > 0 &&
            (std::isalnum(static_cast<unsigned char>(code[at - 1])) || code[at - 1] == '_' || code[at - 1] == '.'))
            continue;
        const std::string_view space = word(at + 4);
        if (space.empty() || space == "aten" || space == "prim" || !code.substr(at + 4 + space.size()).starts_with('.'))
            continue;
        const std::string_view name = word(at + 5 + space.size());
        if (!name.empty()) found.insert(std::string(space) + "::" + std::string(name));
    }
}

}  // namespace

const Record* Archive::find(std::string_view nameInRoot) const
{
    const std::string full = root + "/" + std::string(nameInRoot);
    const auto it = std::find_if(records.begin(), records.end(), [&](const Record& r) { return r.name == full; });
    return it == records.end() ? nullptr : &*it;
}

base::Result<Archive> scanArchive(std::span<const std::byte> file, const std::string& name, const ArchiveLimits& limits)
{
    const Reader reader(file);
    const Scan scan{.file = reader, .name = name, .limits = limits, .words = wordsFor(reader, name)};
    if (!scan.file.matches(0, "PK\x03\x04")) return notAZip(scan);
    const auto directory = findDirectory(scan);
    if (!directory) return base::forward(directory);
    Archive archive;
    std::uint64_t at = directory->offset;
    for (std::uint64_t i = 0; i < directory->records; ++i) {
        auto record = readEntry(scan, *directory, at);
        if (!record) return base::forward(record);
        archive.records.push_back(std::move(*record));
    }
    if (at != directory->offset + directory->size)
        return scan.bad("the zip directory has bytes after its last entry", at);
    if (auto ok = checkTogether(scan, archive, directory->offset); !ok) return base::forward(ok);
    if (auto ok = checkKind(scan, archive); !ok) return base::forward(ok);
    return archive;
}

base::Result<std::vector<std::string>> listCustomOps(std::span<const std::byte> file, const Archive& archive)
{
    std::set<std::string> found;
    for (const Record& record : archive.records) {
        if (!record.name.starts_with(archive.root + "/code/") || !record.name.ends_with(".py")) continue;
        const auto code = readRecord(file, record);
        if (!code) return base::forward(code);
        collectOps(*code, found);
    }
    return std::vector<std::string>(found.begin(), found.end());
}

}  // namespace hopscope::loader
