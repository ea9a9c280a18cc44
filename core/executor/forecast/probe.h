#pragma once

// Private to forecast: implements the dry run, which runs small batches of a loop and traces their allocations. Zeros
// replace the values of earlier stages and of the prologue, because sizes do not depend on the values of features. The
// cost does not depend on the size of the graph.

#include <list>
#include <stop_token>

#include "executor/forecast/loop_memory.h"
#include "executor/rows/block.h"
#include "executor/structure.h"

namespace hopscope::forecast {

// Runs and traces small batches. Returns none if an operator fails on zeros, or if there are no small batches.
// Exceptions pass through if the GPU itself has failed.
Probed probe(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
             const executor::LoopProgram& program, std::stop_token stop);

// Returns the memory of these destinations as a batch on a CPU; nullopt if an operator fails on zeros.
std::optional<DryRun> runDry(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
                             const executor::LoopProgram& program, const executor::Destinations& destinations,
                             std::stop_token stop);

// Caches the memory of recent loops: successive plans differ in few of their loops.
class LoopMemories {
public:
    // Returns the memory of a loop; nullptr if the dry run does not determine it, which is cached as well. Valid until
    // the next call.
    const LoopMemory* of(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
                         const executor::LoopProgram& program, std::stop_token stop);
    // Returns the memory of a single batch; nullopt if the dry run does not determine it or would take long. `rows` has
    // the number of rows of each class that the program uses; batches with equal numbers use equal memory.
    std::optional<DryRun> single(const analysis::Analysis& analysis, executor::Structure& structure,
                                 const plan::Plan& plan, const executor::LoopProgram& program,
                                 const executor::Destinations& destinations, const std::vector<std::int64_t>& rows,
                                 std::stop_token stop);

private:
    struct Known {
        plan::Loop loop;
        std::string device;
        std::vector<ir::ValueId> resident, divided;
        bool residentStructure = false, tiled = false;
        std::vector<executor::Act> acts;  // they show which steps are fused
        int threads = 1;
        base::StoreType store = base::StoreType::Exact;
        std::optional<LoopMemory> memory;
        std::map<std::vector<std::int64_t>, std::optional<DryRun>> single;  // by the rows of a batch
    };
    std::list<Known> m_known;  // most recent first
};

// Returns the row classes for which a batch has registers.
std::vector<ir::RowClass> classesOf(const executor::LoopProgram& program);

}  // namespace hopscope::forecast
