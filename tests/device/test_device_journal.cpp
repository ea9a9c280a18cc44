// Runs with a journal on a GPU: ended after any record and begun again, they give the bits of an undisturbed run.

#include <doctest/doctest.h>

#include "journal_runs.h"
#include "models/in_shards.h"

namespace hopscope::device_tests {

namespace {

executor::Options limited(std::int64_t bytes)
{
    executor::Options options = onGpu(0);
    options.memory = bytes;
    return options;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "A run with a journal that is resumed with the same bits, after whichever record it ended")
{
    for (const char* name : {"gcn", "gat", "normed", "readout", "typed", "edges"}) {
        CAPTURE(name);
        endEverywhere(subject(name), onGpu(13));
        endEverywhere(withResidents(subject(name)), onGpu(13));
    }
    CHECK(found.sentences().empty());
    CHECK(fake_device::bytesPinned() == 0);
}

TEST_CASE_FIXTURE(Device, "Tiles of a run with a journal fit into its memory, and their bits into any process")
{
    const std::int64_t table = subject("wide").inputs.at("x").bytes();
    endEverywhere(subject("wide"), limited(table), 11);
    endEverywhere(withResidents(subject("wide")), limited(6 * table), 11);
    endEverywhere(withResidents(subject("rows")), onGpu(0), 11);
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "A tile that runs out of memory is computed again alone, with the same bits")
{
    const Subject s = withResidents(subject("wide"));
    Run whole{s, onGpu(0)};
    const auto expected = hashes(whole.process());
    int again = 0;
    for (std::int64_t nth = 1; nth < 400; nth += 23) {
        CAPTURE(nth);
        Run run{s, onGpu(0)};
        fake_device::failAllocation(nth);
        const auto report = run.process();
        fake_device::failAllocation(0);
        if (!report) {  // while tables were loaded
            CHECK(report.error().code == base::ErrorCode::Resources);
            continue;
        }
        CHECK(hashes(report) == expected);
        for (const executor::StageReport& stage : report->stages) again += static_cast<int>(stage.backOffs);
        CHECK(run.notes.chunks.size() == whole.notes.chunks.size());
    }
    CHECK(again > 3);
}

TEST_CASE_FIXTURE(Device, "A tile that does not fit is refused with its size")
{
    const std::int64_t table = subject("wide").inputs.at("x").bytes();
    Run run{subject("wide"), limited(table)};
    run.options.batch = 20000;
    const auto report = run.process();
    REQUIRE(!report);
    CHECK(report.error().code == base::ErrorCode::Resources);
    CHECK(report.error().message.find("stage 1 runs out of memory even for a tile of 20,000 destination nodes") !=
          std::string::npos);
}

TEST_CASE_FIXTURE(Device, "Shards and workers on GPUs give the bits of one process")
{
    for (const char* name : {"gcn", "gat", "normed", "readout", "typed", "edges"})
        for (const Subject& s : {subject(name), withResidents(subject(name))})
            for (const bool dealt : {false, true}) {
                CAPTURE(name);
                CAPTURE(dealt);
                Run whole{s, onGpu(7)};
                const auto expected = hashes(whole.process());
                CHECK(hashes(models::runInShards(s.prepared, s.plan, s.inputs, onGpu(7), 2, dealt)) == expected);
            }
    CHECK(found.sentences().empty());
}

}  // namespace hopscope::device_tests
