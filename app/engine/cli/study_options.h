#pragma once

// Adds the options of the commands that explain a model or debug it.

#include "cli/arguments.h"

namespace CLI {
class App;
}

namespace hopscope::engine {

// Adds the options for receptive fields. `request` must outlive the parser.
void addFieldOptions(CLI::App& command, receptive::Request& request);

// The options of `debug` as text.
struct DebugTexts {
    std::string against, when = "always", nodes, output, batch, plan, show, rows;
    std::vector<std::string> breakpoints, values, aggregations;
    bool nan = false;
    std::size_t hits = 20;
    std::optional<std::int64_t> batchOf;
    std::optional<int> memoryOf;
    double absolute = 1e-5, relative = 1e-4;
};

extern const char *const fieldExamples, *const debugExamples;

void addDebugOptions(CLI::App& command, DebugTexts& texts);
// Converts the texts to a command. Fails with Usage.
base::Result<Command> debugCommand(const pipeline::ModelOptions& model, const DebugTexts& texts);

}  // namespace hopscope::engine
