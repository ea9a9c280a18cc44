#include "placement/refusal.h"

#include <cmath>
#include <set>

#include "base/units.h"
#include "optimiser/infeasible_subset.h"
#include "placement/pins.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using base::ErrorCode;
using Words = std::set<std::string>;

constexpr std::size_t mostNamed = 8;  // pins in a sentence

std::string joined(const Words& words, const std::string& between)
{
    std::string text;
    std::size_t named = 0;
    for (const std::string& word : words) {
        if (named++ == mostNamed) return text + between + std::to_string(words.size() - mostNamed) + " more";
        text += (text.empty() ? "" : between) + word;
    }
    return text;
}

// The size in the form that the option takes, rounded up.
std::string inKibibytes(double bytes)
{
    const std::string number = std::to_string(static_cast<std::int64_t>(std::ceil(bytes / 1024)));
    return number + " KiB (--host-memory " + number + "Ki)";
}

// Where no pin is in the way, the host's memory is.
base::Error tooLittleHost(const optimiser::Instance& instance, double limit, const optimiser::Options& solving)
{
    const base::Result<double> least = optimiser::minimalHostPeak(instance, solving.deadlineSeconds, solving.stop);
    return base::makeError(ErrorCode::Unsupported, "no plan fits the host memory limit of " + base::formatBytes(limit),
                           least ? "raise it to at least " + inKibibytes(*least) : "raise --host-memory");
}

base::Error tooFewStages(const optimiser::Instance& instance)
{
    const std::string least = std::to_string(optimiser::neededStages(instance));
    return base::makeError(ErrorCode::Unsupported, "the model needs at least " + least + " stages",
                           "allow " + least + " stages (--stages " + least + ")");
}

Words inWords(const Analysis& a, const ModelInstance& model, const std::vector<std::size_t>& pins)
{
    Words words;
    for (const std::size_t pin : pins) words.insert(describePin(a, model.pins[model.pinOf[pin]]));
    return words;
}

std::string hintOf(const Words& ways, std::optional<int> stages)
{
    std::string hint = "remove one of the pins";
    if (ways.size() == 1) hint = "remove this pin: " + *ways.begin();
    return stages ? hint + ", or allow " + std::to_string(*stages) + " stages" : hint;
}

}  // namespace

base::Error noPlan(const Analysis& a, const ModelInstance& model, const OptimiseOptions& options,
                   const optimiser::Options& solving)
{
    const optimiser::Instance& instance = model.instance;
    if (instance.stages < optimiser::neededStages(instance)) return tooFewStages(instance);
    if (instance.pins.empty() && options.hostMemory) return tooLittleHost(instance, *options.hostMemory, solving);
    Words pins, ways;
    std::optional<int> stages;
    const base::Result<optimiser::InfeasibleSubset> conflict =
        optimiser::explainInfeasibility(instance, solving, {.prices = false, .moreStages = options.stages.has_value()});
    if (conflict) {
        pins = inWords(a, model, conflict->pins);
        for (const optimiser::Repair& repair : conflict->repairs) {
            if (repair.kind == optimiser::RepairKind::MoreStages) stages = repair.stages;
            if (repair.kind == optimiser::RepairKind::DropPins)
                ways.insert(joined(inWords(a, model, repair.pins), " and "));
        }
    }
    const std::string within = options.stages ? " of at most " + base::counted(*options.stages, "stage") : "";
    return base::makeError(ErrorCode::Unsupported,
                           instance.pins.empty() ? "there is no legal plan" + within
                                                 : "no legal plan" + within + " respects every pin" +
                                                       (pins.empty() ? "" : ": " + joined(pins, ", ")),
                           instance.pins.empty() ? "choose a heuristic: --strategy depth" : hintOf(ways, stages));
}

base::Error emptyStage(const Analysis& a, const std::vector<plan::Pin>& pins, int empty)
{
    Words words;
    for (const plan::Pin& pin : pins) words.insert(describePin(a, pin));
    return base::makeError(ErrorCode::Unsupported,
                           "no legal plan respects every pin: " + joined(words, ", ") +
                               ". There would be nothing left to do in stage " + std::to_string(empty),
                           "choose an earlier stage, or " + hintOf(words, std::nullopt));
}

base::Error noSuchStage(const Analysis& a, const plan::Pin& pin, int last)
{
    return base::makeError(ErrorCode::Unsupported,
                           "no legal plan respects this pin: " + describePin(a, pin) + ". Plans with more than " +
                               base::counted(last, "stage") + " are not considered",
                           "choose an earlier stage, or allow more stages");
}

}  // namespace hopscope::placement
