#pragma once

namespace hopscope::engine {

// The whole program: reads the command line, carries it out, prints what went wrong. Gives the exit code.
int engineMain(int count, char** arguments);

}  // namespace hopscope::engine
