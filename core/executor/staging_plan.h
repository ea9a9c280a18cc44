#pragma once

// Private to executor, and to forecast, which predicts batches with it: the memory that copies to and from a GPU go
// through.

#include <cstdint>
#include <memory>
#include <optional>

#include "executor/prologue.h"
#include "executor/session.h"
#include "executor/staging.h"
#include "executor/structure.h"

namespace hopscope::executor {

// The share of a slot that batches are made to fill: smaller batches share fewer rows, and so read more for each destination.
constexpr double fullSlot = 0.9;

// Bytes of each slot of the ring: rows and row numbers that go up, rows that come down.
struct SlotBytes {
    std::int64_t up = 0, down = 0;
};

// For all loops of a run: a share of the bytes that the largest one copies, which excludes tables on the device, or all
// of them for a batch that the user has chosen. Linear in the programs.
SlotBytes slotBytes(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
                    const StagePrograms& programs, std::optional<std::int64_t> batch);

// Allocates the ring of a run, in pinned memory where the system grants it.
std::unique_ptr<StagingRing> makeRing(Session& session, const StagePrograms& programs);

}  // namespace hopscope::executor
