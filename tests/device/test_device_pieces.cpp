// Batches of tables that do not fit into a GPU's memory: they are as large as it allows, and pass through pinned memory in
// pieces.

#include <cstring>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "device_runs.h"
#include "executor/failure.h"
#include "executor/loop/pieces.h"

namespace hopscope::device_tests {

namespace {

using base::ErrorCode;
using executor::DeviceContext;
using executor::HostRows;
using executor::Span;
using executor::StagingChunk;

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t chunkBytes = 64 << 10, pieceBytes = chunkBytes / 4;

at::Tensor random(std::mt19937_64& source, std::int64_t rows, std::int64_t width)
{
    at::Tensor table = at::empty({rows, width}, at::kInt);
    auto* const cells = table.mutable_data_ptr<std::int32_t>();
    for (std::int64_t i = 0; i < table.numel(); ++i) cells[i] = static_cast<std::int32_t>(source());
    return table;
}

// Of a few rows, of many pieces, of rows that exceed a piece.
std::vector<at::Tensor> randomTables(std::mt19937_64& source)
{
    std::vector<at::Tensor> tables;
    for (int t = 0; t < 6; ++t) {
        const auto width = static_cast<std::int64_t>(1 + source() % 40) * (t == 3 ? 200 : 1);
        tables.push_back(random(source, static_cast<std::int64_t>(1 + source() % 900), width));
    }
    return tables;
}

HostRows rowsOf(const at::Tensor& table)
{
    return {.shape = table.sizes().vec(),
            .dtype = table.scalar_type(),
            .count = table.size(0),
            .write = [table](std::int64_t first, std::int64_t end, std::byte* to) {
                const at::Tensor part = table.narrow(0, first, end - first);
                std::memcpy(to, part.const_data_ptr(), part.nbytes());
            }};
}

void write(const HostRows& rows, std::int64_t first, std::int64_t end, std::byte* to) { rows.write(first, end, to); }

}  // namespace

TEST_CASE_FIXTURE(Device, "Data reach the device in pieces as they are")
{
    const c10::InferenceMode inference;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 source(seed);
        fake_device::failEveryPinned(seed % 4 == 3);
        const std::vector<at::Tensor> tables = randomTables(source);
        DeviceContext device("cuda:0");
        StagingChunk chunk(chunkBytes);
        executor::UploadPieces pieces(chunk);
        std::vector<HostRows> rows;
        for (const at::Tensor& table : tables) rows.push_back(rowsOf(table));
        pieces.begin(std::move(rows));
        std::jthread filling([&] {
            const c10::InferenceMode there;
            pieces.fill(write);
        });
        std::vector<Span> spans;
        const std::vector<at::Tensor> there = pieces.copy(device, {}, spans, [] {});
        device.order(executor::Lane::Upload, executor::Lane::Compute);
        for (std::size_t t = 0; t < tables.size(); ++t) CHECK(there[t].cpu().equal(tables[t]));
        CHECK(spans.size() >= tables.size());
        CHECK(fake_device::bytesPinned() <= 2 * chunkBytes);
    }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "Results leave the device in pieces as they are, however slowly they are stored")
{
    const c10::InferenceMode inference;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 source(seed);
        fake_device::failEveryPinned(seed % 4 == 3);
        const std::vector<at::Tensor> tables = randomTables(source);
        std::vector<at::Tensor> stored;
        for (const at::Tensor& table : tables) stored.push_back(at::zeros_like(table));
        DeviceContext device("cuda:0");
        StagingChunk chunk(chunkBytes);
        executor::DownloadPieces pieces(chunk);
        std::vector<at::Tensor> results;
        for (const at::Tensor& table : tables) results.push_back(device.upload(table));
        device.order(executor::Lane::Upload, executor::Lane::Download);
        pieces.begin(std::move(results));
        bool whole = false;
        std::jthread storing([&] {
            const c10::InferenceMode there;
            whole = pieces.drain([&](std::size_t result, std::int64_t first, const at::Tensor& rows) {
                if (source() % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
                stored[result].narrow(0, first, rows.size(0)).copy_(rows);
            });
        });
        std::vector<Span> spans;
        while (!pieces.complete()) pieces.step(device, {}, spans, seed % 2 == 0);
        storing.join();
        CHECK(whole);
        for (std::size_t t = 0; t < tables.size(); ++t) CHECK(stored[t].equal(tables[t]));
    }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "Neither side of a copy in pieces waits for one that has left")
{
    const c10::InferenceMode inference;
    std::mt19937_64 source(3);
    DeviceContext device("cuda:0");
    StagingChunk chunk(chunkBytes);
    executor::UploadPieces up(chunk);
    up.begin({rowsOf(random(source, 1000, 100))});
    std::jthread filling([&] { up.fill(write); });  // four pieces of 25
    up.leave();
    up.awaitLeft();
    std::stop_source stop;
    stop.request_stop();
    executor::DownloadPieces down(chunk);
    std::vector<at::Tensor> results;
    results.push_back(device.upload(random(source, 1000, 100)));
    device.order(executor::Lane::Upload, executor::Lane::Download);
    down.begin(std::move(results));
    std::vector<Span> spans;
    CHECK_THROWS_AS(while (true) down.step(device, stop.get_token(), spans, true), executor::Failure);
    down.leave();
    CHECK_FALSE(down.drain([](std::size_t, std::int64_t, const at::Tensor&) {}));
    device.synchronize();
}

// ---- runs

