// Ways in and out of a GPU: tables that are copied there once, stores of later stages, and results.

#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "device_runs.h"
#include "executor/device/device_context.h"
#include "executor/device/table_upload.h"
#include "executor/failure.h"
#include "graph/file.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

namespace {

using executor::DeviceContext;
using executor::TableUpload;

constexpr double pciExpress = 50e9, copyLatency = 10e-6;

constexpr int smallCopies = 6;  // of a run: weights, and the graph's offsets

void useLink()
{
    fake_device::Latency latency;
    latency.copyLatency = copyLatency;
    latency.h2dBytesPerSecond = latency.d2hBytesPerSecond = pciExpress;
    fake_device::setLatency(latency);
    fake_device::resetClock();
    fake_device::resetCounts();
}

// With inputs and the graph on the GPU.
Subject withInputsResident(const std::string& name)
{
    Subject s = subject(name);
    s.plan.device = "cuda:0";
    auto kept = models::withResidents(s.prepared, s.plan, s.inputs, 1000);
    REQUIRE(kept.has_value());
    s.plan = std::move(*kept);
    for (const ir::NamedValue& in : s.prepared.analysis.program.inputs)
        if (in.name == "x" && std::ranges::find(s.plan.resident, in.value) == s.plan.resident.end())
            s.plan.resident.push_back(in.value);
    s.plan.residentStructure = true;
    return s;
}

std::vector<at::Tensor> tablesOfAllSizes(std::mt19937_64& random)
{
    std::vector<at::Tensor> tables;
    for (const std::int64_t count : {0, 1, 5, 4095, 4096, 4097, 300000, 2500000}) {
        at::Tensor table = at::empty({count, 3}, at::kShort);
        auto* const cells = table.mutable_data_ptr<std::int16_t>();
        for (std::int64_t i = 0; i < table.numel(); ++i) cells[i] = static_cast<std::int16_t>(random());
        tables.push_back(table);
    }
    return tables;
}

std::int64_t bytesOf(const std::vector<at::Tensor>& tables)
{
    std::int64_t bytes = 0;
    for (const at::Tensor& t : tables) bytes += static_cast<std::int64_t>(t.nbytes());
    return bytes;
}

}  // namespace

// ---- tables that stay on the device

TEST_CASE_FIXTURE(Device, "Tables of any size arrive on the device as they are, through memory that is given back")
{
    const c10::InferenceMode inference;
    std::mt19937_64 random(6);
    const std::vector<at::Tensor> tables = tablesOfAllSizes(random);
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        fake_device::failEveryPinned(fails);
        DeviceContext device("cuda:0");
        TableUpload upload(device, {}, bytesOf(tables));
        CHECK(upload.pinned() != fails);
        std::vector<at::Tensor> there;
        for (const at::Tensor& table : tables) {
            at::Tensor gone = table.clone();
            there.push_back(upload.copy(gone));
            gone.fill_(0);
        }
        device.order(executor::Lane::Upload, executor::Lane::Compute);
        for (std::size_t t = 0; t < tables.size(); ++t) CHECK(there[t].cpu().equal(tables[t]));
        CHECK((fake_device::bytesPinned() == 0) == fails);
        upload.finish();
        CHECK(fake_device::bytesPinned() == 0);
    }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "The memory for copying tables is small beside them, and no larger than they are")
{
    const c10::InferenceMode inference;
    for (const std::int64_t megabytes : {1, 2, 7, 100, 600}) {
        CAPTURE(megabytes);
        const std::int64_t bytes = megabytes << 20;
        fake_device::resetCounts();
        DeviceContext device("cuda:0");
        const TableUpload upload(device, {}, bytes);
        CHECK(fake_device::counts().pinnedWaste == 0);
        CHECK(fake_device::bytesPinned() <= std::max(2 * bytes, std::int64_t{8} << 20));
        CHECK(fake_device::bytesPinned() <= std::max(bytes / 16, std::int64_t{8} << 20));
    }
}

TEST_CASE_FIXTURE(Device, "Tables are copied to the device at the rate of the link")
{
    const c10::InferenceMode inference;
    const at::Tensor table = at::ones({80 << 20}, at::kFloat);
    const auto bytes = static_cast<std::int64_t>(table.nbytes());
    DeviceContext device("cuda:0");
    useLink();
    TableUpload upload(device, {}, bytes);
    const at::Tensor there = upload.copy(table);
    upload.finish();
    CHECK(fake_device::virtualSeconds() <= 1.2 * static_cast<double>(bytes) / pciExpress);
    CHECK(fake_device::counts().bytesUp == bytes);
    CHECK(fake_device::counts().hostWaits <= bytes / (4 << 20) + 2);
}

TEST_CASE_FIXTURE(Device, "A stop ends the copying of a table between two pieces")
{
    const c10::InferenceMode inference;
    const at::Tensor table = at::zeros({4 << 20}, at::kFloat);
    DeviceContext device("cuda:0");
    std::stop_source source;
    TableUpload upload(device, source.get_token(), static_cast<std::int64_t>(table.nbytes()));
    source.request_stop();
    CHECK_THROWS_AS((void)upload.copy(table), executor::Failure);
    CHECK(fake_device::counts().uploads == 0);
}

