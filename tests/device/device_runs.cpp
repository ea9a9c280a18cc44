#include "device_runs.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "base/failures.h"
#include "graph/safetensors.h"
#include "models/compare.h"
#include "placement/strategy.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

bool Accelerator::limitMemory(c10::DeviceIndex device, std::int64_t bytes) const
{
    if (!takesLimits) return bytes == 0;
    return m_fake.limitMemory(device, bytes);
}

int Accelerator::segment(const kernels::SegmentArguments& arguments, void* stream) const
{
    if (beforeSegment) beforeSegment();
    return m_fake.segment(arguments, stream);
}

int Accelerator::strips(const kernels::StripProgram& program, const kernels::StripArguments& arguments,
                        void* stream) const
{
    if (beforeSegment) beforeSegment();
    return m_fake.strips(program, arguments, stream);
}

Accelerator& accelerator()
{
    static Accelerator& wrapped = []() -> Accelerator& {
        fake_device::install();
        static Accelerator made(executor::accelerator());
        executor::replaceAccelerator(made);
        return made;
    }();
    return wrapped;
}

namespace {

void renew()
{
    fake_device::reset();
    accelerator().takesLimits = true;
    accelerator().beforeSegment = nullptr;
}

}  // namespace

Device::Device()
{
    accelerator();
    renew();
}

Device::~Device() { renew(); }

Paced::Paced()
{
    accelerator().beforeSegment = [] { std::this_thread::sleep_for(std::chrono::milliseconds(12)); };
}

// ---- models

base::Result<Subject> makeSubject(const models::Case& c, std::size_t graph)
{
    auto model = loader::load(c.model);
    if (!model) return base::forward(model);
    auto inputs = graph::mapSafetensors(c.graphs.at(graph).data);
    if (!inputs) return base::forward(inputs);
    auto expected = graph::mapSafetensors(c.graphs.at(graph).expected);
    if (!expected) return base::forward(expected);
    auto prepared = models::prepare(*model, *inputs, c.roles);
    if (!prepared) return base::forward(prepared);
    auto plan = placement::makePlan(prepared->analysis, base::Strategy::Depth);
    if (!plan) return base::forward(plan);
    return Subject{c.name,
                   std::make_shared<loader::Model>(std::move(*model)),
                   std::move(*prepared),
                   std::move(*plan),
                   std::move(*inputs),
                   std::move(*expected),
                   c.tolerance};
}

namespace {

std::map<std::string, Subject> makeSubjects(const std::string& folder, const std::string& script,
                                            const std::string& size = {})
{
    const std::string command = std::string(TEST_PYTHON) + " " + TEST_MODELS_FOLDER + "/" + script + " " + folder;
    REQUIRE(std::system((command + " " + size).c_str()) == 0);
    const auto cases = models::readCases(folder + "/models.list");
    REQUIRE(cases.has_value());
    std::map<std::string, Subject> subjects;
    for (const models::Case& c : *cases) {
        auto made = makeSubject(c, 0);
        REQUIRE_MESSAGE(made.has_value(), c.name << ": " << base::describe(made.error()));
        subjects.emplace(c.name, std::move(*made));
    }
    return subjects;
}

}  // namespace

const Subject& subject(const std::string& name)
{
    static const test::TemporaryFolder folder;
    static const auto subjects = makeSubjects(folder.path, "make_models.py");
    return subjects.at(name);
}

const Subject& convolution(const std::string& name)
{
    static const test::TemporaryFolder folder;
    static const auto subjects = makeSubjects(folder.path, "make_convolutions.py");
    return subjects.at(name);
}

const Subject& largeConvolution(const std::string& name)
{
    static const test::TemporaryFolder folder;
    static const auto subjects = makeSubjects(folder.path, "make_convolutions.py", "large");
    return subjects.at(name);
}

const Subject& skew(const std::string& name)
{
    static const test::TemporaryFolder folder;
    static const auto subjects = makeSubjects(folder.path, "make_skews.py");
    return subjects.at(name);
}

const Subject& stack(const std::string& name)
{
    static const test::TemporaryFolder folder;
    static const auto subjects = makeSubjects(folder.path, "make_stacks.py");
    return subjects.at(name);
}

const Subject& sharing(const std::string& name)
{
    static const test::TemporaryFolder folder;
    static const auto subjects = makeSubjects(folder.path, "make_skewed.py");
    return subjects.at(name);
}

// ---- attempts

