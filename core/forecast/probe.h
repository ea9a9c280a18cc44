#pragma once

// Private to forecast: small batches of a loop that are run for what they take from the device's allocator. Where earlier
// stages and the prologue would have left their tables, zeros stand: sizes do not depend on numbers. Only their own rows
// are looked at, so that the cost is that of small batches, whatever the graph.

#include <list>
#include <stop_token>

#include "executor/structure.h"
#include "forecast/loop_memory.h"

namespace hopscope::forecast {

// Empty where a batch cannot be run without the numbers, or where there is no small batch.
Probed probe(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
             const executor::LoopProgram& program, std::stop_token stop);

// Remembers what the last loops took: plans that are looked at one after the other differ in few of them.
class LoopMemories {
public:
    // null: nothing is known, now or later. The answer holds until the next call.
    const LoopMemory* of(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
                         const executor::LoopProgram& program, std::stop_token stop);

private:
    struct Known {
        plan::Loop loop;
        std::string device;
        std::vector<ir::ValueId> resident;
        bool residentStructure = false;
        std::optional<LoopMemory> memory;
    };
    std::list<Known> m_known;  // the latest first
};

// The classes whose rows a batch holds.
std::vector<ir::RowClass> classesOf(const executor::LoopProgram& program);

}  // namespace hopscope::forecast
