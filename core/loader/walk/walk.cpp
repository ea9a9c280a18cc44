#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "base/ending.h"
#include "base/proc.h"
#include "loader/one_thread.h"
#include "loader/walk/walker.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using c10::IValue;

std::vector<IValue> copied(const std::vector<IValue>& inputs)
{
    std::vector<IValue> out;
    for (const IValue& value : inputs) out.push_back(value.deepcopy());
    return out;
}

// Bytes that forward may take on these inputs: more than any network needs for them, and less than what brings a machine down.
std::int64_t allowed(const Model& model, const base::TensorMap& inputs)
{
    constexpr std::int64_t least = std::int64_t{1} << 30, times = 16;
    std::int64_t given = model.info().fileBytes;
    for (const auto& [name, view] : inputs) given += view.bytes();
    return std::max(least, times * given);
}

constexpr std::chrono::seconds patience(3);

// A thread that reports a slow walk, if there is a callback; it ends with this object.
std::jthread watched(const Location& location, const SlowFn& slow)
{
    if (!slow) return {};
    return std::jthread([&](const std::stop_token& through) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        never.wait_for(lock, through, patience, [] { return false; });
        if (!through.stop_requested()) slow(location.place());
    });
}

Walk walkOnce(const Model& model, const std::vector<IValue>& inputs, const base::TensorMap& sample,
              const SlowFn& slow = {})
{
    Walker walker;
    const std::jthread watch = watched(walker.location(), slow);
    try {
        const base::MemoryAllowance allowance(allowed(model, sample));
        return walker.run(model.impl().module, copied(inputs), sample);
    } catch (const std::bad_alloc&) {
        walker.location().refuseThrown("not enough memory for lists, texts or a table");
    } catch (const c10::Error& e) {
        walker.location().refuseThrown(e.what_without_backtrace());
    } catch (const std::exception& e) {
        walker.location().refuseThrown(e.what());
    }
}

// True if forward throws on these inputs as well.
bool throwsOn(const Model& model, const base::TensorMap& whole)
{
    const auto inputs = assembleInputs(model, whole);
    try {
        if (inputs) static_cast<void>(walkOnce(model, *inputs, whole));
    } catch (const Refused& refused) {
        return refused.byForward;
    }
    return !inputs;
}

}  // namespace

base::Result<Walk> walk(const Model& model, const base::TensorMap& sample, const base::TensorMap* whole,
                        const SlowFn& slow)
{
    const base::Uninterruptible here;
    auto inputs = assembleInputs(model, sample);
    if (!inputs) return base::forward(inputs);
    const at::NoGradGuard noGrad;
    const OneThread oneThread;
    try {
        return walkOnce(model, *inputs, sample, slow);
    } catch (Refused& refused) {
        if (refused.byForward && whole && throwsOn(model, *whole)) refused.error.code = ErrorCode::Input;
        return tl::unexpected(refused.error);
    }
}

}  // namespace hopscope::loader
