#pragma once

// Private to forecast: the number of destinations in a batch.

#include <cstdint>
#include <functional>

namespace hopscope::executor {
struct LoopProgram;
struct SlotBytes;
}  // namespace hopscope::executor

namespace hopscope::forecast {

class ClassCounts;
struct Traffic;

using Fits = std::function<bool(std::int64_t destinations)>;

// All destinations, or the first fraction of them that fits: a half, a third, ... `surely` may refuse a size that fits,
// and is called first; `exactly` takes longer, and determines whether larger batches fit.
std::int64_t firstFraction(std::int64_t all, const Fits& surely, const Fits& exactly);

// The largest number of destinations, at most `size`, whose batches fit into a slot of pinned memory: `size` if it
// fits, otherwise between its first half, quarter, ... that fits and the one before.
std::int64_t stagedAtOnce(ClassCounts& counts, const executor::LoopProgram& program, const Traffic& traffic,
                          const executor::SlotBytes& slot, std::int64_t size);

}  // namespace hopscope::forecast
