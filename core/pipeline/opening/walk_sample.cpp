#include "pipeline/opening/walk_sample.h"

#include <algorithm>
#include <set>

#include "analysis/analyse.h"
#include "analysis/roles/sample.h"
#include "base/units.h"

namespace hopscope::pipeline {

namespace {

constexpr std::int64_t wholeWalkRows = 50'000;

// The text about inputs with one number per row of a table that the data lacks; empty if there are none.
std::string strayVectors(const Prepared& prepared)
{
    std::string tables, text;
    std::set<std::int64_t> sizes{1};
    for (const auto& [table, rows] : prepared.schema.sizes) {
        tables += (tables.empty() ? "" : ", ") + table + " " + base::formatCount(static_cast<double>(rows));
        sizes.insert(rows);
    }
    for (const auto& [name, input] : prepared.inputs) {
        const auto role = prepared.schema.roles.find(name);
        const bool plain = role == prepared.schema.roles.end() || role->second.kind == analysis::RoleKind::Plain;
        const bool ofMatrix = name.ends_with(".coo_size") || name.ends_with(".csr_size");
        if (!plain || ofMatrix || input.shape.size() != 1 || sizes.contains(input.shape[0])) continue;
        text += (text.empty() ? "" : "; ") + name + " has " + base::formatCount(static_cast<double>(input.shape[0])) +
                " numbers, but no table has as many rows (" + tables + "): give one for each row of a table";
    }
    return text;
}

base::Error explained(base::Error error, const Prepared& prepared)
{
    const std::string stray = error.message.starts_with("forward fails") ? strayVectors(prepared) : std::string();
    if (!stray.empty()) error.hint = stray;
    return error;
}

void notePrints(Prepared& prepared)
{
    const loader::Walk& walk = prepared.walk;
    if (walk.prints == 0) return;
    const std::string note =
        "output that forward prints is left out: " + base::formatCount(static_cast<double>(walk.prints)) +
        (walk.prints == 1 ? " call on the sample, " : " calls on the sample, the first of ") + walk.firstPrint;
    if (std::ranges::find(prepared.notes, note) == prepared.notes.end()) prepared.notes.push_back(note);
}

}  // namespace

bool smallEnoughToWalk(const analysis::InputSchema& schema)
{
    return std::ranges::all_of(schema.sizes, [](const auto& size) { return size.second <= wholeWalkRows; });
}

loader::SlowFn slownessTo(Reporter& reporter)
{
    return [&reporter](const std::string& place) {
        reporter.note("forward is slow: after 3 s it is in " + place);
        reporter.progress({"analysing, in " + place, 0, 0});
    };
}

base::Status walkSample(Prepared& prepared, Reporter& reporter)
{
    const bool whole = prepared.hasData() && smallEnoughToWalk(prepared.schema);
    base::Result<loader::Walk> walk =
        loader::walk(prepared.model, prepared.sample, whole ? &prepared.inputs : nullptr, slownessTo(reporter));
    // A sample may lack a property of the data that forward needs.
    const bool again = prepared.hasData() && !walk && walk.error().code == base::ErrorCode::Unsupported &&
                       walk.error().message.starts_with("forward fails");
    base::TensorMap other = !again  ? base::TensorMap{}
                            : whole ? prepared.inputs
                                    : analysis::withWholeMatrices(prepared.sample, prepared.inputs);
    if (!other.empty()) {
        base::Result<loader::Walk> onData = loader::walk(prepared.model, other);
        if (onData) prepared.sample = std::move(other), walk = std::move(onData);
    }
    if (!walk) return tl::unexpected(explained(walk.error(), prepared));
    prepared.walk = std::move(*walk);
    notePrints(prepared);
    return {};
}

void analyseSample(Prepared& prepared)
{
    prepared.analysis =
        analysis::analyse(prepared.walk.program, prepared.schema, {.reassociate = prepared.reassociate});
}

}  // namespace hopscope::pipeline
