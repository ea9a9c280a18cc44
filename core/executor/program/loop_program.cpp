#include "executor/program/loop_program.h"

#include <algorithm>
#include <set>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "executor/failure.h"
#include "executor/program/fuse.h"
#include "executor/program/in_place.h"
#include "executor/recipes.h"
#include "operators/operators.h"

namespace hopscope::executor {

using analysis::OpKind;
using analysis::Use;
using ir::RowClass;
using ir::RowKind;

namespace {

class Compiler {
public:
    Compiler(const analysis::Analysis& analysis, const plan::Loop& loop, const std::unordered_set<ir::ValueId>& stored,
             const InPlace& inPlace, Way way, const Families& families)
        : m_analysis(analysis),
          m_program(analysis.program),
          m_loop(loop),
          m_stored(stored),
          m_way(way),
          m_uses(operandUses()),
          m_fuser(analysis, loop, m_uses, families),
          m_tables(analysis, loop, m_uses, m_fuser, {.stored = stored, .suitable = inPlace, .way = way})
    {
        m_result.loop = &loop;
        for (const plan::Step& s : loop.steps)
            for (ir::ValueId v : m_program.op(s.op).outputs) m_computed.insert({v, s.rows});
    }

    LoopProgram run()
    {
        for (const int i : stepsWithRegions(m_analysis, m_loop, m_uses, m_fuser.regions()))
            if (const StripRegion* const region = regionEndingAt(i)) strips(*region);
            else if (!m_fuser.vanished(i) && !m_tables.needless(i)) step(i);
        for (const plan::Access& w : m_loop.writes)
            m_result.writes.push_back({.value = w.value, .rows = w.rows, .from = fetch(w.value, w.rows)});
        for (const plan::Step& r : m_loop.reductions) m_result.reductions.push_back(reduction(r));
        markWide(m_result);
        markDead(m_result);
        return std::move(m_result);
    }

private:
    using Held = std::pair<ir::ValueId, RowClass>;

    std::vector<StepUse> operandUses() const
    {
        std::vector<StepUse> uses;
        for (const plan::Step& s : m_loop.steps) {
            auto operands = analysis::operandRows(m_analysis, s.op, s.rows);
            if (!operands)
                raise(base::ErrorCode::Internal,
                      "the plan computes an operator on rows on which it is not defined: " +
                          analysis::rowsLabel(m_analysis.tables, s.rows),
                      {}, place(s.op));
            uses.push_back({std::move(*operands)});
        }
        return uses;
    }

    std::string place(ir::OpId op) const { return ir::describeOp(m_program.op(op)); }

    // ---- registers

    Register newRegister(ir::ValueId value, const RowClass& rows, double bytesPerRow)
    {
        m_result.registers.push_back({.value = value, .rows = rows, .bytesPerRow = bytesPerRow});
        includeClass(rows);
        return static_cast<Register>(m_result.registers.size()) - 1;
    }

    void includeClass(const RowClass& rows)
    {
        std::vector<RowClass>& known = m_result.classes;
        if (rows.kind == RowKind::Owned && std::find(known.begin(), known.end(), rows) == known.end())
            known.push_back(rows);
    }

    double bytesPerRow(ir::ValueId value) const
    {
        double bytes = static_cast<double>(base::itemSize(m_program.value(value).dtype));
        for (std::int64_t n : rowShape(m_analysis, value)) bytes *= static_cast<double>(n);
        return bytes;
    }

    Register valueRegister(ir::ValueId value, const RowClass& rows, bool view = false)
    {
        const Register r = newRegister(value, rows, view ? 0 : bytesPerRow(value));
        m_held[{value, rows}] = r;
        return r;
    }

    // ---- where a value comes from

    Register fetch(ir::ValueId value, const RowClass& rows)
    {
        const auto it = m_held.find({value, rows});
        if (it != m_held.end()) return it->second;
        if (rows.kind == RowKind::Batch && m_tables.isReshaped(value)) return local(value, rows);
        if (m_computed.contains({value, rows})) orderBroken(value, rows);
        if (rows.kind == RowKind::Batch && inFrontier(value, rows.table)) return narrow(value, rows);
        if (isRecipe(m_analysis, value)) return local(value, rows);
        if (!m_analysis.available(value) && !m_stored.contains(value))
            raise(base::ErrorCode::Internal,
                  "the plan needs a value that is neither stored nor computed in its stage: " + nameOn(value, rows), {},
                  analysis::placeOfValue(m_analysis, value));
        return read(value, rows);
    }

