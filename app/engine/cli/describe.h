#pragma once

// Formats tables for people to read: a model, a plan and its reasons, a run, a verdict, a receptive field, devices and
// their rates.

#include <optional>
#include <string>

#include "cli/console.h"
#include "pipeline/machine/devices.h"
#include "pipeline/machine/machine.h"
#include "pipeline/opening/prepare.h"
#include "pipeline/planning/explanation.h"
#include "plan/walkthrough.h"
#include "schema/comparison.h"
#include "schema/findings.h"
#include "schema/receptive_field.h"
#include "schema/report.h"
#include "schema/stage_memory.h"
#include "schema/tensor.h"

namespace hopscope::engine {

// Describes the model's title and inputs; with a plan also its stages, its stores, its predicted memory and, if known,
// `seconds`.
std::string describeModel(const pipeline::Prepared& prepared, const plan::Plan* plan, const Style& style,
                          std::optional<double> seconds = std::nullopt);

struct RunColumns {
    bool rates = false;   // predictions and shares of the roofline, which require measured rates of the machine
    bool phases = false;  // the shares of the phases
};

std::string describeRun(const schema::Report& report, const Style& style, const RunColumns& columns);

// Returns the last lines about a run: results that are not finite, unless the verdict begins with them, and the
// verdict.
std::string describeOutcome(const schema::Report& report, const Style& style);

// Returns one line: "verified: equal on all 2,708 rows, largest difference 3.6e-06". `narrowed` tells whether the
// stores of the run have a narrower type than their values.
std::string describeVerdict(const schema::Verification& verification, const Style& style, bool narrowed = false);

// Explains a plan by the reasons behind its decisions.
std::string describeExplanation(const schema::Explanation& explanation, const analysis::Analysis& analysis,
                                const Style& style);

// Describes the steps by which the rules and the optimum arrive at their plans.
std::string describeSteps(const plan::Walkthroughs& all, const analysis::Analysis& analysis, const Style& style);

std::string describeDevices(const pipeline::Devices& devices, const Style& style);
std::string describeMachine(const plan::Machine& machine);

// Describes the layers of a receptive field, and the average over all nodes.
std::string describeReceptiveField(const schema::ReceptiveField& field, const Style& style);

// Describes the comparison of two files of a model.
std::string describeComparison(const schema::Comparison& comparison, const Style& style);

// Describe the findings of the debugger.
std::string describeFindings(const schema::DivergenceRecord& found, const Style& style);
std::string describeFindings(const schema::NonFiniteReport& found, const Style& style);
std::string describeFindings(const schema::WatchReport& found, const Style& style);
std::string describeTensor(const schema::TensorSummary& record, const Style& style);

// Describes the values that the batches of a stage hold at each step.
std::string describeStageMemory(const schema::StageMemoryRecord& memory, const Style& style);

}  // namespace hopscope::engine
