#pragma once

// Private to executor, and to forecast, which predicts batches with it: determines the host memory for copies to and
// from a GPU.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "executor/device/staging.h"
#include "executor/loop/prologue.h"
#include "executor/session/session.h"
#include "executor/structure.h"

namespace hopscope::executor {

// The share of a slot that batches should fill: smaller batches share fewer rows, and therefore read more rows per
// destination.
constexpr double fullSlot = 0.9;

// The bytes of each slot of the ring: for rows and row numbers that are uploaded, and for rows that are downloaded.
struct SlotBytes {
    std::int64_t up = 0, down = 0;
};

// Returns the slot size for all loops of a run: a share of the bytes that the largest loop copies, not counting tables
// on the device, or all of these bytes if the user has chosen the batch. Linear in the programs.
SlotBytes slotBytes(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
                    const StagePrograms& programs, std::optional<std::int64_t> batch);

// Returns the bytes that a loop copies to and from the device if no two destinations share a row. Linear in the
// program.
SlotBytes unsharedBytes(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
                        const LoopProgram& program);

// Returns what stays on the device in a run with a journal of the same plan, whose tiles runs on several GPUs have.
ResidentChoice choiceWithJournal(Session& session);

// Limits of the number of rows of a batch, as LoopSizer::rows() counts them.
struct BatchRowLimits {
    // A batch may have these although its data exceed a slot: the smaller the batches, the more of them read the same rows
    // of a table on the host. 0 if they read no row twice. A few batches are needed to copy results while others are computed.
    double together = 0;
    // More would take memory and save no time, as tensors of this many rows of edges keep a GPU busy. Unlimited if the
    // batches read rows of a table on the host twice.
    double most = std::numeric_limits<double>::infinity();

    // Returns the rows of a batch if a slot has room for the data of `staged` rows.
    [[nodiscard]] double of(double staged) const { return std::min(std::max(staged, together), most); }
};
// `rows` is the number of rows of the whole loop.
BatchRowLimits batchRowLimits(const ResidentChoice& choice, const LoopProgram& program, std::int64_t rows);

// Allocates the ring of a run, in pinned memory if the system grants it.
std::unique_ptr<StagingRing> makeRing(Session& session, const StagePrograms& programs);

}  // namespace hopscope::executor
