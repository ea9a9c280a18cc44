#pragma once

// Private to executor: which rows of stores each of several processes with an Ownership reads of others (its halo), and how
// many it keeps itself. Exact, by the frontiers of its ranges.

#include <cstdint>
#include <map>
#include <vector>

#include "executor/owned_ranges.h"

namespace hopscope::executor {

// Rows that follow each other.
struct RowRun {
    std::int64_t first = 0, count = 0;
};
using RowRuns = std::vector<RowRun>;  // ascending, neither overlapping nor touching

// Rows of a value that one process needs of another one.
struct HaloRows {
    ir::ValueId value;
    plan::StageId stage{1};  // that computes them
    int from = 1;
    std::int64_t rows = 0, rowBytes = 0;
    RowRuns runs;
};

class Halo {
public:
    // The arguments must outlive this object. After the prologue. Raises Unsupported if a loop reads all rows of a store at
    // once.
    Halo(Session& session, const StagePrograms& programs, const OwnedRanges& ranges);

    // What later stages of an owner read of others' rows; of the gatherer (0): all rows of the outputs. By stage, value and
    // owner. Linear in the edges of its ranges and in the rows of the stores.
    std::vector<HaloRows> of(int owner);
    // The rows that an owner computes, by stage and value.
    std::vector<HaloRows> ownedBy(int owner);
    // How many those of a value are.
    std::int64_t owned(ir::ValueId value, int owner);
    // The values that the loops of a stage write, and the bytes of a row as it is stored.
    [[nodiscard]] std::vector<ir::ValueId> valuesOf(plan::StageId stage) const;
    [[nodiscard]] std::int64_t rowBytes(ir::ValueId value);

private:
    using Owner = std::uint16_t;
    struct Writer {
        LoopNumber loop;
        ir::RowClass rows;
        auto operator<=>(const Writer&) const = default;
    };
    using Marks = std::map<ir::ValueId, std::vector<bool>>;

    void refuseWhole(const LoopProgram& program) const;
    const std::vector<Owner>& ownersOf(ir::ValueId value);
    std::int64_t rowsOf(ir::ValueId value);
    void mark(const LoopProgram& program, const Destinations& range, Marks& marks);
    HaloRows noneOf(ir::ValueId value, int owner);
    std::vector<HaloRows> split(ir::ValueId value, const std::vector<bool>& wanted, int reader);

    Session& m_session;
    const StagePrograms& m_programs;
    const OwnedRanges& m_ranges;
    std::map<ir::ValueId, Writer> m_writers;
    std::map<Writer, std::vector<Owner>> m_owners;  // of each row
};

}  // namespace hopscope::executor
