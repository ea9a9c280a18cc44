#pragma once

// Where the rows that a batch holds are drawn: in lanes, one below the other. What is written over something takes its lane;
// everything else takes the first lane that is free.

#include <QString>
#include <vector>

#include "schema/stage_memory.h"

namespace hopscope::study {

// A lane for each entry of `held`, from 0. Quadratic in the lanes, linear in the entries.
std::vector<int> lanesOf(const schema::LoopMemoryRecord& loop);

// "conv1 product on rows of node in the batch: 677 KiB from step 7 to 8, written over ...".
QString heldSentence(const schema::LoopMemoryRecord& loop, int held);
// What the peak of the stage consists of.
QString peakSentence(const schema::StageMemoryRecord& memory, const schema::LoopMemoryRecord& loop);

}  // namespace hopscope::study