namespace {

std::string differs(const Subject& s, const std::vector<executor::StoredTensor>& outputs)
{
    if (outputs.size() != s.expected.size()) return std::to_string(outputs.size()) + " outputs";
    for (const executor::StoredTensor& o : outputs) {
        const auto wanted = s.expected.find(o.name);
        if (wanted == s.expected.end()) return "an output named " + o.name;
        const auto difference = models::compare(o.tensor, wanted->second, s.tolerance);
        if (difference.complaint) return o.name + " " + *difference.complaint;
    }
    return {};
}

std::string stray(const std::string& folder, const std::vector<executor::StoredTensor>& outputs)
{
    std::set<std::string> known;
    for (const executor::StoredTensor& o : outputs) known.insert(std::filesystem::path(o.file).filename());
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (!known.contains(entry.path().filename())) return "a file is left: " + entry.path().filename().string();
    return {};
}

constexpr std::int64_t segmentBytes = 2 << 20;  // around a device's workspaces

struct Held {
    std::int64_t allocated = 0, reserved = 0, pinned = 0;
    std::size_t findings = 0;

    static Held now()
    {
        Held h;
        h.findings = fake_device::findings().size();
        h.pinned = fake_device::bytesPinned();
        if (!c10::getDeviceAllocator(fake_device::type())->initialized()) return h;
        for (int device = 0; device < fake_device::deviceCount; ++device) {
            const std::int64_t workspaces = fake_device::workspaceBytes(device);
            h.allocated += fake_device::stats(device).allocated_bytes[0].current - workspaces;
            h.reserved += fake_device::reserved(device) - (workspaces > 0 ? segmentBytes : 0);
        }
        return h;
    }
};

std::string leaks(const Held& before, bool dead)
{
    const Held after = Held::now();
    if (after.findings > before.findings) return "found: " + fake_device::findings().at(before.findings);
    if (after.allocated != before.allocated)
        return std::to_string(after.allocated - before.allocated) + " bytes of a device leak";
    if (!dead && after.reserved != 0) return std::to_string(after.reserved) + " bytes of a device stay reserved";
    if (!dead && after.pinned != 0) return std::to_string(after.pinned) + " bytes of host memory stay pinned";
    return {};
}

bool dead()
{
    try {
        c10::getDeviceAllocator(fake_device::type())->getMemoryInfo(0);
        return false;
    } catch (const c10::Error&) {
        return true;
    }
}

void runInto(Attempt& attempt, const Subject& s, const executor::Options& options, executor::Observer& observer,
             const std::stop_token& stop)
{
    auto report = executor::run(s.prepared.walk, s.prepared.analysis, s.plan, s.inputs, options, observer, stop);
    if (!report) attempt.error = report.error();
    else attempt.report = std::move(*report);
    if (report) attempt.complaint = differs(s, attempt.report.outputs);
    const std::string left = stray(options.folder, attempt.report.outputs);
    if (attempt.complaint.empty()) attempt.complaint = left;
}

}  // namespace

Attempt attempt(const Subject& s, executor::Options options, executor::Observer& observer, std::stop_token stop)
{
    const test::TemporaryFolder folder;
    options.folder = folder.path;
    const Held before = Held::now();
    Attempt result;
    const auto began = std::chrono::steady_clock::now();
    runInto(result, s, options, observer, stop);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    result.report.outputs.clear();
    result.report.checkpoints.clear();
    if (result.complaint.empty()) result.complaint = leaks(before, dead());
    return result;
}

Attempt attempt(const Subject& s, const executor::Options& options)
{
    executor::Observer silent;
    return attempt(s, options, silent);
}

std::string Attempt::unless(base::ErrorCode allowed) const
{
    if (!complaint.empty()) return complaint;
    if (!error) return {};
    const std::string text = base::describe(*error);
    if (error->code != allowed) return std::string("ends with ") + base::nameOf(error->code) + ": " + text;
    if (error->message.empty() || text.find('\n') != std::string::npos) return "no sentence: " + text;
    return {};
}

std::string Attempt::unlessRight() const
{
    if (error) return "ends with " + base::describe(*error);
    return complaint;
}

bool Attempt::notes(const std::string& words) const
{
    return std::ranges::any_of(report.notes, [&](const std::string& n) { return n.find(words) != std::string::npos; });
}

executor::Options onGpu(std::int64_t batch, const std::string& device)
{
    executor::Options options;
    options.device = device;
    if (batch > 0) options.batch = batch;
    options.threads = 1;
    return options;
}

void Tally::add(const Attempt& attempt)
{
    ++tried;
    ++(attempt.error ? refused : right);
}

std::string Tally::text() const
{
    return std::to_string(tried) + " runs: " + std::to_string(right) + " right, " + std::to_string(refused) +
           " ended with a sentence";
}

std::int64_t freeOfDriver(int device)
{
    const auto memory =
        c10::getDeviceAllocator(fake_device::type())->getMemoryInfo(static_cast<c10::DeviceIndex>(device));
    return static_cast<std::int64_t>(memory.first);
}

}  // namespace hopscope::device_tests
