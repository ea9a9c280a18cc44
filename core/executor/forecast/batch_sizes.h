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

// Returns the number of destinations whose batches fill a slot of pinned memory, or the largest integer if batches of
// `size` fit. Otherwise, `size` is halved until its batches fit, and the result is interpolated between that number and
// its double.
std::int64_t stagedAtOnce(ClassCounts& counts, const executor::LoopProgram& program, const Traffic& traffic,
                          const executor::SlotBytes& slot, std::int64_t size);

// Returns the bytes that limit the size of batches on a GPU (executor::BesideCopies), given the memory of one with upper bounds
// of its rows.
double besideCopies(ClassCounts& counts, const executor::ResidentChoice& choice, const executor::LoopProgram& program,
                    std::int64_t size, double memory);

// Returns how many of the loop's `all` destinations make about `most` rows, together with those that they own; at least 1.
std::int64_t destinationsOf(ClassCounts& counts, const executor::LoopProgram& program, std::int64_t all,
                            std::int64_t most);

}  // namespace hopscope::forecast
