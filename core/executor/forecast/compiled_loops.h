#pragma once

// Private to forecast: compiles loops as for a run and keeps the figures derived from them. Successive plans share most
// of their loops, which are compiled only once on a CPU.

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "executor/forecast/outside.h"
#include "executor/forecast/predict.h"
#include "executor/forecast/timing.h"
#include "executor/forecast/traffic.h"
#include "executor/loop/batching.h"
#include "executor/loop/loop_compiler.h"

namespace hopscope::forecast {

struct CompiledLoop {
    std::shared_ptr<const plan::Loop> loop;  // the loop of the program, if it is not the plan's own
    executor::LoopProgram program;
    Traffic traffic;
    executor::MemoryModel memory;
    std::set<ir::ValueId> evaluated;       // CPU: see Outside::evaluatedBy
    std::map<std::int64_t, Timing> times;  // CPU: by destinations per batch, on the machine of CompiledLoops::timedOn
};

class CompiledLoops {
public:
    // Both arguments must outlive this object.
    CompiledLoops(const analysis::Analysis& analysis, executor::Structure& structure)
        : m_analysis(analysis),
          m_structure(structure)
    {}

    // Sets the options of the calls that follow, and discards loops that were compiled for different options. Later
    // calls of `onCpu` must use a compiler for these options.
    void begin(const PredictOptions& options);
    // Returns a loop compiled for a CPU. `stored` contains the values that earlier stages write. Raises the failures of
    // compileLoop().
    std::shared_ptr<CompiledLoop> onCpu(const plan::Loop& loop, const executor::StoredValues& stored,
                                        const executor::LoopCompiler& compiler, const executor::ResidentChoice& choice,
                                        const Outside& outside);
    // Returns a loop of a GPU, which is not kept.
    std::shared_ptr<CompiledLoop> onGpu(const executor::LoopProgram& program, const executor::ResidentChoice& choice);
    // Discards times that were computed for a different machine.
    void timedOn(const plan::Machine& machine);

private:
    struct Known {
        std::shared_ptr<const plan::Loop> loop;
        std::vector<ir::ValueId> stored;                      // among those it computes and reads, ascending
        std::optional<executor::LoopProgram> tiles;           // if there may be tiles
        std::vector<std::shared_ptr<CompiledLoop>> compiled;  // by tiling, which depends on the free memory
    };

    [[nodiscard]] std::vector<ir::ValueId> storedOf(const plan::Loop& loop, const executor::StoredValues& stored) const;
    Known& known(const plan::Loop& loop, const executor::StoredValues& stored, const executor::LoopCompiler& compiler);
    std::shared_ptr<CompiledLoop> made(executor::LoopProgram program, const executor::LoopProgram& allocated, bool gpu,
                                       const executor::ResidentChoice& choice);
    [[nodiscard]] executor::LoopProgram withoutOwnRows(executor::LoopProgram program) const;

    const analysis::Analysis& m_analysis;
    executor::Structure& m_structure;
    std::list<Known> m_known;  // most recent first
    std::optional<plan::Machine> m_machine;
    bool m_byBatch = false;
    std::vector<base::Fuse> m_fuse;
    base::StoreType m_store = base::StoreType::Exact;
};

}  // namespace hopscope::forecast
