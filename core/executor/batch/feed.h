#pragma once

// Private to executor: provides the instructions of a batch with data from the host: rows of tables, row numbers,
// offsets. Calls neither operators nor the device, so that another thread can prepare a batch while the previous one is
// computed.

#include <set>
#include <tuple>
#include <vector>

#include "executor/device/phases.h"
#include "executor/program/loop_program.h"
#include "executor/rows/pick_rows.h"
#include "executor/session/session.h"
#include "executor/stores/window.h"
#include "kernels/segment.h"

namespace hopscope::executor {

// The data for an instruction. Tensors that it does not need are undefined.
struct Given {
    // Read, Pick: rows of the table, or their numbers where the table is on the device. Positions, Select, Concat: row
    // numbers. Segment in place: columns.
    at::Tensor rows;
    at::Tensor offsets;                    // Segment; Strips on a GPU, with pieces
    at::Tensor pieces;                     // Segment: the parts into which rows with many edges are divided, as bytes
    std::vector<at::Tensor> columns = {};  // Strips, GPU: by table; undefined if it is not read in place
    // Segment: rows and offsets are parts of those of the whole graph, see SegmentInputs.
    std::int64_t first = 0, count = -1;

    template <class Work>
    void each(const Work& work)
    {
        for (at::Tensor* const t : {&rows, &offsets, &pieces}) work(*t);
        for (at::Tensor& t : columns) work(t);
    }
};

class Feed {
public:
    using Buffer = RowBuffer;

    // `window` is set for tiles whose tables do not fit into memory; otherwise it is null.
    Feed(Session& session, const LoopProgram& program, Block& block, const Window* window = nullptr)
        : m_session(session),
          m_program(program),
          m_block(block),
          m_window(window)
    {}

    // Returns the data for one instruction on a CPU. Ranges of rows are views of their table, not copies.
    Given give(const Instruction& i);
    // CPU: returns the rows and offsets that a gather in place needs.
    Given along(const Segment& s);
    // CPU: returns the rows of a value that is read in place.
    at::Tensor inPlace(ir::ValueId value);
    // Returns the data for all instructions in order, copied into `buffer`, with 32-bit row numbers where these
    // suffice. The row numbers of everything that is written to tables on the device follow.
    std::vector<Given> stage(const Buffer& buffer);
    // Returns the bytes that stage() needs in its buffer, with each piece rounded as by StagingChunk. Computes the
    // batch's row numbers.
    std::int64_t stagingBytes();
    // Returns whether the rows are consecutive in the value's table, from the first position of the batch on.
    [[nodiscard]] bool follow(ir::ValueId value, const ir::RowClass& rows) const;
    // Returns the numbers of the rows in that table, computed on demand.
    at::Tensor rowNumbers(ir::ValueId value, const ir::RowClass& rows);
    // Returns whether all data of the instruction is already on the device.
    [[nodiscard]] bool skips(const Instruction& i) const;
    // Returns whether the instruction's rows are gathered on the device, by row number.
    [[nodiscard]] bool picksThere(const Instruction& i) const;

    void clear();
    [[nodiscard]] const PhaseTimes& times() const { return m_times; }
    [[nodiscard]] std::int64_t readBytes() const { return m_readBytes; }
    [[nodiscard]] std::int64_t structureBytes() const { return m_structureBytes; }

private:
    using Columns = std::tuple<ir::RowClass, ir::SpaceId, ir::KeyId>;

    template <class Work>
    auto timed(Phase phase, Work&& work)
    {
        return m_times.time(phase, m_session.began(), std::forward<Work>(work));
    }
    at::Tensor numbers(const Instruction& i);
    at::Tensor columns(const Segment& s);
    at::Tensor columns(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key, Numbers numbers);
    at::Tensor computed(ir::ValueId value, at::Tensor rows);
    at::Tensor read(const Instruction& i, const Buffer* buffer);
    at::Tensor rowsOf(const Instruction& i, const Buffer* buffer);
    at::Tensor inOrder(const Instruction& i);
    at::Tensor inOrder(const Instruction& i, const Buffer* buffer);
    at::Tensor narrowed(const at::Tensor& numbers, std::int64_t most, const Buffer& buffer);
    std::int64_t mostOf(const Instruction& i);
    std::int64_t mostOf(const Segment& s);
    std::int64_t mostOf(const Written& w);
    Given staged(const Instruction& i, const Buffer& buffer);
    Given stagedSegment(const Instruction& i, const Buffer& buffer);
    Given stagedStrips(const Instruction& i, const Buffer& buffer);
    at::Tensor stagedColumns(const Segment& s, const Buffer& buffer);
    at::Tensor stagedOffsets(const ir::RowClass& rows, const Buffer& buffer);
    at::Tensor stagedPieces(const ir::RowClass& rows, const Buffer& buffer);
    void countRead(ir::ValueId value, std::int64_t bytes);
    void countInPlace(const Segment& s);
    at::Tensor picked(const Instruction& i);
    at::Tensor numbered(ir::ValueId value, const ir::RowClass& on, ir::SpaceId space, ir::KeyId key);
    const at::Tensor* inWindow(ir::ValueId value);
    struct Counted {
        std::set<ir::RowClass> offsets, pieces;  // those that an earlier instruction has provided
        std::set<Columns> columns;
    };
    std::int64_t stagingBytes(const Instruction& i, Counted& counted);
    std::int64_t stagingBytes(const StripPart& part, Counted& counted);
    std::int64_t offsetBytes(const ir::RowClass& rows, Counted& counted);
    std::int64_t pieceBytes(const ir::RowClass& rows, Counted& counted);
    std::int64_t rowBytesOf(const Instruction& i);
    [[nodiscard]] bool isPinned(const Instruction& i) const;

    Session& m_session;
    const LoopProgram& m_program;
    Block& m_block;
    const Window* m_window;
    PhaseTimes m_times;
    std::map<ir::RowClass, at::Tensor> m_offsets, m_pieces;  // staged once per class
    std::map<Columns, at::Tensor> m_columns;                 // staged once for strips
    std::int64_t m_readBytes = 0, m_structureBytes = 0;
};

}  // namespace hopscope::executor
