#pragma once

// Private to executor: a loop of the plan as a list of instructions on registers. A register holds one value on one row
// class for one batch; it is emptied after its last use.

#include <functional>
#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "analysis/rows/classes.h"
#include "plan/plan.h"

namespace hopscope::executor {

using Register = int;

enum class Act : std::uint8_t {
    Read,       // rows of an input, a prologue value or a store
    Narrow,     // the batch's rows, which come first in the frontier
    Positions,  // local row numbers for an index
    Call,       // an operator
    Select,     // rows of a Filter or Perm table picked from the parent
    Concat,     // rows of a Cat table from its parts, in the order of the class
    Segment,    // gather, scale and combine by destination without a row per edge
};

struct Operand {
    ir::Slot slot;
    ir::ValueId value;
    enum Kind : std::uint8_t { InRegister, Whole, Dummy, Index } kind = InRegister;
    Register from = -1;  // InRegister, Index
    ir::RowClass rows;
};

enum class Combination : std::uint8_t { Sum, Mean, Max, Min };

struct Segment {
    ir::ValueId source;     // the rows that are gathered, or the messages themselves
    Register from = -1;     // -1: read from the whole table in place
    Register columns = -1;  // -1: messages, in the order of the class
    Register weight = -1;   // -1: none
    ir::ValueId weightValue;
    ir::RowClass messages, sourceRows;
    ir::SpaceId columnSpace;  // in place: whose rows the columns are
    ir::KeyId columnKey;
    std::int64_t width = 1, heads = 1;
    Combination combination = Combination::Sum;
    double empty = 0;
};

struct Instruction {
    Act act = Act::Call;
    ir::OpId op;        // Call, Select, Concat, Segment
    ir::ValueId value;  // Read, Narrow
    ir::RowClass rows;  // of the results
    std::vector<Operand> operands;
    std::vector<Register> outputs;  // Call: one per output of the operator
    Register input = -1;            // Narrow
    ir::RowClass in;                // Positions: the class that is numbered
    ir::SpaceId space;              // Positions
    ir::KeyId key;
    bool wide = false;  // Positions: somebody else than a segment reads them
    Segment segment;
    std::vector<Register> dead;  // emptied afterwards
};

struct Written {
    ir::ValueId value;
    ir::RowClass rows;
    Register from = -1;
};

struct Reduced {
    ir::OpId op;
    ir::RowClass rows;
    std::vector<Operand> operands;
};

struct RegisterInfo {
    ir::ValueId value;  // invalid for positions
    ir::RowClass rows;
    double bytesPerRow = 0;
};

struct LoopProgram {
    const plan::Loop* loop = nullptr;
    std::vector<Instruction> instructions;
    std::vector<RegisterInfo> registers;
    std::vector<Written> writes;
    std::vector<Reduced> reductions;
    std::unordered_set<ir::ValueId> leaves;  // inputs, parameters and prologue values that the loop reads
    std::vector<ir::RowClass> classes;       // partitions in use
    std::set<ir::SpaceId> frontiers;         // types whose frontier batches make
};

// Whether the rows of a whole table can be read where they lie.
using InPlace = std::function<bool(ir::ValueId)>;

// `stored`: values that earlier stages have written. `gpu`: a frontier that is only read in place is not made; on a CPU its
// rows are counted. Raises Internal if the plan wants a value that is not there.
LoopProgram compileLoop(const analysis::Analysis& analysis, const plan::Loop& loop,
                        const std::unordered_set<ir::ValueId>& stored, const InPlace& readInPlace, bool gpu);

// Values without rows that the loop's operators use, in order, each once.
std::vector<ir::ValueId> wholeOperands(const LoopProgram& program);

// Types of which an instruction makes or reads a frontier, apart from tables that are read in place.
std::set<ir::SpaceId> frontiersUsed(const LoopProgram& program);

// The one number that fills the tensor, if the operator that makes it is a fill.
std::optional<double> fillNumber(const ir::Program& program, ir::ValueId value);

}  // namespace hopscope::executor
