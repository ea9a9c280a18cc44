#include "executor/forecast/traffic.h"

#include "analysis/stored.h"
#include "executor/failure.h"
#include "executor/structure/in_place_bytes.h"

namespace hopscope::forecast {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::int64_t numberBytes = 8;  // of a row number

class Replay {
public:
    Replay(const analysis::Analysis& analysis, executor::Structure& structure, const executor::LoopProgram& program,
           const executor::ResidentChoice& choice)
        : m_analysis(analysis),
          m_structure(structure),
          m_program(program),
          m_choice(choice)
    {}

    Traffic run()
    {
        for (const executor::Instruction& i : m_program.instructions) instruction(i);
        for (const plan::FrontierSource& s : m_program.loop->frontier)
            if (m_program.frontiers.contains(s.type)) count({RowKind::Frontier, s.type, {}});
        for (const executor::Written& w : m_program.writes) write(w);
        for (const auto& [value, bytes] : executor::inPlaceBytes(m_analysis, m_structure, m_program))
            countRead(m_traffic.once, value, bytes);
        m_traffic.hostReads = m_choice.hostReads(m_program, m_structure);
        return std::move(m_traffic);
    }

private:
    // ---- the work of a batch

    void instruction(const executor::Instruction& i)
    {
        switch (i.act) {
        case executor::Act::Read: return read(i);
        case executor::Act::Pick: return pick(i);
        case executor::Act::Narrow: return count(i.rows);
        case executor::Act::Positions: return i.owners ? owners(i) : positions(i.rows, i.space, i.key, i.in);
        case executor::Act::RowDots:
        case executor::Act::Call: return counts(i);
        case executor::Act::Select: return select(i);
        case executor::Act::Concat: return concat(i);
        case executor::Act::Segment: return segment(i);
        case executor::Act::Strips: return strips(i);
        }
    }

    void read(const executor::Instruction& i)
    {
        if (m_choice.skips(i)) return counts(i);
        if (i.rows.kind != RowKind::Batch && !i.inOrder) rows(i.rows);
        if (!m_choice.holds(i.value)) countRead(m_traffic.rows[i.rows], i.value, bytesOfRow(i.value));
        counts(i);
    }

    void select(const executor::Instruction& i)
    {
        rows(i.rows);
        look(i.operands.at(0).rows);
        counts(i);
    }

    void concat(const executor::Instruction& i)
    {
        rows(i.rows);
        for (const executor::Operand& o : i.operands) count(o.rows);
        for (const executor::Operand& o : i.operands) look(o.rows);
        counts(i);
    }

    void segment(const executor::Instruction& i)
    {
        if (!m_choice.skips(i)) along(i.segment);
        counts(i);
    }

    void strips(const executor::Instruction& i)
    {
        if (m_choice.skips(i)) return counts(i);
        bool inPlace = false;
        for (const executor::StripTableSource& t : i.strips->tables) {
            if (!t.inPlace()) continue;
            along(t.place);
            inPlace = true;
        }
        if (!inPlace) offsets(i.strips->messages);
        counts(i);
    }

    void along(const executor::Segment& s)
    {
        const ir::ValueId table = m_program.tableOf(s.source);
        const bool there = s.from < 0 && (m_choice.holds(table) || m_choice.divides(table));
        if (m_program.tiling && s.from < 0 && executor::isSliced(s.messages, s.columnSpace, s.columnKey))
            return slice(s.messages, s.columnSpace, s.columnKey);
        offsets(s.messages);
        if (s.from < 0) globals(s.messages, s.columnSpace, s.columnKey);
        if (s.from < 0 && !there && !m_program.tiling) {
            count(s.sourceRows);
            countRead(m_traffic.rows[s.sourceRows], s.source, strideBytes(s.source));
        }
    }

    // A GPU finds them from the offsets.
    void owners(const executor::Instruction& i)
    {
        if (!m_choice.skips(i)) offsets(i.rows);
    }

    void pick(const executor::Instruction& i)
    {
        if (m_choice.skips(i)) return counts(i);
        if (m_program.tiling && executor::isSliced(i.rows, i.space, i.key)) slice(i.rows, i.space, i.key);
        else globals(i.rows, i.space, i.key);
        counts(i);
    }

    void slice(const RowClass& on, ir::SpaceId space, ir::KeyId key)
    {
        m_structure.ownedColumn(space, on.key, key);  // by all cores; the tiles of a run would make it one by one
        m_traffic.rows[on].structure += m_structure.numberBytes(space, key);
        m_traffic.rows[batch()].structure += numberBytes;
    }

