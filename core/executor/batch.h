#pragma once

// Private to executor: runs the instructions of a loop for one batch.

#include <array>

#include "executor/loop_program.h"
#include "executor/session.h"

namespace hopscope::executor {

struct BatchCost {
    std::array<double, phaseCount> seconds{};
    std::array<double, phaseCount> starts{};
    std::int64_t readBytes = 0, structureBytes = 0, writtenBytes = 0;
};

class Batch {
public:
    Batch(Session& session, const LoopProgram& program, Block& block);

    // All instructions. Nothing is written or merged before `commit`, so that a batch that runs out of memory can be redone.
    void compute();
    // Hands what it has reduced to the reductions of the loop.
    void merge();
    // Merges, and hands the rows to their stores.
    void commit();
    // Drops every register.
    void clear();

    [[nodiscard]] const BatchCost& cost() const { return m_cost; }
    BatchCost& cost() { return m_cost; }

private:
    void run(const Instruction& i);
    void read(const Instruction& i);
    void call(const Instruction& i);
    void select(const Instruction& i);
    void concat(const Instruction& i);
    void segment(const Instruction& i);
    at::Tensor gatherRows(ir::ValueId value, const ir::RowClass& rows);
    at::Tensor operand(const Instruction& i, const Operand& o);
    at::Tensor shapedIndex(const Instruction& i, const Operand& o);
    at::Tensor dummy(const Instruction& i, const Operand& o);
    std::optional<std::int64_t> localSize(const Instruction& i, ir::SpaceId space);
    std::int64_t requiredSize(const Instruction& i, ir::SpaceId space);
    CallContext context(const Instruction& i);
    bool reuse(const Instruction& i);
    void check(const Instruction& i, ir::ValueId value, const at::Tensor& result);
    void countRead(ir::ValueId value, std::int64_t bytes);
    void contributions();
    void write(const Written& w);
    at::Tensor& reg(Register r) { return m_registers[static_cast<std::size_t>(r)]; }

    template <class F>
    auto timed(Phase phase, F&& work);

    Session& m_session;
    const LoopProgram& m_program;
    Block& m_block;
    std::vector<at::Tensor> m_registers;
    std::vector<bool> m_owned;  // made by an operator here: may be written over
    std::vector<std::pair<ir::OpId, Contribution>> m_contributions;
    BatchCost m_cost;
};

}  // namespace hopscope::executor
