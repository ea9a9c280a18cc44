#include "executor/forecast/batch_sizes.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "executor/forecast/class_counts.h"
#include "executor/forecast/traffic.h"
#include "executor/loop/loop_sizer.h"
#include "executor/loop/staging_plan.h"
#include "executor/program/loop_program.h"

namespace hopscope::forecast {

using ir::RowClass;
using ir::RowKind;

namespace {

// The share of a slot of the ring that the batches of a loop take on average.
double slotsFilled(ClassCounts& counts, const executor::LoopProgram& program, const Traffic& traffic,
                   const executor::SlotBytes& slot, std::int64_t size)
{
    const plan::Loop& loop = *program.loop;
    double up = 0, down = 0;
    for (const auto& [rows, bytes] : traffic.rows) {
        const auto total = static_cast<double>(counts.of(loop, rows, size).total);
        for (const auto& [value, read] : bytes.read) up += static_cast<double>(read) * total;
        up += static_cast<double>(bytes.numbers) / 2 * total;  // in 32 bits
        down += static_cast<double>(bytes.written) * total;
    }
    const RowClass own{RowKind::Batch, loop.destination, {}};
    const auto batches = static_cast<double>(counts.of(loop, own, size).perBatch.size());
    return std::max(up / static_cast<double>(slot.up), down / static_cast<double>(slot.down)) / std::max(batches, 1.0);
}

// The number of destinations whose batches fill a slot, or the largest integer if batches of `size` fit. Otherwise, `size` is
// halved until its batches fit, and the result is interpolated between that number and its double.
std::int64_t stagedAtOnce(ClassCounts& counts, const executor::LoopProgram& program, const Traffic& traffic,
                          const executor::SlotBytes& slot, std::int64_t size)
{
    size = std::max<std::int64_t>(size, 1);
    double filled = slotsFilled(counts, program, traffic, slot, size);
    if (filled <= executor::fullSlot) return std::numeric_limits<std::int64_t>::max();
    double before = filled;
    std::int64_t large = size;
    while (size > 1 && filled > executor::fullSlot) {
        large = std::exchange(size, (size + 1) / 2);
        before = std::exchange(filled, slotsFilled(counts, program, traffic, slot, size));
    }
    const auto scaled = static_cast<std::int64_t>(static_cast<double>(large) * executor::fullSlot / before);
    return std::clamp(scaled, size, large);
}

// How many of all destinations make about `most` rows, together with those that they own; at least 1.
std::int64_t destinationsOf(ClassCounts& counts, const executor::LoopProgram& program, std::int64_t all, double most)
{
    auto rows = static_cast<double>(all);
    for (const RowClass& owned : program.classes)
        rows += static_cast<double>(counts.of(*program.loop, owned, all).total);
    const double share = rows > most ? most / rows : 1;
    return std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(all) * share), 1);
}

}  // namespace

std::int64_t firstFraction(std::int64_t all, const Fits& surely, const Fits& exactly)
{
    const auto part = [&](std::int64_t batches) { return (all + batches - 1) / batches; };
    std::vector<std::int64_t> tried{1};
    while (part(tried.back()) > 1 && !surely(part(tried.back())))
        tried.push_back(tried.back() + std::max<std::int64_t>(tried.back() / 2, 1));
    while (tried.size() > 1 && exactly(part(tried[tried.size() - 2]))) tried.pop_back();
    return part(tried.back());
}

std::int64_t atOnceOnGpu(ClassCounts& counts, const executor::ResidentChoice& choice,
                         const executor::LoopProgram& program, const Traffic& traffic, const executor::SlotBytes& slot,
                         std::int64_t size, std::int64_t all)
{
    const executor::BatchRowLimits limits = executor::batchRowLimits(choice, program, all);
    const std::int64_t staged = stagedAtOnce(counts, program, traffic, slot, std::min(size, all));
    return std::min(std::max(staged, static_cast<std::int64_t>(limits.together)),
                    destinationsOf(counts, program, all, limits.most));
}

double besideCopies(ClassCounts& counts, const executor::ResidentChoice& choice, const executor::LoopProgram& program,
                    std::int64_t size, double memory)
{
    return executor::BesideCopies(choice, program, true).bytes(memory, [&](const RowClass& rows) {
        const Counts most = counts.atMost(*program.loop, rows, size);
        return most.perBatch.empty() ? 0.0 : static_cast<double>(most.perBatch[most.largest()]);
    });
}

}  // namespace hopscope::forecast
