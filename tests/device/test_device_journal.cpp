// Runs with a journal on a GPU: ended after any record and begun again, they give the bits of an undisturbed run.

#include <doctest/doctest.h>

#include "base/sha256.h"
#include "device_runs.h"
#include "models/in_shards.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

namespace {

using executor::Chunk;

enum class Ending : std::uint8_t {
    Killed,     // before the record: its rows are written
    Cancelled,  // some time after the record
};

// A journal in memory, of one run after the other, each of which ends after a number of records.
class Notes final : public executor::Journal {
public:
    std::optional<std::int64_t> batchBytes() const override { return m_batchBytes; }
    base::Result<std::vector<Chunk>> begin(std::int64_t batchBytes, const std::vector<plan::LoopCut>& cuts) override
    {
        if (m_batchBytes && (batchBytes != *m_batchBytes || cuts != m_cuts))
            return base::fail(base::ErrorCode::Internal, "a resumed run is cut differently");
        m_batchBytes = batchBytes;
        m_cuts = cuts;
        return chunks;
    }
    base::Status append(const Chunk& chunk) override
    {
        if (left-- == 0 && ending == Ending::Killed) return base::fail(base::ErrorCode::Cancelled, "killed");
        if (left == 0 && ending == Ending::Cancelled) stop.request_stop();
        chunks.push_back(chunk);
        return {};
    }
    base::Status sync(std::int64_t) override { return {}; }

    std::vector<Chunk> chunks;
    std::int64_t left = -1;  // records until the end of the current run; negative: it runs to its end
    Ending ending = Ending::Killed;
    std::stop_source stop;

private:
    std::optional<std::int64_t> m_batchBytes;
    std::vector<plan::LoopCut> m_cuts;
};

// A run in a folder of its own, which several processes compute after each other.
struct Run {
    const Subject& subject;
    executor::Options options;
    test::TemporaryFolder folder{};
    Notes notes{};

    base::Result<executor::RunReport> process()
    {
        options.folder = folder.path;
        options.journal = &notes;
        notes.stop = {};
        executor::Observer silent;
        return executor::run(subject.prepared.walk, subject.prepared.analysis, subject.plan, subject.inputs, options,
                             silent, notes.stop.get_token());
    }
};

// The SHA-256 of each output.
std::map<std::string, std::string> hashes(const base::Result<executor::RunReport>& report)
{
    REQUIRE_MESSAGE(report.has_value(), base::describe(report.error()));
    std::map<std::string, std::string> all;
    for (const executor::StoredTensor& o : report->outputs)
        all[o.name] = base::sha256({o.tensor.data, static_cast<std::size_t>(o.tensor.bytes())});
    return all;
}

bool isCancelled(const base::Result<executor::RunReport>& report)
{
    return !report && report.error().code == base::ErrorCode::Cancelled;
}

// Ended after each number of records in turn, and resumed on the other GPU.
void endEverywhere(const Subject& s, const executor::Options& options, std::int64_t step = 1)
{
    Run whole{s, options};
    const auto expected = hashes(whole.process());
    const auto records = std::ssize(whole.notes.chunks);
    std::int64_t interrupted = 0;
    for (std::int64_t n = 0; n < records; n += step) {
        CAPTURE(n);
        Run run{s, options};
        run.notes.ending = n / step % 2 == 0 ? Ending::Killed : Ending::Cancelled;
        run.notes.left = run.notes.ending == Ending::Killed ? n : n + 1;
        const auto ended = run.process();
        if (!isCancelled(ended)) {  // records of reductions are written less often by a process that is fast
            CHECK(ended.has_value());
            continue;
        }
        ++interrupted;
        run.notes.left = -1;
        run.options.device = "cuda:1";
        const auto resumed = run.process();
        CHECK(hashes(resumed) == expected);
        CHECK(resumed->resumed.has_value() == (n > 0 || run.notes.ending == Ending::Cancelled));
        if (resumed->resumed) CHECK(resumed->resumed->damaged == 0);
    }
    CHECK(interrupted > 0);
}

Subject withResidents(Subject s)
{
    s.plan.device = "cuda:0";
    auto plan = models::withResidents(s.prepared, std::move(s.plan), s.inputs, 1000);
    REQUIRE(plan.has_value());
    s.plan = std::move(*plan);
    return s;
}

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