    [[noreturn]] void orderBroken(ir::ValueId value, const RowClass& rows) const
    {
        raise(base::ErrorCode::Internal, "the plan uses " + nameOn(value, rows) + " before it computes this value", {},
              analysis::placeOfValue(m_analysis, value));
    }

    std::string nameOn(ir::ValueId value, const RowClass& rows) const
    {
        return analysis::nameOfValue(m_analysis, value) + " on " + analysis::rowsLabel(m_analysis.tables, rows);
    }

    bool inFrontier(ir::ValueId value, ir::SpaceId type) const
    {
        const RowClass frontier{RowKind::Frontier, type, {}};
        if (type != m_loop.destination) return false;
        if (m_held.contains({value, frontier}) || m_computed.contains({value, frontier})) return true;
        return m_fuser.useCount(value, frontier) > 0 && !m_tables.reads(value) && !isRecipe(m_analysis, value);
    }

    Register narrow(ir::ValueId value, const RowClass& rows)
    {
        Instruction i;
        i.act = Act::Narrow;
        i.value = value;
        i.rows = rows;
        i.input = fetch(value, {RowKind::Frontier, rows.table, {}});
        return finish(std::move(i), valueRegister(value, rows, true));
    }

    Register read(ir::ValueId value, const RowClass& rows)
    {
        Instruction i;
        i.act = Act::Read;
        i.value = value;
        i.rows = rows;
        i.inOrder = isOrdered(value, rows);
        if (i.inOrder) m_result.owned.insert({value, rows});
        else if (m_analysis.available(value)) m_result.leaves.insert(value);
        const Register to = valueRegister(value, rows, i.inOrder && m_way == Way::Tiles);
        return finish(std::move(i), to);
    }

    // Values of the prologue on edges lie in the order in which tiles and GPUs read them: by destination.
    bool isOrdered(ir::ValueId value, const RowClass& rows) const
    {
        return m_way != Way::Batches && rows.kind == RowKind::Owned && m_analysis.info(value).structureOnly &&
               m_program.value(value).origin == ir::Origin::Op && m_analysis.rowDim(value) == 0 &&
               m_analysis.rowSpace(value) == rows.table && !m_analysis.info(value).sparse;
    }

    Register local(ir::ValueId value, const RowClass& rows)
    {
        const ir::OpId op = m_program.value(value).producer;
        const auto operands = analysis::operandRows(m_analysis, op, rows);
        if (!operands) return read(value, rows);
        call(op, rows, *operands);
        return m_held.at({value, rows});
    }

    // ---- instructions

    Register finish(Instruction instruction, Register result)
    {
        instruction.outputs = {result};
        m_result.instructions.push_back(std::move(instruction));
        return result;
    }

    void step(int i)
    {
        const plan::Step& s = m_loop.steps[static_cast<std::size_t>(i)];
        const ir::Op& op = m_program.op(s.op);
        const auto& operands = m_uses[static_cast<std::size_t>(i)].operands;
        if (!op.outputs.empty() && m_analysis.info(op.outputs[0]).sparse) return;
        if (m_held.contains({op.outputs.at(0), s.rows})) return;
        if (s.rows.kind == RowKind::All) return;
        if (isSparseProduct(operands)) return sparseProduct(s, operands);
        if (const Fusion* fusion = m_fuser.at(i)) return segment(s, *fusion);
        if (const int product = m_fuser.productOf(i); product >= 0) return rowDots(s, product);
        if (const analysis::OperandRows* const source = m_tables.picked(i); source && m_tables.reads(source->value))
            return pick(s, *source, operands);
        const OpKind kind = m_analysis.info(s.op).kind;
        if (kind == OpKind::Select) return rearrange(Act::Select, s, operands);
        if (kind == OpKind::Concat) return rearrange(Act::Concat, s, operands);
        call(s.op, s.rows, operands);
    }

