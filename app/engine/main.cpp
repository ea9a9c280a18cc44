#include <cstdio>
#include <cstdlib>

#include "engine_main.h"

namespace {

// Skips the destructors of LibTorch's static objects, which unregister each of its operators: a tenth of a second.
// Sanitizers look for leaks in code that runs after main.
[[noreturn]] void leave(int code)
{
    std::fflush(nullptr);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    std::exit(code);
#else
    std::_Exit(code);
#endif
}

}  // namespace

int main(int count, char** arguments) { leave(hopscope::engine::engineMain(count, arguments)); }
