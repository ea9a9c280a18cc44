#pragma once

// Private to forecast: chooses the number of destinations in a batch.

#include <cstdint>
#include <functional>

namespace hopscope::executor {
class ResidentChoice;
struct LoopProgram;
struct SlotBytes;
}  // namespace hopscope::executor

namespace hopscope::forecast {

class ClassCounts;
struct Traffic;

using Fits = std::function<bool(std::int64_t destinations)>;

// Returns all destinations, or the first of their fractions 1/2, 1/3, 1/4, 1/6, ... that fits. `surely` is called first
// and may refuse a size that fits; `exactly` takes longer and determines whether larger batches fit.
std::int64_t firstFraction(std::int64_t all, const Fits& surely, const Fits& exactly);

// Returns how many of the loop's `all` destinations a batch on a GPU has if memory has room for `size`: those that fill a slot of
// pinned memory, within executor::batchRowLimits().
std::int64_t atOnceOnGpu(ClassCounts& counts, const executor::ResidentChoice& choice,
                         const executor::LoopProgram& program, const Traffic& traffic, const executor::SlotBytes& slot,
                         std::int64_t size, std::int64_t all);

// Returns the bytes that limit the size of batches on a GPU (executor::BesideCopies), given the memory of one with upper bounds
// of its rows.
double besideCopies(ClassCounts& counts, const executor::ResidentChoice& choice, const executor::LoopProgram& program,
                    std::int64_t size, double memory);

}  // namespace hopscope::forecast