    void rearrange(Act act, const plan::Step& s, const std::vector<analysis::OperandRows>& operands)
    {
        Instruction i;
        i.act = act;
        i.op = s.op;
        i.rows = s.rows;
        for (const auto& o : operands) {
            if (o.use != Use::Parent && o.use != Use::Part) continue;
            i.operands.push_back({.slot = o.slot, .value = o.value, .from = fetch(o.value, o.rows), .rows = o.rows});
        }
        finish(std::move(i), valueRegister(m_program.op(s.op).outputs.at(0), s.rows));
    }

    void call(ir::OpId id, const RowClass& rows, const std::vector<analysis::OperandRows>& operands)
    {
        const ir::Op& op = m_program.op(id);
        Instruction i;
        i.op = id;
        i.rows = rows;
        i.operands = bind(op, rows, operands);
        const bool view = m_analysis.info(id).view && m_analysis.info(id).kind == OpKind::Rowwise;
        const bool fill = op.outputs.size() == 1 && fillNumber(m_program, op.outputs[0]).has_value();
        for (ir::ValueId v : op.outputs) i.outputs.push_back(valueRegister(v, rows, view || fill));
        m_result.instructions.push_back(std::move(i));
    }

    std::vector<Operand> bind(const ir::Op& op, const RowClass& rows,
                              const std::vector<analysis::OperandRows>& operands)
    {
        std::vector<Operand> bound;
        std::map<ir::Slot, const analysis::OperandRows*> bySlot;
        for (const auto& o : operands) bySlot[o.slot] = &o;
        ir::forEachOperand(op, [&](ir::Slot slot, ir::ValueId v) {
            if (m_program.value(v).kind != ir::ValueKind::Tensor) return;
            const auto it = bySlot.find(slot);
            if (it == bySlot.end()) bound.push_back({.slot = slot, .value = v, .kind = Operand::Dummy});
            else if (renumbered(op, *it->second)) bound.push_back(indexOperand(op, rows, *it->second, operands));
            else bound.push_back(operand(*it->second));
        });
        return bound;
    }

    Operand operand(const analysis::OperandRows& o)
    {
        if (o.rows.kind == RowKind::All || !m_analysis.hasRows(o.value)) {
            if (m_analysis.available(o.value)) m_result.leaves.insert(o.value);
            return {.slot = o.slot, .value = o.value, .kind = Operand::Whole};
        }
        return {.slot = o.slot, .value = o.value, .from = fetch(o.value, o.rows), .rows = o.rows};
    }

    bool renumbered(const ir::Op& op, const analysis::OperandRows& o) const
    {
        const analysis::OpInfo& info = m_analysis.info(op.id);
        if (info.kind != OpKind::Gather && info.kind != OpKind::Aggregate) return false;
        if (m_program.value(o.value).dtype == base::DType::Bool || !base::isIntegral(m_program.value(o.value).dtype))
            return false;
        if (o.use == Use::Index) return true;
        // bincount reads its index as messages.
        return o.use == Use::Message && op.name == "aten::bincount" && o.slot.arg == 0;
    }

    // The class whose local numbers the index holds: that of the rows gathered from, or written to.
    RowClass numberedIn(const ir::Op& op, const RowClass& rows,
                        const std::vector<analysis::OperandRows>& operands) const
    {
        if (m_analysis.info(op.id).kind == OpKind::Aggregate) return rows;
        for (const auto& o : operands)
            if (o.use == Use::Source) return o.rows;
        raise(base::ErrorCode::Internal, "a gather without a source", {}, ir::describeOp(op));
    }

    Operand indexOperand(const ir::Op& op, const RowClass& rows, const analysis::OperandRows& o,
                         const std::vector<analysis::OperandRows>& operands)
    {
        const analysis::Role& role = m_analysis.info(op.id).role;
        const Register r = positions(o.rows, role.space, role.key, numberedIn(op, rows, operands));
        const bool narrow = op.name == "aten::index_select" || op.name == "aten::index_add";
        return {.slot = o.slot, .value = o.value, .kind = Operand::Index, .from = r, .rows = o.rows, .narrow = narrow};
    }

    Register positions(const RowClass& on, ir::SpaceId space, ir::KeyId key, const RowClass& in)
    {
        const std::tuple name{on, space, key, in};
        const auto it = m_positions.find(name);
        if (it != m_positions.end()) return it->second;
        Instruction i;
        i.act = Act::Positions;
        i.rows = on;
        i.space = space;
        i.key = key;
        i.in = in;
        i.owners = m_way == Way::Gpu && in.kind == RowKind::Batch && in.table == m_loop.destination &&
                   on == RowClass{RowKind::Owned, space, key};
        return m_positions[name] = finish(std::move(i), newRegister({}, on, 8));
    }

