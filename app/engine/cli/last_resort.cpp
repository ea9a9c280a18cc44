#include "cli/last_resort.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>

namespace hopscope::engine {

namespace {

Console* g_console = nullptr;

// Returns the first line of the exception that was not caught. A backtrace follows it in LibTorch's exceptions.
std::string whatWasThrown()
{
    const std::exception_ptr thrown = std::current_exception();
    if (!thrown) return "the program was ended";
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        const std::string text = error.what();
        return text.substr(0, text.find('\n'));
    } catch (...) {
        return "of an unknown kind";
    }
}

[[noreturn]] void end()
{
    static std::mutex once;  // never given back: other threads may fail as well
    once.lock();
    g_console->error(base::makeError(base::ErrorCode::Internal, "unexpected error: " + whatWasThrown(),
                                     "please report it, unless it is an error of CUDA"));
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(base::ErrorCode::Internal));
}

}  // namespace

void endByLine(Console& console)
{
    g_console = &console;
    std::set_terminate(end);
}

}  // namespace hopscope::engine