TEST_CASE_FIXTURE(Device, "The inputs of a run reach the device at the rate of the link, before the first batch")
{
    const Subject s = withInputsResident("wide");
    useLink();
    double copied = -1;
    std::int64_t bytes = 0, waits = 0, pinned = 0;
    accelerator().beforeSegment = [&] {
        if (copied >= 0) return;
        copied = fake_device::virtualSeconds();
        const fake_device::Counts counts = fake_device::counts();
        bytes = counts.bytesUp;
        waits = counts.hostWaits;
        pinned = fake_device::bytesPinned();
    };
    CHECK(attempt(s, onGpu(800)).unlessRight() == "");
    CHECK(bytes > 20000 * 128 * 4 + 60000 * 4);
    CHECK(copied <= 1.2 * static_cast<double>(bytes) / pciExpress + smallCopies * copyLatency);
    CHECK(waits < 20);
    CHECK(pinned <= std::int64_t{10} << 20);  // the slots of the batches
}

// ---- stores of later stages

namespace {

// Lets stores lie in memory, as in a run of the engine.
struct Allowed {
    explicit Allowed(std::int64_t bytes)
    {
        graph::assumeFastPages();
        graph::allowAnonymousScratch(bytes);
    }
    ~Allowed() { graph::allowAnonymousScratch(0); }
    Allowed(const Allowed&) = delete;
    Allowed& operator=(const Allowed&) = delete;
};

// The values that have files while a run computes, after its first event.
std::set<std::string> filesDuring(const Subject& s, executor::Options options)
{
    const test::TemporaryFolder folder;
    options.folder = folder.path;
    std::set<std::string> names;
    EveryEvent looking([&] {
        for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
            const std::string name = entry.path().filename();
            names.insert(name.substr(0, name.find('.')));
        }
    });
    const auto report = executor::run(s.prepared.walk, s.prepared.analysis, s.plan, s.inputs, options, looking, {});
    CHECK(report.has_value());
    return names;
}

executor::Options onCpu(std::int64_t batch)
{
    executor::Options options = onGpu(batch);
    options.device = "cpu";
    return options;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Stores between stages lie in memory where those of a CPU run do, and in files elsewhere")
{
    const Subject& s = subject("wide");
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{4} << 20, std::int64_t{1} << 30}) {
        CAPTURE(bytes);
        const Allowed allowed(bytes);
        const std::set<std::string> files = filesDuring(s, onGpu(800));
        CHECK(files == filesDuring(s, onCpu(800)));
        CHECK(files.size() == (bytes > (std::int64_t{10} << 20) ? 1 : 2));
        CHECK(attempt(s, onGpu(800)).unlessRight() == "");
        CHECK(graph::anonymousScratch() == 0);
    }
}

// ---- results

namespace {

constexpr std::int64_t page = 4096;

// Whether all pages of the only file that is being written in a folder are in memory.
bool isPresent(const std::string& folder)
{
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto file = graph::mapFile(entry.path());
        if (!file || file->size == 0) return false;
        std::vector<unsigned char> there(static_cast<std::size_t>((file->size + page - 1) / page));
        if (::mincore(const_cast<std::byte*>(file->data), static_cast<std::size_t>(file->size), there.data()) != 0)
            return false;
        return std::ranges::all_of(there, [](unsigned char flags) { return (flags & 1) != 0; });
    }
    return false;
}

// Calls `event` after the first stage of a run.
class AfterFirstStage final : public executor::Observer {
public:
    explicit AfterFirstStage(std::function<void()> event) : m_event(std::move(event)) {}
    void stageFinished(plan::StageId stage, double) override
    {
        if (stage.number == 1) m_event();
    }

private:
    std::function<void()> m_event;
};

// Files of this process may have so many bytes while this is alive, as on a full disk.
class Disk {
public:
    explicit Disk(rlim_t bytes)
    {
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit less{bytes, m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &less);
    }
    ~Disk()
    {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

private:
    rlimit m_before{};
    void (*m_handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

}  // namespace

TEST_CASE_FIXTURE(Device, "The pages of a result's file are there before the stage that writes it")
{
    const Allowed allowed(std::int64_t{1} << 30);
    const Subject& s = subject("wide");
    const test::TemporaryFolder folder;
    executor::Options options = onGpu(800);
    options.folder = folder.path;
    bool present = false;
    AfterFirstStage waiting([&] {
        for (int tries = 0; tries < 1000 && !present; ++tries) {
            present = isPresent(folder.path);
            if (!present) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    CHECK(executor::run(s.prepared.walk, s.prepared.analysis, s.plan, s.inputs, options, waiting, {}).has_value());
    CHECK(present);
}

TEST_CASE_FIXTURE(Device, "Without room for a result a run ends as on a CPU, and leaves no file")
{
    const Allowed allowed(std::int64_t{1} << 30);
    const Disk disk(1 << 20);
    for (const executor::Options& options : {onCpu(800), onGpu(800)}) {
        CAPTURE(options.device);
        const Attempt result = attempt(subject("wide"), options);
        CHECK(result.unless(base::ErrorCode::Resources) == "");
        REQUIRE(result.error);
        CHECK(result.error->message.find("out.npy: File too large") != std::string::npos);
    }
}

}  // namespace hopscope::device_tests
