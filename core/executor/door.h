#pragma once

// Private to executor: where failures that travel as exceptions inside this room become values.

#include <c10/util/Exception.h>

#include "executor/failure.h"

namespace hopscope::executor {

// What `work` returns, or the error that it threw; `outOfMemory` makes the one for want of memory.
template <class Work, class OutOfMemory>
auto atTheDoor(Work&& work, OutOfMemory&& outOfMemory) -> base::Result<decltype(work())>
{
    try {
        return work();
    } catch (const Failure& failure) {
        return tl::unexpected(failure.error);
    } catch (const c10::OutOfMemoryError&) {
        return outOfMemory();
    } catch (const c10::Error& e) {
        return base::fail(base::ErrorCode::Internal, std::string("LibTorch refuses: ") + e.what_without_backtrace());
    } catch (const std::bad_alloc&) {
        return outOfMemory();
    } catch (const std::exception& e) {
        return base::fail(base::ErrorCode::Internal, e.what());
    }
}

}  // namespace hopscope::executor