    // ---- segments

    void pick(const plan::Step& s, const analysis::OperandRows& source,
              const std::vector<analysis::OperandRows>& operands)
    {
        const analysis::Role& role = m_analysis.info(s.op).role;
        Instruction i;
        i.act = Act::Pick;
        i.op = s.op;
        i.value = source.value;
        i.rows = std::ranges::find(operands, Use::Index, &analysis::OperandRows::use)->rows;
        i.space = role.space;
        i.key = role.key;
        readInPlace(source.value);
        includeClass(i.rows);
        finish(std::move(i), valueRegister(m_program.op(s.op).outputs.at(0), s.rows));
    }

    void readInPlace(ir::ValueId value)
    {
        const ir::ValueId table = m_tables.table(value);
        if (m_analysis.available(table)) m_result.leaves.insert(table);
        if (table != value) m_result.reshaped[value] = table;
        std::vector<ir::ValueId>& known = m_result.inPlace;
        if (m_way == Way::Tiles && std::ranges::find(known, table) == known.end()) known.push_back(table);
    }

    void segment(const plan::Step& s, const Fusion& fusion)
    {
        Instruction i;
        i.act = Act::Segment;
        i.op = s.op;
        i.rows = s.rows;
        i.segment = fusion.shape;
        i.segment.source = fusion.source;
        if (fusion.gather < 0) i.segment.from = fetch(fusion.source, fusion.shape.messages);
        else gatherInto(i.segment, m_analysis.info(m_loop.steps[static_cast<std::size_t>(fusion.gather)].op).role);
        if (fusion.weight.valid()) {
            i.segment.weightValue = fusion.weight;
            i.segment.weight = fetch(fusion.weight, fusion.shape.messages);
        }
        for (const int fused : {fusion.gather, fusion.scale})
            if (fused >= 0) i.fused.push_back(m_loop.steps[static_cast<std::size_t>(fused)].op);
        finish(std::move(i), valueRegister(m_program.op(s.op).outputs.at(0), s.rows));
    }

    void rowDots(const plan::Step& s, int product)
    {
        const plan::Step& multiplied = m_loop.steps[static_cast<std::size_t>(product)];
        Instruction i;
        i.act = Act::RowDots;
        i.op = s.op;
        i.rows = s.rows;
        i.operands = bind(m_program.op(multiplied.op), s.rows, m_uses[static_cast<std::size_t>(product)].operands);
        i.fused.push_back(multiplied.op);
        finish(std::move(i), valueRegister(m_program.op(s.op).outputs.at(0), s.rows));
    }

    const StripRegion* regionEndingAt(int step) const
    {
        for (const StripRegion& r : m_fuser.regions())
            if (r.steps.back() == step) return &r;
        return nullptr;
    }

    void strips(const StripRegion& region)
    {
        auto part = std::make_shared<StripPart>(m_fuser.part(region));
        Instruction i;
        i.act = Act::Strips;
        i.op = m_loop.steps[static_cast<std::size_t>(region.steps.back())].op;
        i.rows = {RowKind::Batch, m_loop.destination, {}};
        for (const int fused : region.steps)
            if (fused != region.steps.back()) i.fused.push_back(m_loop.steps[static_cast<std::size_t>(fused)].op);
        includeClass(part->messages);
        for (StripTableSource& t : part->tables) bindTable(i, t, part->messages);
        for (const auto& [value, buffer] : part->outputs) i.outputs.push_back(valueRegister(value, i.rows));
        i.strips = std::move(part);
        m_result.instructions.push_back(std::move(i));
    }

