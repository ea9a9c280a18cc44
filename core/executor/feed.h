#pragma once

// Private to executor: what the instructions of a batch get from the host: rows of tables, row numbers, offsets. It calls no
// operator and touches no device, so that a thread of its own can prepare a batch while another one is computed.

#include <functional>
#include <vector>

#include "executor/loop_program.h"
#include "executor/phases.h"
#include "executor/session.h"
#include "kernels/segment.h"

namespace hopscope::executor {

// What one instruction is given; undefined tensors where it asks for nothing of the kind.
struct Given {
    // Read: rows of the table, or their numbers where the table is on the device. Positions, Select, Concat: row numbers.
    // Segment in place: columns.
    at::Tensor rows;
    at::Tensor offsets;  // Segment
    at::Tensor pieces;   // Segment: of its hubs, as bytes
};

class Feed {
public:
    // Memory for rows that are copied; none: LibTorch's.
    using Buffer = std::function<at::Tensor(at::IntArrayRef shape, at::ScalarType dtype)>;

    Feed(Session& session, const LoopProgram& program, Block& block)
        : m_session(session),
          m_program(program),
          m_block(block)
    {}

    // For one instruction, as the CPU uses it: a batch's own rows stay where they lie.
    Given give(const Instruction& i);
    // For all, copied into `buffer` and with row numbers of 32 bits where they fit, in the order of the instructions; then
    // the row numbers of what is written into tables on the device.
    std::vector<Given> stage(const Buffer& buffer);
    // What `stage` asks of its buffer, each piece rounded as StagingChunk does. Makes the batch's row numbers.
    std::int64_t stagingBytes();
    // Numbers of the rows that `written` has; made on the way.
    at::Tensor writtenRows(const Written& written);
    // What the instruction needs is on the device already.
    [[nodiscard]] bool skips(const Instruction& i) const;
    // Rows are picked there, by their numbers.
    [[nodiscard]] bool picksThere(const Instruction& i) const;

    void clear();
    [[nodiscard]] const PhaseTimes& times() const { return m_times; }
    [[nodiscard]] std::int64_t readBytes() const { return m_readBytes; }
    [[nodiscard]] std::int64_t structureBytes() const { return m_structureBytes; }

private:
    template <class Work>
    auto timed(Phase phase, Work&& work)
    {
        return m_times.time(phase, m_session.began(), std::forward<Work>(work));
    }
    at::Tensor numbers(const Instruction& i);
    at::Tensor read(const Instruction& i, const Buffer* buffer);
    at::Tensor rowsOf(const Instruction& i, const Buffer* buffer);
    at::Tensor narrowed(const at::Tensor& numbers, const Buffer& buffer);
    Given staged(const Instruction& i, const Buffer& buffer);
    Given stagedSegment(const Instruction& i, const Buffer& buffer);
    std::vector<kernels::HubPiece> hubsInPlace(const ir::RowClass& messages);
    void countRead(ir::ValueId value, std::int64_t bytes);
    void countInPlace(const Segment& s);
    std::int64_t tableRowBytes(ir::ValueId value);

    Session& m_session;
    const LoopProgram& m_program;
    Block& m_block;
    PhaseTimes m_times;
    std::map<ir::RowClass, Given> m_offsets;  // staged once per class
    std::int64_t m_readBytes = 0, m_structureBytes = 0;
};

}  // namespace hopscope::executor
