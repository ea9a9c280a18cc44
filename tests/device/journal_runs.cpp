#include "journal_runs.h"

#include <doctest/doctest.h>

#include "base/sha256.h"

namespace hopscope::device_tests {

std::map<std::string, std::string> hashes(const base::Result<executor::RunReport>& report)
{
    REQUIRE_MESSAGE(report.has_value(), base::describe(report.error()));
    std::map<std::string, std::string> all;
    for (const executor::StoredTensor& o : report->outputs)
        all[o.name] = base::sha256({o.tensor.data, static_cast<std::size_t>(o.tensor.bytes())});
    return all;
}

namespace {

bool isCancelled(const base::Result<executor::RunReport>& report)
{
    return !report && report.error().code == base::ErrorCode::Cancelled;
}

}  // namespace

void endEverywhere(const Subject& s, const executor::Options& options, std::int64_t step, const std::string& resumedOn)
{
    Run whole{s, options};
    whole.options.device = "cuda:0";
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
        run.options.device = resumedOn;
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

}  // namespace hopscope::device_tests
