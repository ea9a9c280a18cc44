#pragma once

// Private to executor: represents a loop of the plan as instructions on registers. During a batch, a register holds the
// rows of a value in a row class until their last use.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "analysis/rows/classes.h"
#include "base/store_type.h"
#include "executor/program/segment.h"
#include "executor/program/strips.h"
#include "plan/plan.h"

namespace hopscope::executor {

enum class Act : std::uint8_t {
    Read,       // rows of an input, a prologue value or a store
    Pick,       // Tiles and GPU: for each row of a class, the row of a table that a key refers to, read in place
    Narrow,     // the batch's rows, which are the first ones of the frontier
    Positions,  // local row numbers for an index
    Call,       // an operator
    Select,     // rows of a Filter or Perm table, gathered from the parent's
    Concat,     // rows of a Cat table from its parts, in the order of the class
    Segment,    // gather, scale and aggregate by destination, fused: no row is materialised per edge
    Strips,     // a region of steps, computed in strips of edges
    RowDots,    // CPU: a product that is only added up along the last dimension
};

struct Operand {
    ir::Slot slot;
    ir::ValueId value;
    enum Kind : std::uint8_t { InRegister, Whole, Dummy, Index } kind = InRegister;
    Register from = -1;  // InRegister, Index
    ir::RowClass rows = {};
    bool narrow = false;  // Index: the operator takes row numbers of 32 bits
};

struct Instruction {
    Act act = Act::Call;
    ir::OpId op;        // Call, Select, Concat, Segment, Strips, RowDots
    ir::ValueId value;  // Read, Pick, Narrow
    ir::RowClass rows;  // of the results
    std::vector<Operand> operands;
    std::vector<Register> outputs;  // Call: one per output of the operator
    Register input = -1;            // Narrow
    ir::RowClass in;                // Positions: the class within which rows are numbered
    ir::SpaceId space;              // Positions, Pick
    ir::KeyId key;
    bool wide = false;     // Positions: 64 bits, because an operator takes no others
    bool owners = false;   // Positions, GPU: of the destinations that own the rows, derived from the offsets
    bool inOrder = false;  // Read, tiles and GPU: from the value in the order of the adjacency (LoopProgram::owned)
    Segment segment;
    std::shared_ptr<const StripPart> strips;  // its outputs are those of the instruction
    std::vector<ir::OpId> fused;              // Segment, Strips, RowDots: operators besides `op` that it computes
    std::vector<Register> dead;               // registers to empty after the instruction
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

struct Tiling {
    std::int64_t rows = 1;  // destinations per tile
    int workers = 1;
};

struct LoopProgram {
    const plan::Loop* loop = nullptr;
    std::vector<Instruction> instructions;
    std::vector<RegisterInfo> registers;
    std::vector<Written> writes;
    std::vector<Reduced> reductions;
    std::unordered_set<ir::ValueId> leaves;                // inputs, parameters and prologue values that the loop reads
    std::set<std::pair<ir::ValueId, ir::RowClass>> owned;  // Tiles: prologue values read in the order of an adjacency
    std::vector<ir::RowClass> classes;                     // all row classes in use
    std::set<ir::SpaceId> frontiers;                       // node types whose frontier is built for each batch
    std::optional<Tiling> tiling;                          // Tiles
    std::optional<std::int64_t> gpuTile;                   // Gpu, with a journal: destinations per batch (gpu_tiles.h)
    base::StoreType store = base::StoreType::Exact;        // of the stores that it reads and writes
    std::vector<ir::ValueId> inPlace;             // Tiles: tables whose rows are read in place, by global row number
    std::map<ir::ValueId, ir::ValueId> reshaped;  // values that are read in place as rows of another table

    // Returns the table that contains the rows of a value if it is read in place; otherwise the value itself.
    [[nodiscard]] ir::ValueId tableOf(ir::ValueId value) const
    {
        const auto base = reshaped.find(value);
        return base == reshaped.end() ? value : base->second;
    }
};

// The way in which a loop is run.
enum class Way : std::uint8_t {
    Gpu,
    Batches,  // CPU: sequentially, each with a block and its frontier
    Tiles,    // CPU: in parallel; tables are read in place if that saves building the frontier (tiles.h)
};

// Returns whether kernels can read rows of the value's table in place. Strips require rows of their own type.
using InPlace = std::function<bool(ir::ValueId, bool inStrips)>;

// Compiles a loop. `stored` contains the values that earlier stages write; `families` determines the steps computed in
// strips. In batches on a CPU, all frontiers of the loop are built, because their rows are
// counted; otherwise, frontiers that are only read in place are not. Raises Internal if the plan uses a value that is
// neither stored nor computed.
LoopProgram compileLoop(const analysis::Analysis& analysis, const plan::Loop& loop,
                        const std::unordered_set<ir::ValueId>& stored, const InPlace& readInPlace, Way way,
                        const Families& families);

// Complete a loop that is being compiled: markWide() determines which row numbers need 64 bits, and markDead() after
// which instruction each register is emptied.
void markWide(LoopProgram& program);
void markDead(LoopProgram& program);

// Returns the values without rows that the loop's operators use, without duplicates, in order of first use.
std::vector<ir::ValueId> wholeOperands(const LoopProgram& program);

// Returns the node types that have a frontier that some instruction computes or reads. Tables read in place do not
// count.
std::set<ir::SpaceId> frontiersUsed(const LoopProgram& program);

// Returns the number that all elements of the value have if its operator is a fill.
std::optional<double> fillNumber(const ir::Program& program, ir::ValueId value);

}  // namespace hopscope::executor
