#pragma once

#include "cli/console.h"

namespace hopscope::engine {

// From now on, std::terminate() ends the process, and those forked from it, with one line and exit code 7, like any unexpected error:
// once a GPU has failed, LibTorch throws where it frees memory, which is in destructors. `console` must last as long as
// the process.
void endByLine(Console& console);

}  // namespace hopscope::engine
