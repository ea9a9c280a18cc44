#pragma once

// Private to forecast: what a run on a CPU will hold outside of its batches.

#include <map>
#include <set>

#include "executor/prologue.h"

namespace hopscope::forecast {

class Outside {
public:
    using MakeStructure = std::function<std::unique_ptr<executor::Structure>(std::stop_token)>;

    // `structure` is one that has been made already: what it holds is not what a run will hold.
    Outside(const analysis::Analysis& analysis, executor::Structure& structure, MakeStructure fresh, std::string folder)
        : m_analysis(analysis),
          m_structure(structure),
          m_fresh(std::move(fresh)),
          m_folder(std::move(folder))
    {}

    // Before the first batch: all tensors of the process, and what the prologue makes. That is found by making it where
    // the graph is small; of a large one whatever has rows is mapped. Remembers prologues.
    std::int64_t before(const executor::StagePrograms& programs, std::stop_token stop);
    // Values without rows that the batches of a loop evaluate, and that stay.
    [[nodiscard]] std::set<ir::ValueId> evaluatedBy(const executor::LoopProgram& program) const;
    std::int64_t bytes(ir::ValueId value);  // of such a value, as the allocator counts

private:
    std::int64_t prologue(const executor::StagePrograms& programs, const std::set<ir::ValueId>& values,
                          std::stop_token stop);
    std::optional<std::int64_t> made(const executor::StagePrograms& programs, std::stop_token stop);
    [[nodiscard]] bool evaluated(ir::ValueId value) const;

    const analysis::Analysis& m_analysis;
    executor::Structure& m_structure;
    MakeStructure m_fresh;
    std::string m_folder;
    std::map<std::set<ir::ValueId>, std::int64_t> m_prologues;
};

}  // namespace hopscope::forecast
