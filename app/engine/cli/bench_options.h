#pragma once

// The options of `bench run`.

#include "cli/arguments.h"

namespace CLI {
class App;
}

namespace hopscope::engine {

// As they are read.
struct BenchTexts {
    BenchRunOptions options;
    std::string batch = "auto", memory = "1Gi";
    bool noReference = false;
};

// `texts` must outlive the parser.
void addBenchOptions(CLI::App& command, BenchTexts& texts);
// Fails with Usage.
base::Result<Command> benchCommand(const BenchTexts& texts);

}  // namespace hopscope::engine
