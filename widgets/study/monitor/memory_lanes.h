#pragma once

// Assigns the rows that a batch holds to lanes, which are drawn below each other. A value written in place takes the
// lane of the value that it overwrites; every other value takes the first free lane.

#include <QString>
#include <vector>

#include "schema/stage_memory.h"

namespace hopscope::study {

// Returns a lane, counted from 0, for each entry of `held`. Takes time quadratic in the lanes and linear in the
// entries.
std::vector<int> lanesOf(const schema::LoopMemoryRecord& loop);

// Returns "conv1 product on rows of node in the batch: 677 KiB from step 7 to 8, written over ...".
QString heldSentence(const schema::LoopMemoryRecord& loop, int held);
// Describes the contents of memory at the peak of the stage.
QString peakSentence(const schema::StageMemoryRecord& memory, const schema::LoopMemoryRecord& loop);

}  // namespace hopscope::study
