#pragma once

// A last resort: an exception that reaches this boundary on a thread of a run still ends the run with a message.

#include <exception>
#include <new>
#include <utility>

#include "base/result.h"

namespace hopscope::engine {

template <class Work>
auto caught(Work&& work) -> decltype(work())
{
    try {
        return std::forward<Work>(work)();
    } catch (const std::bad_alloc&) {
        return base::fail(base::ErrorCode::Resources, "out of memory", "a smaller memory limit or batch may help");
    } catch (const std::exception& error) {
        return base::fail(base::ErrorCode::Internal, std::string("unexpected error: ") + error.what(),
                          "please report this");
    }
}

}  // namespace hopscope::engine