    void write(const executor::Written& w)
    {
        if (w.rows.kind != RowKind::Batch) rows(w.rows);
        if (m_choice.onlyHere(w.value)) return;
        m_traffic.rows[w.rows].written += bytesOfRow(w.value);
    }

    // Results are checked against the rows of their class, and counting a frontier makes it.
    void counts(const executor::Instruction& i)
    {
        count(i.rows);
        for (const executor::Operand& o : i.operands) count(o.rows);
    }

    void countRead(Traffic::PerRow& row, ir::ValueId value, std::int64_t bytes)
    {
        if (m_analysis.info(value).structureOnly) row.structure += bytes;
        else row.read[value] += bytes;
    }

    // ---- the parts of a block, each made once

    void made(const RowClass& on)
    {
        m_traffic.rows[on].structure += numberBytes;
        m_traffic.rows[on].numbers += numberBytes;
    }

    void count(const RowClass& on)
    {
        if (on.kind == RowKind::Frontier) frontier(on);
    }

    void rows(const RowClass& on)
    {
        if (on.kind == RowKind::Frontier) return frontier(on);
        if (m_rows.insert(on).second) made(on);
    }

    void offsets(const RowClass& on)
    {
        if (!m_offsets.insert(on).second) return;
        made(batch());
        m_traffic.numbersPerBatch += numberBytes;
    }

    void globals(const RowClass& on, ir::SpaceId space, ir::KeyId key)
    {
        if (m_globals.contains({on, space, key})) return;
        const bool ownedRows = on.kind == RowKind::Owned && on.table == space;
        if (ownedRows && on.key == key) {
            rows(batch());
            offsets(on);
        } else if (!ownedRows) {
            rows(on);
            if (m_structure.column(space, key).identity()) return;
        }
        made(on);
        m_globals.insert({on, space, key});
    }

    void positions(const RowClass& on, ir::SpaceId space, ir::KeyId key, const RowClass& in)
    {
        count(in);
        if (m_positions.contains({on, space, key, in})) return;
        const bool own = in.kind == RowKind::Batch && in.table == m_program.loop->destination &&
                         on == analysis::owned(m_analysis, space, key);
        if (!(on == in && m_structure.column(space, key).identity())) {
            if (own) {
                offsets(on);
            } else {
                globals(on, space, key);
                look(in);
            }
        }
        made(on);
        m_positions.insert({on, space, key, in});
    }

    void look(const RowClass& in)
    {
        if (in.kind != RowKind::Batch) rows(in);
    }

    void frontier(const RowClass& self)
    {
        if (!m_rows.insert(self).second) return;
        for (const plan::FrontierSource& source : m_program.loop->frontier) {
            if (source.type != self.table) continue;
            const RowClass on = analysis::owned(m_analysis, source.space, source.owner);
            globals(on, source.space, source.key);
            made(on);
            m_positions.insert({on, source.space, source.key, self});
        }
        made(self);
    }

    [[nodiscard]] RowClass batch() const { return {RowKind::Batch, m_program.loop->destination, {}}; }

    // ---- tables

    std::int64_t bytesOfRow(ir::ValueId value)
    {
        const std::int64_t bytes = executor::rowBytes(m_analysis, value, m_structure.sizes());
        return analysis::storedBytes(m_analysis, value, m_program.store, bytes);
    }

    // The bytes between rows of a table that is read in place: those of an input may lie apart.
    std::int64_t strideBytes(ir::ValueId value)
    {
        if (m_analysis.program.value(value).origin == ir::Origin::Op) return bytesOfRow(value);
        const at::Tensor table = m_structure.value(value);
        return table.stride(0) * static_cast<std::int64_t>(table.element_size());
    }

    const analysis::Analysis& m_analysis;
    executor::Structure& m_structure;
    const executor::LoopProgram& m_program;
    const executor::ResidentChoice& m_choice;
    Traffic m_traffic;
    std::set<RowClass> m_rows, m_offsets;
    std::set<std::tuple<RowClass, ir::SpaceId, ir::KeyId>> m_globals;
    std::set<std::tuple<RowClass, ir::SpaceId, ir::KeyId, RowClass>> m_positions;
};

}  // namespace

Traffic trafficOf(const analysis::Analysis& analysis, executor::Structure& structure,
                  const executor::LoopProgram& program, const executor::ResidentChoice& choice)
{
    return Replay(analysis, structure, program, choice).run();
}

}  // namespace hopscope::forecast
