// Kernels that fail, runs that are cancelled, and what one run leaves to the next.

#include <chrono>
#include <ctime>
#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "device_runs.h"
#include "executor/forecast/predict.h"
#include "support/temporary_folder.h"
#include "support/tier.h"

namespace hopscope::device_tests {

namespace {

using base::ErrorCode;

std::int64_t segmentsOf(const Subject& s, const executor::Options& options)
{
    fake_device::resetCounts();
    CHECK(attempt(s, options).unlessRight() == "");
    return fake_device::counts().segments;
}

// Seconds of the machine and, as it may be busy with other programs, of this one's threads.
struct Moment {
    std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
    std::clock_t processor = std::clock();
};

bool longAgo(const Moment& when)
{
    const Moment now;
    return std::chrono::duration<double>(now.wall - when.wall).count() > 30 ||
           static_cast<double>(now.processor - when.processor) / CLOCKS_PER_SEC > 10;
}

}  // namespace

// ---- kernels

TEST_CASE_FIXTURE(Device, "A kernel without an image gives way to operators, with one note")
{
    for (const std::string name : {"gcn", "gat", "normed"}) {
        const std::int64_t count = segmentsOf(subject(name), onGpu(7));
        CHECK(count > 3);
        for (std::int64_t n = 1; n <= count; n += test::oneIn(3)) {
            CAPTURE(name);
            CAPTURE(n);
            fake_device::failSegment(n, 209);
            const Attempt result = attempt(subject(name), onGpu(7));
            CHECK(result.unlessRight() == "");
            CHECK(std::ranges::count_if(result.report.notes, [](const std::string& note) {
                      return note.find("segment kernels cannot run") != std::string::npos;
                  }) == 1);
        }
    }
}

TEST_CASE_FIXTURE(Device, "A kernel that cannot be loaded for want of memory makes batches smaller")
{
    const std::int64_t count = segmentsOf(subject("normed"), onGpu(7));
    for (std::int64_t n = 1; n <= count; ++n) {
        CAPTURE(n);
        fake_device::failSegment(n, 2);
        const Attempt result = attempt(subject("normed"), onGpu(7));
        CHECK(result.unlessRight() == "");
        CHECK(result.notes("batch reduced"));
    }
}

TEST_CASE_FIXTURE(Device, "Operators that take row numbers of 64 bits only get them")
{
    for (const std::int64_t batch : {0, 7}) CHECK(attempt(subject("along"), onGpu(batch)).unlessRight() == "");
}

TEST_CASE_FIXTURE(Device, "A kernel that fails ends the run with a sentence, and the next run works")
{
    for (const int code : {1, 700, 719})
        for (const std::string name : {"gcn", "gat", "normed"}) {
            const std::int64_t count = segmentsOf(subject(name), onGpu(7));
            for (std::int64_t n = 1; n <= count; n += test::oneIn(3)) {
                CAPTURE(code);
                CAPTURE(name);
                CAPTURE(n);
                fake_device::failSegment(n, code);
                const Attempt result = attempt(subject(name), onGpu(7));
                CHECK(result.failedWith(ErrorCode::Internal));
                CHECK(result.unless(ErrorCode::Internal) == "");
                fake_device::reset();
                if (n == 1) CHECK(attempt(subject(name), onGpu(7)).unlessRight() == "");
            }
        }
}

TEST_CASE_FIXTURE(Device, "On a dead GPU every run ends with a sentence")
{
    fake_device::failSegment(2, 719);
    for (int round = 0; round < 3; ++round) {
        const Attempt result = attempt(subject("gcn"), onGpu(7));
        CHECK(result.failedWith(ErrorCode::Internal));
        CHECK(result.unless(ErrorCode::Internal) == "");
    }
    fake_device::reset();
    CHECK(attempt(subject("gcn"), onGpu(7)).unlessRight() == "");
}

TEST_CASE_FIXTURE(Device, "A fault in a dry run is an error, not a batch of unknown size")
{
    for (const int code : {700, 719}) {
        CAPTURE(code);
        const Subject& s = subject("gcn");
        plan::Plan plan = s.plan;
        plan.device = "cuda:0";
        const test::TemporaryFolder folder;
        forecast::Predictor predictor(s.prepared.walk, s.prepared.analysis, s.inputs, folder.path);
        fake_device::failSegment(1, code);
        const auto kept = predictor.keepOnDevice(plan, {std::nullopt, std::nullopt}, {});
        REQUIRE_FALSE(kept.has_value());
        CHECK(kept.error().code == ErrorCode::Internal);
        CHECK(kept.error().message.find("the segment kernel failed on the GPU") != std::string::npos);
        fake_device::reset();
    }
}

TEST_CASE_FIXTURE(Device, "A kernel is launched on no other GPU than that of the run")
{
    fake_device::drop(fake_device::Call::SetDevice, 1);
    const Attempt result = attempt(subject("gcn"), onGpu(7, "cuda:1"));
    CHECK(result.failedWith(ErrorCode::Internal));
    CHECK(result.unless(ErrorCode::Internal) == "");
    CHECK(result.error->message.find("cuda:0") != std::string::npos);
}

TEST_CASE_FIXTURE(Device, "Sums without a kernel of their own sort no row numbers")
{
    for (const std::string name : {"doubles", "extremes"})
        for (const std::int64_t batch : {0, 7}) {
            CAPTURE(name);
            executor::Options options = onGpu(batch);
            options.fuse = {};
            fake_device::resetCounts();
            CHECK(attempt(subject(name), options).unlessRight() == "");
            CHECK(fake_device::counts().segments == 0);
            CHECK(fake_device::counts().sorts == 0);
        }
}

// ---- cancelled

TEST_CASE_FIXTURE(Device, "A run that is cancelled at an event ends within a second and leaves nothing")
{
    std::mt19937_64 random(3);
    for (int round = 0; round < 120; ++round) {
        const std::string name = smallModels[random() % smallModels.size()];
        const std::int64_t batch = std::array{0, 1, 7}[random() % 3];
        std::int64_t left = static_cast<std::int64_t>(random() % (batch == 0 ? 8 : 40));
        CAPTURE(name);
        CAPTURE(batch);
        CAPTURE(left);
        std::stop_source source;
        Moment asked;
        EveryEvent stopping([&] {
            if (left-- != 0) return;
            asked = {};
            source.request_stop();
        });
        const Attempt result = attempt(subject(name), onGpu(batch), stopping, source.get_token());
        CHECK(result.unless(ErrorCode::Cancelled) == "");
        if (source.stop_requested()) CHECK_FALSE(longAgo(asked));
    }
}

TEST_CASE_FIXTURE(Device, "A run may be cancelled from another thread at any time")
{
    std::mt19937_64 random(4);
    int cancelled = 0;
    for (int round = 0; round < 40; ++round) {
        const std::string name = std::array{"normed", "wide"}[static_cast<std::size_t>(round % 2)];
        const auto wait = std::chrono::microseconds(round < 2 ? 0 : random() % (round % 2 ? 200000 : 20000));
        CAPTURE(name);
        CAPTURE(wait.count());
        std::stop_source source;
        Moment asked;
        Attempt result;
        {
            const std::jthread other([&] {
                std::this_thread::sleep_for(wait);
                asked = {};
                source.request_stop();
            });
            executor::Observer silent;
            result = attempt(subject(name), onGpu(round % 2 ? 1000 : 1), silent, source.get_token());
        }
        CHECK(result.unless(ErrorCode::Cancelled) == "");
        if (!result.error) continue;
        ++cancelled;
        CHECK_FALSE(longAgo(asked));
    }
    CHECK(cancelled > 0);  // how many depends on the machine
}

// ---- row numbers on the host

TEST_CASE_FIXTURE(Device, "No batch is numbered in vain because its rows exceed the pinned memory")
{
    for (const std::string name : {"wide", "rows"}) {
        CAPTURE(name);
        const Attempt result = attempt(subject(name), onGpu(0));
        CHECK(result.unlessRight() == "");
        std::int64_t used = 0, batches = 0;
        for (const executor::StageReport& stage : result.report.stages) {
            used += stage.bytes.structure;
            batches += stage.batches;
        }
        CHECK(batches > static_cast<std::int64_t>(result.report.stages.size()));
        CHECK(result.report.rowNumbers * 8 == used);
    }
}

// ---- one run after the other

TEST_CASE_FIXTURE(Device, "The next run finds as much free memory as the first")
{
    std::set<std::int64_t> free;  // the first run allocates cuBLAS's workspace, which stays
    for (const std::string name : {"wide", "normed", "wide"}) {
        CHECK(attempt(subject(name), onGpu(0)).unlessRight() == "");
        free.insert(freeOfDriver(0));
    }
    CHECK(free.size() == 1);
}

TEST_CASE_FIXTURE(Device, "The same run gives the same batches twice in one process")
{
    const Attempt once = attempt(subject("wide"), onGpu(0)), again = attempt(subject("wide"), onGpu(0));
    REQUIRE(once.report.stages.size() == again.report.stages.size());
    for (std::size_t i = 0; i < once.report.stages.size(); ++i)
        CHECK(once.report.stages[i].largestBatch == again.report.stages[i].largestBatch);
}

TEST_CASE_FIXTURE(Device, "Batches may use all of the memory that is pinned for them")
{
    for (const std::string name : {"wide", "rows"})
        for (const std::int64_t batch : {0, 7000}) {
            fake_device::resetCounts();
            CHECK(attempt(subject(name), onGpu(batch)).unlessRight() == "");
            CHECK(fake_device::counts().pinnedAllocations > 0);
            CHECK(fake_device::counts().pinnedWaste == 0);
        }
}

TEST_CASE_FIXTURE(Device, "Weights of edges that layers derive alike are copied to the device once")
{
    Subject s = subject("gcn");
    for (const ir::Value& v : s.prepared.analysis.program.values)
        if (s.prepared.analysis.hasRows(v.id) && s.prepared.analysis.info(v.id).structureOnly)
            s.plan.resident.push_back(v.id);
    s.plan.residentStructure = true;
    const Attempt result = attempt(s, onGpu(0));
    CHECK(result.unlessRight() == "");
    REQUIRE(result.report.stages.size() == 2);
    const auto copied = [&](std::size_t stage) { return result.report.stages[stage].bytes.structure; };
    CHECK(copied(1) < copied(0));
}

TEST_CASE_FIXTURE(Device, "The second GPU is used without the first")
{
    const auto taken = [](int device) { return fake_device::stats(device).allocation[0].allocated; };
    for (const std::string& name : smallModels)
        for (const std::int64_t batch : {0, 7}) {
            CAPTURE(name);
            CAPTURE(batch);
            const auto first = taken(0), second = taken(1);
            CHECK(attempt(subject(name), onGpu(batch, "cuda:1")).unlessRight() == "");
            CHECK(taken(0) == first);
            CHECK(taken(1) > second);
            CHECK(attempt(subject(name), onGpu(batch, "cuda:0")).unlessRight() == "");
            CHECK(taken(0) > first);
        }
}

}  // namespace hopscope::device_tests
