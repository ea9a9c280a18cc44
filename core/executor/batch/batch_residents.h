#pragma once

// Private to executor: provides the parts of resident tables and columns on a GPU that a batch reads.

#include "executor/batch/segment_run.h"
#include "executor/batch/strip_run.h"
#include "executor/rows/block.h"
#include "executor/session/session.h"

namespace hopscope::executor {

// All parts are read in place. Destinations must be ascending, except for source() and picked(). The arguments must
// outlive the object.
class BatchResidents {
public:
    BatchResidents(Session& session, const LoopProgram& program, Block& block)
        : m_session(session),
          m_program(program),
          m_block(block)
    {}

    // Returns the table that contains a value's rows, in the shape that the value gives them. Only a table that the plan
    // divides has places.
    DividedTable source(ir::ValueId value);
    void giveSource(ir::ValueId value, SegmentInputs& in);
    void giveSource(ir::ValueId value, StripInputs& in, std::size_t table);
    // Returns the rows of it that an instruction picks: by number or, if `rows` is undefined, by resident columns.
    at::Tensor picked(const Instruction& pick, at::Tensor rows);
    // Returns the rows of the batch, which are consecutive.
    at::Tensor rows(const Instruction& read);
    // Returns, for each of the rows, the row that the key refers to.
    at::Tensor columns(const ir::RowClass& rows, ir::SpaceId space, ir::KeyId key);
    // Returns the offsets of the batch's destinations, as positions in the whole adjacency.
    at::Tensor offsets(const ir::RowClass& rows);
    // Provide a segment, or strips, with the structure of their messages.
    void give(const Segment& s, SegmentInputs& in);
    void give(const StripPart& part, StripInputs& in);

private:
    at::Tensor table(ir::ValueId value);
    at::Tensor shaped(ir::ValueId value, const at::Tensor& table);
    std::int64_t firstOf(const ir::RowClass& rows);
    const at::Tensor& allColumns(const ir::RowClass& rows, ir::SpaceId space, ir::KeyId key);
    template <class Inputs>
    void givePieces(const ir::RowClass& rows, Inputs& in);

    Session& m_session;
    const LoopProgram& m_program;
    Block& m_block;
};

}  // namespace hopscope::executor