namespace {

constexpr double pciExpress = 50e9, copyLatency = 5e-6, memoryRate = 2e12, kernelSeconds = 3e-6;

struct Crossed {
    std::int64_t pinned = 0;
    double seconds = 0;
    fake_device::BusySeconds busy;
    executor::RunReport report;
};

Crossed cross(const Subject& s, std::int64_t limit)
{
    fake_device::setLatency({.copyLatency = copyLatency,
                             .h2dBytesPerSecond = pciExpress,
                             .d2hBytesPerSecond = pciExpress,
                             .kernelSeconds = kernelSeconds,
                             .kernelBytesPerSecond = memoryRate});
    fake_device::resetClock();
    Crossed crossed;
    accelerator().beforeSegment = [&] { crossed.pinned = std::max(crossed.pinned, fake_device::bytesPinned()); };
    executor::Options options = onGpu(0);
    options.memory = limit;
    const Attempt result = attempt(s, options);
    CHECK(result.unlessRight() == "");
    crossed.seconds = fake_device::virtualSeconds();
    crossed.busy = fake_device::busySeconds();
    crossed.report = result.report;
    return crossed;
}

// The bytes of rows that batches read of a table: as many successive destinations each as share `room` bytes of rows.
std::int64_t readBytes(const Subject& s, std::int64_t rowBytes, std::int64_t room)
{
    const base::TensorView &x = s.inputs.at("x"), &edges = s.inputs.at("edge_index");
    const std::int64_t nodes = x.shape[0], count = edges.shape[1];
    const auto* const ends = reinterpret_cast<const std::int64_t*>(edges.data);
    std::vector<std::vector<std::int64_t>> sources(static_cast<std::size_t>(nodes));
    for (std::int64_t e = 0; e < count; ++e) sources[static_cast<std::size_t>(ends[count + e])].push_back(ends[e]);
    std::int64_t read = 0;
    std::set<std::int64_t> batch;
    for (std::int64_t node = 0; node < nodes; ++node) {
        const auto& wanted = sources[static_cast<std::size_t>(node)];
        std::set<std::int64_t> fresh(wanted.begin(), wanted.end());
        fresh.insert(node);
        std::erase_if(fresh, [&](std::int64_t row) { return batch.contains(row); });
        if ((std::ssize(batch) + std::ssize(fresh)) * rowBytes > room) {
            read += std::ssize(batch) * rowBytes;
            batch.clear();
            fresh.insert(wanted.begin(), wanted.end());
            fresh.insert(node);
        }
        batch.insert(fresh.begin(), fresh.end());
    }
    return read + std::ssize(batch) * rowBytes;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Batches are as large as the memory of the device allows, not as their pinned memory")
{
    const Subject& s = sharing("skewed");
    constexpr std::int64_t rowBytes = 1024;
    for (const std::int64_t limit : {60 * mib, 120 * mib}) {
        CAPTURE(limit);
        // Copies to the device are the bottleneck, unless a busy host prepares batches late.
        const auto isQuick = [](const Crossed& run) { return run.seconds <= 1.15 * run.busy.h2d; };
        Crossed c = cross(s, limit);
        for (int again = 0; again < 3 && !isQuick(c); ++again) c = cross(s, limit);
        const std::int64_t bound = readBytes(s, rowBytes, limit / 5);
        for (const executor::StageReport& stage : c.report.stages) {
            MESSAGE(stage.batches << " batches read " << stage.bytes.h2d / mib
                                  << " MiB; with a fifth of the memory each " << bound / mib << " MiB; "
                                  << c.seconds * 1e3 << " ms");
            CHECK(stage.bytes.h2d <= 1.2 * static_cast<double>(bound));
            CHECK(stage.backOffs == 0);
        }
        CHECK(isQuick(c));
        CHECK(c.pinned <= 10 * (8 * mib));  // five slots, each of a twelfth of the table for both ways
    }
}

TEST_CASE_FIXTURE(Device, "Batches keep a size that was chosen even if their data exceed every slot")
{
    const Subject& s = sharing("skewed");
    for (const std::int64_t batch : {65536, 50000}) {
        CAPTURE(batch);
        fake_device::resetCounts();
        const Attempt result = attempt(s, onGpu(batch));
        CHECK(result.unlessRight() == "");
        CHECK(fake_device::counts().pageableUploads < 10);  // weights
        for (const executor::StageReport& stage : result.report.stages) CHECK(stage.largestBatch == batch);
    }
}

TEST_CASE_FIXTURE(Device, "A run in pieces ends right or with a sentence, whatever fails")
{
    const Subject& s = sharing("skewed");
    executor::Options options = onGpu(0);
    options.memory = 80 * mib;
    std::mt19937_64 source(5);
    fake_device::resetCounts();
    CHECK(attempt(s, options).unlessRight() == "");
    const std::int64_t allocations = fake_device::counts().allocations;
    Tally tally;
    for (int round = 0; round < 6; ++round) {
        const auto n = static_cast<std::int64_t>(1 + source() % static_cast<std::uint64_t>(allocations));
        CAPTURE(n);
        fake_device::failAllocation(n);
        const Attempt result = attempt(s, options);
        fake_device::failAllocation(0);
        CHECK(result.unless(ErrorCode::Resources) == "");
        tally.add(result);
    }
    for (int round = 0; round < 4; ++round) {
        const std::uint64_t at = source() % 30;
        CAPTURE(at);
        std::stop_source stop;
        std::uint64_t event = 0;
        EveryEvent stopping([&] {
            if (event++ == at) stop.request_stop();
        });
        const Attempt result = attempt(s, options, stopping, stop.get_token());
        CHECK(result.unless(ErrorCode::Cancelled) == "");
    }
    fake_device::failEveryPinned(true);
    const Attempt pageable = attempt(s, options);
    CHECK(pageable.unlessRight() == "");
    CHECK(pageable.notes("pinned memory"));
    MESSAGE("with one failed allocation, " << tally.text());
    CHECK(tally.right > 0);
}

}  // namespace hopscope::device_tests
