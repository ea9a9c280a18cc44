#include "verify/against.h"

#include <algorithm>

#include "base/temporary_file.h"
#include "graph/safetensors.h"
#include "verify/compare.h"
#include "verify/estimate.h"
#include "verify/passive_waiting.h"
#include "verify/rounding.h"
#include "verify/sampled.h"
#include "verify/structure.h"

namespace hopscope::verify {

namespace {

using base::ErrorCode;
using schema::ComparedOutput;
using schema::Comparison;
using schema::OutputsBy;

constexpr const char* sameOutputs = "both must have the same outputs, with the same types and sizes";

std::string namesOf(const base::TensorMap& outputs)
{
    std::string text;
    for (const auto& [name, view] : outputs) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "no outputs" : text;
}

base::Status sameForms(const Side& first, const Side& second)
{
    bool same = first.outputs.size() == second.outputs.size();
    for (const auto& [name, view] : first.outputs) same = same && second.outputs.contains(name);
    if (!same)
        return base::fail(ErrorCode::Input,
                          first.name + " yields " + namesOf(first.outputs) + ", but " + second.name + " yields " +
                              namesOf(second.outputs),
                          sameOutputs);
    for (const auto& [name, view] : first.outputs) {
        const base::TensorView& other = second.outputs.at(name);
        if (!mismatch(view, other)) continue;
        return base::fail(ErrorCode::Input,
                          "the output '" + name + "' is " + formText(view) + " in " + first.name + ", but " +
                              formText(other) + " in " + second.name,
                          sameOutputs);
    }
    return {};
}

// Row and position in the row of an element, by its number in row-major order.
schema::DifferentElement placed(const FirstDifference& found, const base::TensorView& view)
{
    std::int64_t width = 1;
    for (std::size_t d = 1; d < view.shape.size(); ++d) width *= view.shape[d];
    return {.row = found.element / width,
            .element = found.element % width,
            .first = found.staged,
            .second = found.reference};
}

ComparedOutput compared(const std::string& name, const base::TensorView& first, const base::TensorView& second,
                        const Tolerance& tolerance)
{
    ComparedOutput output{.errors = {name}};
    std::optional<FirstDifference> found;
    compareAll(first, second, tolerance, output.errors, &found);
    if (found) output.at = placed(*found, first);
    return output;
}

// Prefix sums in either model widen it.
Tolerance commonTolerance(const Side& first, const Side& second)
{
    Tolerance tolerance;
    for (const Side* const side : {&first, &second})
        if (side->request) tolerance.scale = std::max(tolerance.scale, toleranceOf(*side->request->analysis).scale);
    return tolerance;
}

// The reason why all differences are rounding, by the sensitivity of a side whose forward ran; empty if they are not.
base::Result<std::string> roundingOf(const Side& own, const Side& other, const std::vector<ComparedOutput>& outputs,
                                     const std::stop_token& stop)
{
    Rounding rounding(*own.request, own.request->dataArguments, childMemory(*own.request), own.outputs);
    std::vector<Differing> differing;
    for (const ComparedOutput& output : outputs) {
        const std::string& name = output.errors.name;
        if (output.errors.different > 0)
            differing.push_back(
                {.name = name, .staged = other.outputs.at(name), .rows = {}, .of = "the result of " + other.name});
    }
    Explanation explanation;
    if (const base::Status explained = explainAll(differing, rounding, stop, explanation); !explained)
        return base::forward(explained);
    return explanation.whole();
}

base::Status judge(const Side& first, const Side& second, const std::stop_token& stop, Comparison& comparison)
{
    Verification verdict;
    verdict.coverage.method = CoverageMethod::Full;
    for (const ComparedOutput& output : comparison.outputs) verdict.outputs.push_back(output.errors);
    conclude(verdict, "all rows", "");
    if (verdict.verdict == Verdict::Different) {
        const Side& own = second.by == OutputsBy::Forward ? second : first;
        if (own.by == OutputsBy::Forward) {
            const auto rounding = roundingOf(own, &own == &second ? first : second, comparison.outputs, stop);
            if (!rounding) return base::forward(rounding);
            if (!rounding->empty()) {
                verdict.verdict = Verdict::Unverifiable;
                verdict.reason = *rounding;
            }
        }
    }
    comparison.verdict = verdict.verdict;
    comparison.reason = verdict.reason;
    return {};
}

}  // namespace

ForwardNeed forwardNeed(const Request& request)
{
    const TableSizes sizes = declaredSizes(*request.analysis, *request.schema);
    return {.needed = ForwardMemory(*request.analysis).peak(sizes), .memory = childMemory(request)};
}

base::Result<std::optional<base::TensorMap>> forwardOutputs(const Request& request, std::stop_token stop)
{
    const PassiveWaiting passively;
    const base::TemporaryFile output(request.scratchFolder, "-outputs.safetensors");
    const base::Result<OracleOutcome> outcome =
        runOracle(oracleChild(request, childMemory(request)),
                  forwardRequest(request, request.dataArguments, output.path()), std::move(stop));
    if (!outcome) return base::forward(outcome);
    if (outcome->end == OracleEnd::OutOfMemory) return std::nullopt;
    if (outcome->end != OracleEnd::Done)
        return base::fail(ErrorCode::Input, outcome->message, "the model has to run on these data", request.modelPath);
    base::Result<base::TensorMap> outputs = graph::mapSafetensors(output.path());
    if (!outputs) return base::forward(outputs);
    return std::move(*outputs);
}

base::Result<Comparison> compareSides(const Side& first, const Side& second, std::stop_token stop)
{
    if (const base::Status same = sameForms(first, second); !same) return base::forward(same);
    Comparison comparison{.first = first.name, .second = second.name, .firstBy = first.by, .secondBy = second.by};
    comparison.tolerance = commonTolerance(first, second);
    for (const auto& [name, view] : first.outputs)
        comparison.outputs.push_back(compared(name, view, second.outputs.at(name), comparison.tolerance));
    if (const base::Status judged = judge(first, second, stop, comparison); !judged) return base::forward(judged);
    return comparison;
}

}  // namespace hopscope::verify
