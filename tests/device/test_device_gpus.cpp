// Runs on two GPUs: the bits of a run with a journal on one of them, whose tiles are the same.

#include <array>

#include <doctest/doctest.h>

#include "journal_runs.h"
#include "models/in_shards.h"

namespace hopscope::device_tests {

namespace {

const std::string both = "cuda:0,cuda:1";
const std::vector<std::string> models{"gcn", "gat", "normed", "readout", "typed", "edges"};

// Without a journal.
std::map<std::string, std::string> hashesOn(const std::string& device, const Subject& s, executor::Options options)
{
    const test::TemporaryFolder folder;
    options.folder = folder.path;
    options.device = device;
    executor::Observer silent;
    return hashes(executor::run(s.prepared.walk, s.prepared.analysis, s.plan, s.inputs, options, silent, {}));
}

// The GPUs' threads wait for each other where stages begin and end.
class Meeting final : public executor::Observer {
public:
    void stageStarted(const executor::StageEvent&) override { fake_device::hostsMeet(); }
    void stageFinished(plan::StageId, double) override { fake_device::hostsMeet(); }
    void phaseFinished(const executor::PhaseEvent& e) override
    {
        if (e.phase == executor::Phase::Compute) ++batches.at(static_cast<std::size_t>(e.device));
    }
    std::array<int, 2> batches{};  // by GPU
};

// Virtual seconds at a fiftieth of the rates of H100s on PCI Express 5 and NVLink, because the graph is that small.
double secondsOn(const std::string& device, const Subject& s, const executor::Options& options)
{
    fake_device::setLatency({.launchSeconds = 1e-6,
                             .copyLatency = 1e-6,
                             .h2dBytesPerSecond = 1.1e9,
                             .d2hBytesPerSecond = 1.1e9,
                             .peerBytesPerSecond = 8e9,
                             .kernelSeconds = 2e-6,
                             .kernelBytesPerSecond = 46e9});
    fake_device::resetClock();
    executor::Options there = options;
    there.device = device;
    Meeting meeting;
    CHECK(attempt(s, there, meeting).unlessRight() == "");
    MESSAGE(device << ": " << fake_device::virtualSeconds() * 1e3 << " ms; batches " << meeting.batches[0] << " and "
                   << meeting.batches[1]);
    return fake_device::virtualSeconds();
}

std::map<std::string, std::string> hashesInTiles(const Subject& s, const executor::Options& options)
{
    Run run{s, options};
    return hashes(run.process());
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Two GPUs compute what PyTorch computes, with the bits of one GPU in the same tiles")
{
    for (const std::string& name : models)
        for (const Subject& s : {subject(name), withResidents(subject(name))})
            for (const std::int64_t batch : {1, 7, 13, 1000}) {
                CAPTURE(name);
                CAPTURE(batch);
                CAPTURE(s.plan.resident.size());
                CHECK(attempt(s, onGpu(batch, both)).unlessRight() == "");
                const auto expected = hashesInTiles(s, onGpu(batch));
                CHECK(hashesOn(both, s, onGpu(batch)) == expected);
                CHECK(hashesOn("cuda:1,cuda:0", s, onGpu(batch)) == expected);
            }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "A run on two GPUs is resumed on one or on both, with the same bits")
{
    for (const std::string& name : models)
        for (const Subject& s : {subject(name), withResidents(subject(name))})
            for (const char* const resumedOn : {"cuda:1", "cuda:0,cuda:1"}) {
                CAPTURE(name);
                CAPTURE(resumedOn);
                endEverywhere(s, onGpu(13, both), 1, resumedOn);
            }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "Shards and workers on two GPUs each give the bits of one process on one")
{
    for (const std::string& name : models)
        for (const Subject& s : {subject(name), withResidents(subject(name))})
            for (const bool dealt : {false, true}) {
                CAPTURE(name);
                CAPTURE(dealt);
                const auto expected = hashesInTiles(s, onGpu(7));
                CHECK(hashes(models::runInShards(s.prepared, s.plan, s.inputs, onGpu(7, both), 2, dealt)) == expected);
            }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device,
                  "Each GPU computes a part, gets half of the tables from the host, and the rest from the other")
{
    const Subject s = withResidents(subject("wide"));
    REQUIRE(!s.plan.resident.empty());
    fake_device::setLatency({.kernelSeconds = 1e-6});  // phases that take no time are not reported
    hashesOn("cuda:0", s, onGpu(500));
    const std::int64_t once = fake_device::counts().bytesUp;
    fake_device::resetCounts();
    Meeting meeting;
    CHECK(attempt(s, onGpu(500, both), meeting).unlessRight() == "");
    CHECK(meeting.batches[0] + meeting.batches[1] == 80);
    CHECK(std::abs(meeting.batches[0] - meeting.batches[1]) <= 4);
    CHECK(fake_device::counts().bytesBetween > once);  // tables of the first stage, and rows that it has computed
    CHECK(fake_device::counts().bytesUp <= once + (1 << 16));
}

TEST_CASE_FIXTURE(Device, "Without peer access, rows pass through the host, with the same bits")
{
    for (const std::string& name : models) {
        CAPTURE(name);
        const Subject s = withResidents(subject(name));
        const auto expected = hashesInTiles(s, onGpu(7));
        fake_device::setPeerAccess(false);
        CHECK(hashesOn(both, s, onGpu(7)) == expected);
        CHECK(fake_device::counts().bytesBetween == 0);
        fake_device::setPeerAccess(true);
    }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Paced, "Two GPUs take at most 0.6 of the virtual time of one")
{
    for (const Subject& s : {stack("dense"), withResidents(stack("dense"))}) {
        const double one = secondsOn("cuda:0", s, onGpu(250)), two = secondsOn(both, s, onGpu(250));
        MESSAGE(s.plan.resident.size() << " resident values: " << two / one << " of the time");
        CHECK(two <= 0.6 * one);
    }
}

TEST_CASE_FIXTURE(Device, "A fault of a GPU ends the run on both, with its name")
{
    const Subject s = withResidents(subject("gcn"));
    for (const int nth : {1, 2, 5, 9}) {
        CAPTURE(nth);
        fake_device::failSegment(nth, 700);
        const Attempt result = attempt(s, onGpu(7, both));
        fake_device::reset();
        REQUIRE(result.error.has_value());
        CHECK(result.error->code == base::ErrorCode::Internal);
        CHECK(result.error->message.starts_with("cuda:"));
        CHECK(result.complaint == "");
    }
}

TEST_CASE_FIXTURE(Device, "Two GPUs stop wherever the run is cancelled, and repeat tiles that run out of memory")
{
    const Subject s = withResidents(subject("gat")), other = withResidents(subject("normed"));
    Tally tally;
    for (int nth = 1; nth < 60; nth += 4) {
        CAPTURE(nth);
        std::stop_source stop;
        int events = 0;
        EveryEvent counting([&] {
            if (++events == nth) stop.request_stop();
        });
        const Attempt cancelled = attempt(s, onGpu(7, both), counting, stop.get_token());
        CHECK(cancelled.unless(base::ErrorCode::Cancelled) == "");
        fake_device::failAllocation(3 * nth);
        const Attempt failed = attempt(other, onGpu(7, both));
        fake_device::failAllocation(0);
        CHECK(failed.unless(base::ErrorCode::Resources) == "");
        tally.add(failed);
    }
    MESSAGE(tally.text());
    CHECK(tally.right > 3);
}

TEST_CASE("Several devices are different GPUs that exist")
{
    const Device device;
    CHECK(executor::resolveDevice("cuda:1,cuda:0") == std::string("cuda:1,cuda:0"));
    CHECK(executor::resolveDevice("cuda,cuda:1") == std::string("cuda:0,cuda:1"));
    for (const auto& [wanted, sentence] : std::map<std::string, std::string>{
             {"cuda:0,cuda:0", "cuda:0 is named twice"},
             {"cuda,cuda:0", "cuda:0 is named twice"},
             {"cuda:0,cpu", "several devices must be GPUs, and cpu is not the name of one"},
             {"auto,cuda:1", "several devices must be GPUs, and auto is not the name of one"},
             {"cuda:0,cuda:2", "there is no GPU cuda:2 here that can be used"},
             {"cuda:0,", "a name is missing in the list of devices cuda:0,"},
             {"cuda:0,,cuda:1", "a name is missing"},
             {"cuda:0, cuda:1", "unknown device  cuda:1"}}) {
        CAPTURE(wanted);
        const auto resolved = executor::resolveDevice(wanted);
        REQUIRE(!resolved);
        CHECK(resolved.error().code == base::ErrorCode::Usage);
        CHECK(resolved.error().message.starts_with(sentence));
    }
}

}  // namespace hopscope::device_tests
