#pragma once

// Implements the exception boundary, where exceptions become errors as values.

#include <c10/util/Exception.h>

#include "executor/failure.h"

namespace hopscope::executor {

// Returns the result of `work`, or an error for the exception that it threw. `outOfMemory` provides the error for a
// lack of memory.
template <class Work, class OutOfMemory>
auto catchAtBoundary(Work&& work, OutOfMemory&& outOfMemory) -> base::Result<decltype(work())>
{
    try {
        return work();
    } catch (const Failure& failure) {
        return tl::unexpected(failure.error);
    } catch (const c10::OutOfMemoryError&) {
        return outOfMemory();
    } catch (const c10::Error& e) {
        return base::fail(base::ErrorCode::Internal, std::string("LibTorch reports: ") + e.what_without_backtrace());
    } catch (const std::bad_alloc&) {
        return outOfMemory();
    } catch (const std::exception& e) {
        return base::fail(base::ErrorCode::Internal, e.what());
    }
}

}  // namespace hopscope::executor
