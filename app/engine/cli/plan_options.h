#pragma once

// Adds the options of `plan` for explanations, and options that several commands share.

#include <string>

#include "cli/arguments.h"
#include "pipeline/options.h"

namespace CLI {
class App;
}

namespace hopscope::engine {

struct PlanTexts {
    std::string explain, steps;
};

void addPlanOptions(CLI::App& command, PlanTexts& texts);

// Adds --no-sandbox, for every command that can open a model.
void addSandbox(CLI::App& command, bool& without);

// Adds --trust, for the same commands.
void addTrusted(CLI::App& command, pipeline::ModelOptions& model);

void addTrustOptions(CLI::App& command, TrustCommand& trust);

}  // namespace hopscope::engine
