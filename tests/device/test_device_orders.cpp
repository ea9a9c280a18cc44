// Orders of nodes on a GPU: right results, with tables on the device and on the host.

#include <doctest/doctest.h>

#include "journal_runs.h"

namespace hopscope::device_tests {

namespace {

using base::Reorder;

executor::Options inOrder(Reorder order, std::int64_t batch, const std::string& device = "cuda:0")
{
    executor::Options options = onGpu(batch, device);
    options.reorder = order;
    return options;
}

Subject withTablesThere(const Subject& s, bool structure)
{
    Subject made = s;
    made.plan.device = "cuda:0";
    auto kept = models::withResidents(s.prepared, made.plan, s.inputs, 1000);
    REQUIRE(kept.has_value());
    made.plan = std::move(*kept);
    for (const ir::NamedValue& in : s.prepared.analysis.program.inputs)
        if (in.name == "x" && std::ranges::find(made.plan.resident, in.value) == made.plan.resident.end())
            made.plan.resident.push_back(in.value);
    made.plan.residentStructure = structure;
    return made;
}

bool ordered(const Attempt& attempt)
{
    return std::ranges::any_of(attempt.report.orders, [](const auto& o) { return o.used != Reorder::None; });
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Results are right in any order of the nodes, wherever the tables are")
{
    for (const Reorder order : {Reorder::Rcm, Reorder::Degree, Reorder::Community})
        for (const std::string name : {"gcn", "gat", "normed", "edges", "readout", "typed", "wide"})
            for (const std::int64_t batch : {0, 7}) {
                if (batch > 0 && name == "wide") continue;
                CAPTURE(base::nameOf(order));
                CAPTURE(name);
                CAPTURE(batch);
                const Attempt onHost = attempt(subject(name), inOrder(order, batch));
                CHECK(onHost.unlessRight() == "");
                CHECK(ordered(onHost));
                for (const bool structure : {false, true}) {
                    CAPTURE(structure);
                    const Attempt there = attempt(withTablesThere(subject(name), structure), inOrder(order, batch));
                    CHECK(there.unlessRight() == "");
                    CHECK(ordered(there));
                }
            }
    CHECK(found.sentences().empty());
}

// They exchange rows that follow each other.
TEST_CASE_FIXTURE(Device, "Several GPUs keep the order of the input, whichever order is asked for")
{
    for (const Reorder order : {Reorder::Auto, Reorder::Rcm, Reorder::Degree, Reorder::Community})
        for (const std::string name : {"gcn", "gat", "normed", "edges", "readout"}) {
            CAPTURE(base::nameOf(order));
            CAPTURE(name);
            const Attempt result = attempt(withResidents(subject(name)), inOrder(order, 7, "cuda:0,cuda:1"));
            CHECK(result.unlessRight() == "");
            CHECK_FALSE(ordered(result));
        }
    CHECK(found.sentences().empty());
}

TEST_CASE_FIXTURE(Device, "In the order of hidden communities, fewer rows are copied")
{
    const Subject& s = sharing("hidden");
    const Attempt shuffled = attempt(s, inOrder(Reorder::None, 256)),
                  grouped = attempt(s, inOrder(Reorder::Community, 256));
    CHECK(shuffled.unlessRight() == "");
    CHECK(grouped.unlessRight() == "");
    for (std::size_t i = 0; i < shuffled.report.stages.size(); ++i) {
        const std::int64_t before = shuffled.report.stages[i].bytes.h2d, after = grouped.report.stages[i].bytes.h2d;
        MESSAGE("stage " << i + 1 << ": " << before << " bytes up, in the order of communities " << after);
        CHECK(4 * after <= before);
    }
}

}  // namespace hopscope::device_tests
