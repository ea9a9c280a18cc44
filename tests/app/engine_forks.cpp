// The engine for tests that start it hundreds of times: LibTorch is loaded once, and each command is carried out in a fork
// (forks.h). With arguments it is the engine.

#include "forks.h"

int main(int count, char** arguments)
{
    if (count == 1) return hopscope::engine::serveForks(hopscope::engine::engineOrBench);
    return hopscope::engine::engineOrBench(count, arguments);
}