    void bindTable(Instruction& i, StripTableSource& t, const RowClass& messages)
    {
        if (!t.value.valid()) return;
        t.operand = static_cast<int>(i.operands.size());
        if (t.rows != kernels::StripRows::Gathered) {
            i.operands.push_back(operand({.slot = {}, .value = t.value, .use = Use::Same, .rows = t.on}));
            return;
        }
        const analysis::Role& role = m_analysis.info(m_loop.steps[static_cast<std::size_t>(t.gather)].op).role;
        t.place.messages = messages;
        t.place.sourceRows = t.on;
        t.place.source = t.value;
        gatherInto(t.place, role);
        if (t.place.from < 0) {
            t.operand = -1;
            return;
        }
        i.operands.push_back({.slot = {}, .value = t.value, .from = t.place.from, .rows = t.on});
        i.operands.push_back({.slot = {}, .value = {}, .from = t.place.columns, .rows = messages});
    }

    void gatherInto(Segment& segment, const analysis::Role& role)
    {
        includeClass(segment.messages);
        segment.columnSpace = role.space;
        segment.columnKey = role.key;
        if (segment.sourceRows.kind == RowKind::Frontier && m_tables.reads(segment.source))
            return readInPlace(segment.source);
        segment.from = fetch(segment.source, segment.sourceRows);
        segment.columns = positions(segment.messages, role.space, role.key, segment.sourceRows);
    }

    void sparseProduct(const plan::Step& s, const std::vector<analysis::OperandRows>& operands)
    {
        Instruction i;
        i.act = Act::Segment;
        i.op = s.op;
        i.rows = s.rows;
        analysis::Role column;
        for (const auto& o : operands) {
            if (o.use == Use::SparseMatrix) {
                column = m_analysis.info(o.value).sparseColumn;
                i.segment.messages = o.rows;
                i.segment.weightValue = entriesOf(m_program, o.value);
            } else if (o.use == Use::SparseSource) {
                i.segment.source = o.value;
                i.segment.sourceRows = o.rows;
            }
        }
        for (std::int64_t n : rowShape(m_analysis, i.segment.source)) i.segment.width *= n;
        gatherInto(i.segment, column);
        i.segment.weight = fetch(i.segment.weightValue, i.segment.messages);
        i.operands = addend(s, operands);
        finish(std::move(i), valueRegister(m_program.op(s.op).outputs.at(0), s.rows));
    }

    // addmm adds a table to the product.
    std::vector<Operand> addend(const plan::Step& s, const std::vector<analysis::OperandRows>& operands)
    {
        if (m_program.op(s.op).name.find("addm") == std::string::npos) return {};
        for (const auto& o : operands)
            if (o.slot.arg == 0) return {operand(o)};
        return {};
    }

    Reduced reduction(const plan::Step& s)
    {
        Reduced reduced{.op = s.op, .rows = s.rows, .operands = {}};
        const ir::Op& op = m_program.op(s.op);
        ir::forEachOperand(op, [&](ir::Slot slot, ir::ValueId v) {
            if (m_program.value(v).kind != ir::ValueKind::Tensor) return;
            const Use use = m_analysis.info(s.op).use(slot).use;
            if (use == Use::Shape) reduced.operands.push_back({.slot = slot, .value = v, .kind = Operand::Dummy});
            else if (use == Use::Whole || !m_analysis.hasRows(v))
                reduced.operands.push_back(operand({.slot = slot, .value = v, .use = use, .rows = {}}));
            else reduced.operands.push_back({.slot = slot, .value = v, .from = fetch(v, s.rows), .rows = s.rows});
        });
        return reduced;
    }

    const analysis::Analysis& m_analysis;
    const ir::Program& m_program;
    const plan::Loop& m_loop;
    const std::unordered_set<ir::ValueId>& m_stored;
    Way m_way;
    std::vector<StepUse> m_uses;
    Fuser m_fuser;
    TablesInPlace m_tables;
    LoopProgram m_result;
    std::set<Held> m_computed;
    std::map<Held, Register> m_held;
    std::map<std::tuple<RowClass, ir::SpaceId, ir::KeyId, RowClass>, Register> m_positions;
};

}  // namespace

LoopProgram compileLoop(const analysis::Analysis& analysis, const plan::Loop& loop,
                        const std::unordered_set<ir::ValueId>& stored, const InPlace& readInPlace, Way way,
                        const Families& families)
{
    LoopProgram program = Compiler(analysis, loop, stored, readInPlace, way, families).run();
    if (way != Way::Batches) program.frontiers = frontiersUsed(program);
    else
        for (const plan::FrontierSource& s : loop.frontier) program.frontiers.insert(s.type);
    return program;
}

}  // namespace hopscope::executor
