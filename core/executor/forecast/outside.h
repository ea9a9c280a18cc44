#pragma once

// Private to forecast: predicts the memory that a run on a CPU holds outside its batches.

#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "executor/loop/prologue.h"

namespace hopscope::forecast {

class Outside {
public:
    using MakeStructure = std::function<std::unique_ptr<executor::Structure>(std::stop_token)>;

    // `structure` is used only for sizes, because its contents may differ from those during a run; `fresh` makes a new
    // one.
    Outside(const analysis::Analysis& analysis, executor::Structure& structure, MakeStructure fresh, std::string folder)
        : m_analysis(analysis),
          m_structure(structure),
          m_fresh(std::move(fresh)),
          m_folder(std::move(folder))
    {}

    // Returns the bytes held before the first batch: those of all tensors of the process (of `structure` only if it is
    // kept during the run), and those that the prologue computes and keeps. If the graph is small, the latter are
    // determined by computing the prologue; on a large graph, by the sizes of values that are not spilled. Results are
    // cached.
    std::int64_t before(const std::vector<const executor::LoopProgram*>& programs, bool staysBeside,
                        std::stop_token stop);
    // Returns the same at the peak of the prologue, whose intermediate values are freed before the first batch. On a
    // large graph, returns an upper bound if it is at most `allowed`; otherwise computes the prologue.
    std::int64_t most(const std::vector<const executor::LoopProgram*>& programs, std::int64_t allowed,
                      std::stop_token stop);
    // Returns the values without rows that are evaluated during a loop and kept until the end of the run.
    [[nodiscard]] std::set<ir::ValueId> evaluatedBy(const executor::LoopProgram& program) const;
    std::int64_t bytes(ir::ValueId value);  // bytes of such a value, as counted by the allocator

private:
    struct Prologue {
        std::int64_t held = 0, peak = 0;
        bool bounded = false;  // by the sizes of the values that it keeps
    };
    Prologue& prologue(const std::vector<const executor::LoopProgram*>& programs, std::stop_token stop);
    [[nodiscard]] bool isSmall() const;
    Prologue bounded(const std::set<ir::ValueId>& kept);
    std::int64_t mostMade();
    std::int64_t anonymousBytes(ir::ValueId value);
    std::optional<Prologue> made(const std::vector<const executor::LoopProgram*>& programs, std::stop_token stop);
    std::int64_t besides() const;
    [[nodiscard]] bool evaluated(ir::ValueId value) const;

    const analysis::Analysis& m_analysis;
    executor::Structure& m_structure;
    MakeStructure m_fresh;
    std::string m_folder;
    std::unordered_set<ir::ValueId> m_always;  // values of the prologue that every plan uses; empty: unknown so far
    std::map<std::set<ir::ValueId>, Prologue> m_prologues;
};

}  // namespace hopscope::forecast
