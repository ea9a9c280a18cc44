#pragma once

namespace hopscope::engine {

// Runs the whole program: parses the command line, runs the command and prints errors. Returns the exit code.
int engineMain(int count, char** arguments);

}  // namespace hopscope::engine
