#include "analysis/rows/infer.h"

#include <algorithm>

#include "analysis/rows/bind.h"
#include "analysis/rows/check_results.h"
#include "analysis/rows/compressed.h"
#include "analysis/rows/decompose.h"
#include "analysis/rows/fixed_sizes.h"
#include "analysis/rows/linear.h"
#include "analysis/rows/rules.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using ir::Op;
using ir::Value;
using ir::ValueKind;

class Inference : public Emitter {
public:
    Inference(Builder& builder, const ir::Program& program, const InputSchema& schema)
        : m_builder(builder),
          m_program(program),
          m_schema(schema),
          m_map(program.values.size())
    {}

    base::Status run()
    {
        declareTables(m_builder, m_program, m_schema);
        bindLeaves();
        if (auto status = writeOffsetsOut(*this, m_builder); !status) return status;
        for (const Op& op : m_program.ops) {
            Op here = mapped(op);
            if (m_builder.fixedSizes) here = withTableSizes(*this, std::move(here));
            const auto results = emit(std::move(here), outputsOf(op));
            if (!results) return stopAt(op, results.error());
            for (std::size_t i = 0; i < results->size(); ++i) m_map[op.outputs[i].at()] = (*results)[i];
        }
        finish();
        return checkResults(m_builder, m_unknown);
    }

    Builder& builder() override { return m_builder; }

    base::Result<std::vector<ValueId>> emit(Op op, const std::vector<Value>& outputs) override
    {
        const std::string key = Builder::operatorKey(op);
        if (const auto it = m_builder.known.find(key); it != m_builder.known.end())
            return m_builder.analysis.program.op(it->second).outputs;
        if (ir::isScalarOp(op) && op.name != "scalar::tensor") return emitNumber(std::move(op), outputs, key);
        OpInfo info;
        markShapeOnly(op, info);
        RuleContext context(m_builder, op, outputs, info);
        if (auto rewritten = decompose(*this, context)) {
            if (const auto unread = context.unread()) return refusal(op, *unread);
            return *rewritten;
        }
        context.forgetRead();
        return emitRuled(op, outputs, key, context);
    }

private:
    void bindLeaves()
    {
        for (const Value& v : m_program.values) {
            if (v.origin == ir::Origin::Op) continue;
            const ValueId id(m_builder.analysis.program.values.size());
            Value copy = v;
            ValueInfo info = bindInput(m_builder, v, id, m_schema);
            if (v.kind == ValueKind::Tensor && v.shape.empty() && v.literal.size() == 1 && base::isIntegral(v.dtype))
                info.size = constant(static_cast<std::int64_t>(v.literal[0]));
            noteFixedSize(m_builder, v, info);
            m_map[v.id.at()] = m_builder.addValue(std::move(copy), std::move(info));
        }
        noteGraphSizes(m_builder, m_schema);
        for (const ir::NamedValue& in : m_program.inputs)
            m_builder.analysis.program.inputs.push_back({in.name, m_map[in.value.at()]});
    }

    std::vector<Value> outputsOf(const Op& op) const
    {
        std::vector<Value> outputs;
        for (ValueId o : op.outputs) outputs.push_back(m_program.value(o));
        return outputs;
    }

    // The operators after a refused one can still be shown.
    tl::unexpected<base::Error> stopAt(const Op& refused, const base::Error& why)
    {
        m_builder.analysis.refusedOp = OpId(m_builder.analysis.program.ops.size());
        for (auto i = refused.id.at(); i < m_program.ops.size(); ++i) {
            const Op& op = m_program.ops[i];
            std::vector<ValueInfo> infos;
            for (const Value& v : outputsOf(op)) infos.emplace_back().dims.resize(v.shape.size());
            const auto results = commit(mapped(op), unanalysedOp(op), outputsOf(op), std::move(infos), {});
            for (std::size_t j = 0; j < results.size(); ++j) m_map[op.outputs[j].at()] = results[j];
        }
        finish();
        return tl::unexpected(why);
    }

    Arg mapped(const Arg& arg) const
    {
        if (const ValueId* v = arg.value()) return Arg{m_map[v->at()]};
        if (const ArgList* list = arg.list()) {
            ArgList items;
            for (const Arg& a : *list) items.push_back(mapped(a));
            return Arg{std::move(items)};
        }
        return arg;
    }

    Op mapped(const Op& op) const
    {
        Op copy = op;
        for (Arg& a : copy.args) a = mapped(a);
        copy.outputs.clear();
        return copy;
    }

    static void markShapeOnly(const Op& op, OpInfo& info)
    {
        for (std::size_t i = 0; i < op.argInfo.size(); ++i)
            if (operators::isShapeOnly(op.name, op.argInfo[i].name))
                info.uses[{static_cast<int>(i), -1}] = {Use::Shape, 0};
    }

    const ValueInfo& of(ValueId v) const { return m_builder.analysis.info(v); }

    // ---- numbers

    base::Result<std::vector<ValueId>> emitNumber(Op op, const std::vector<Value>& outputs, const std::string& key)
    {
        if (const auto size = sizeOfOneTable(op, outputs[0])) return std::vector{*size};
        const ValueId self(m_builder.analysis.program.values.size());
        const auto size = numberOf(op, self);
        if (!size) return refusal(op, size.error());
        ValueInfo info;
        info.structureOnly = true;
        info.size = *size;
        OpInfo opInfo;
        opInfo.kind = OpKind::Scalar;
        opInfo.structureOnly = true;
        learnSize(*size, outputs[0]);
        return commit(std::move(op), opInfo, outputs, {std::move(info)}, key);
    }

    SpaceId tableOfSize(const Arg& arg) const
    {
        const auto size = arg.value() ? of(*arg.value()).size : std::nullopt;
        const bool one = size && size->sizes.size() == 1 && *size == sizeOf(size->sizes.begin()->first);
        return one ? size->sizes.begin()->first : SpaceId{};
    }

    // The size of the smaller or the larger of two tables is that of the one that it is on the sample. Which one is checked on the
    // data, as branches are.
    std::optional<ValueId> sizeOfOneTable(const Op& op, const Value& result)
    {
        const bool least = op.name == "scalar::min";
        if ((!least && op.name != "scalar::max") || op.args.size() != 2) return std::nullopt;
        const SpaceId a = tableOfSize(op.args[0]), b = tableOfSize(op.args[1]);
        if (!a.valid() || !b.valid() || a == b) return std::nullopt;
        const auto& rows = m_builder.analysis.sampleSizes;
        if (!rows.contains(a) || !rows.contains(b)) return std::nullopt;
        const bool ordered = rows.at(a) <= rows.at(b);
        Op order = op;
        order.name = "scalar::le";
        Value answer = result;
        answer.kind = ValueKind::Bool;
        answer.number = ordered ? 1 : 0;
        const auto made = emit(std::move(order), {answer});
        if (!made) return std::nullopt;
        m_builder.analysis.program.guards.push_back(
            {.condition = made->front(), .taken = answer.number, .modules = op.modules, .source = op.source});
        return *op.args[ordered == least ? 0 : 1].value();
    }

    [[nodiscard]] bool isWhole(const Arg& a) const
    {
        return a.value() != nullptr && m_builder.analysis.program.value(*a.value()).kind != ir::ValueKind::Float;
    }

    Ruled<Linear> numberOf(const Op& op, ValueId self) const
    {
        const ValueId* tensor = op.args.empty() ? nullptr : op.args[0].value();
        if (op.name == "scalar::size") return dimension(*tensor, *op.args[1].integer(), self);
        if (op.name == "scalar::numel") return elements(*tensor, self);
        if (op.name == "scalar::item") {
            if (of(*tensor).size) return *of(*tensor).size;
            if (!of(*tensor).structureOnly)
                return Refusal(
                    Refused("reads a number from features, so that the following operators depend on feature values",
                            Refused::Kind::Number));
            return atom(self);
        }
        std::vector<Linear> operands;
        for (const Arg& a : op.args) {
            if (a.none()) continue;
            if (const std::int64_t* i = a.integer()) operands.push_back(constant(*i));
            else if (isWhole(a) && of(*a.value()).size) operands.push_back(*of(*a.value()).size);
            else return atom(self);
        }
        const auto linear = combine(op.name.substr(8), operands);
        return linear ? *linear : atom(self);
    }

    Linear dimension(ValueId tensor, std::int64_t d, ValueId self) const
    {
        const Value& v = m_builder.analysis.program.value(tensor);
        const std::size_t i = static_cast<std::size_t>(wrapDim(d, static_cast<int>(v.shape.size())));
        const SpaceId s = of(tensor).dims[i];
        if (const auto& c = of(tensor).compressed; c && !s.valid())
            return add(sizeOf(c->rows.target), constant(c->part == OffsetsPart::All ? 1 : -1));
        if (!s.valid()) return constant(v.shape[i]);
        const bool opaque = m_builder.analysis.tables.space(s).kind == SpaceKind::Opaque;
        return opaque ? atom(self) : sizeOf(s);
    }

    Linear elements(ValueId tensor, ValueId self) const
    {
        Linear product = constant(1);
        for (std::size_t d = 0; d < m_builder.analysis.program.value(tensor).shape.size(); ++d) {
            const Linear size = dimension(tensor, static_cast<std::int64_t>(d), self);
            const auto next = combine("mul", {product, size});
            if (!next || size == atom(self)) return atom(self);
            product = *next;
        }
        return product;
    }

    // index.max() + 1 tells the size of a table that no input declares.
    void learnSize(const Linear& size, const Value& value)
    {
        if (!size.atoms.empty() || size.sizes.size() != 1 || size.sizes.begin()->second != 1) return;
        const SpaceId s = size.sizes.begin()->first;
        if (!m_builder.analysis.sampleSizes.contains(s))
            m_builder.fixSize(s, static_cast<std::int64_t>(value.number) - size.constant);
    }

    // ---- tensors

    base::Result<std::vector<ValueId>> emitRuled(Op& op, const std::vector<Value>& outputs, const std::string& key,
                                                 RuleContext& c)
    {
        const bool structure = structureOnly(c);
        auto outcomes = outcomesOf(c, structure);
        if (!outcomes) return refusal(op, outcomes.error());
        if (c.same) return std::vector<ValueId>{*c.same};
        if (const auto wrong = checkSizes(*outcomes, outputs)) return refusal(op, *wrong);
        if (!structure && rowsByRows(*outcomes))
            return refusal(op, {"has rows by rows (all pairs of nodes)", Refused::Kind::AllPairs});
        std::vector<ValueInfo> infos;
        for (Outcome& o : *outcomes) infos.push_back(infoOf(std::move(o), structure, c));
        c.info.structureOnly = structure;
        c.info.view = operators::isView(op.name) || c.info.kind == OpKind::Gather || c.info.kind == OpKind::Select ||
                      infos[0].sparse;
        return commit(op, c.info, outputs, std::move(infos), key);
    }

    bool structureOnly(const RuleContext& c) const
    {
        for (ValueId v : c.dependencies())
            if (!of(v).structureOnly) return false;
        return true;
    }

    Ruled<Outcomes> outcomesOf(RuleContext& c, bool structure)
    {
        for (ValueId v : c.dependencies())
            for (SpaceId s : of(v).dims)
                if (!structure && s.valid() && m_builder.analysis.tables.space(s).kind == SpaceKind::Opaque)
                    return Refusal(Refused("uses " + tableLabel(m_builder.analysis.tables, s), m_unknown.at(s)));
        const RowRule rule = ruleFor(c.op.name);
        Ruled<Outcomes> outcomes = rule ? rule(c) : opaqueRule(c);
        if (outcomes && meetsRows(c, *outcomes))
            if (auto unread = c.unread()) outcomes = Refusal(std::move(*unread));
        const bool sized = operators::of(c.op.name).rule == operators::Rule::Fill;  // by a number of the graph
        if (outcomes || !structure || (c.dependencies().empty() && !sized)) return outcomes;
        return opaqueOutcomes(c, outcomes.error());
    }

    bool meetsRows(const RuleContext& c, const Outcomes& outcomes) const
    {
        const auto rowed = [](const std::vector<SpaceId>& dims) { return std::ranges::any_of(dims, &SpaceId::valid); };
        return std::ranges::any_of(outcomes, [&](const Outcome& o) { return rowed(o.dims); }) ||
               std::ranges::any_of(c.dependencies(), [&](ValueId v) { return rowed(of(v).dims); });
    }

    // Why rows are unknown: where an operand's are, its reason, else this operator and its own.
    std::string origin(const RuleContext& c, const std::string& why) const
    {
        for (ValueId v : c.dependencies())
            for (SpaceId s : of(v).dims)
                if (s.valid() && c.space(s).kind == SpaceKind::Opaque) return c.space(s).name;
        return why + " at " + ir::describeOp(c.op);
    }

    // In the prologue anything may happen: only a stage that uses the rows needs to know them.
    Outcomes opaqueOutcomes(RuleContext& c, const Refused& why)
    {
        const SpaceId unknown = m_builder.opaque(origin(c, why.text));
        m_unknown.emplace(unknown, why.kind);
        std::set<SpaceId> elements;
        if (c.name == "cat" || operators::isView(c.op.name))
            for (ValueId v : c.dependencies()) elements.insert(of(v).elements.begin(), of(v).elements.end());
        Outcomes result;
        for (const Value& v : c.outputs) {
            Outcome o;
            o.dims.assign(v.shape.size(), unknown);
            if (operators::of(c.op.name).traits.intoSelf) o.dims = of(c.tensor("self")).dims;
            o.elements = elements;
            result.push_back(std::move(o));
        }
        const auto shapeUses = c.info.uses;
        c.info = OpInfo{};
        for (const auto& [slot, use] : shapeUses)
            if (use.use == Use::Shape) c.info.uses[slot] = use;
        c.info.prologueReason = why.text;
        return result;
    }

    std::optional<Refused> checkSizes(const Outcomes& outcomes, const std::vector<Value>& outputs)
    {
        for (std::size_t j = 0; j < outcomes.size(); ++j) {
            const auto& dims = outcomes[j].dims;
            if (dims.size() != outputs[j].shape.size())
                return "its rule yields a different number of dimensions (internal)";
            for (std::size_t i = 0; i < dims.size(); ++i)
                if (dims[i].valid() && !m_builder.fixSize(dims[i], outputs[j].shape[i]))
                    return otherSize("dimension " + std::to_string(i) + " has the size " +
                                         std::to_string(outputs[j].shape[i]) + ", which is not the number of rows of " +
                                         tableLabel(m_builder.analysis.tables, dims[i]),
                                     dims[i]);
        }
        return std::nullopt;
    }

    bool rowsByRows(const Outcomes& outcomes) const
    {
        return std::ranges::any_of(outcomes, [&](const Outcome& o) {
            const auto isRow = [&](SpaceId s) { return m_builder.analysis.tables.isRow(s); };
            return !o.sparse && std::ranges::count_if(o.dims, isRow) > 1;
        });
    }

    Refused otherSize(const std::string& what, SpaceId table) const
    {
        const auto& guards = m_builder.analysis.maxIndexGuards;
        const bool measured = std::ranges::any_of(guards, [&](const MaxIndexGuard& g) { return g.space == table; });
        if (!measured) return bakedSize(what);
        return {what + ": the model derives the number of rows from the largest of some row numbers",
                Refused::Kind::Counted};
    }

    ValueInfo infoOf(Outcome o, bool structure, const RuleContext& c) const
    {
        ValueInfo v;
        v.dims = std::move(o.dims);
        v.role = o.role;
        v.pairRoles = std::move(o.pairRoles);
        v.elements = std::move(o.elements);
        if (v.elements.empty() && v.role) v.elements = {v.role->target};
        if (v.elements.empty())
            for (const Role& r : v.pairRoles) v.elements.insert(r.target);
        v.size = o.size;
        v.compressed = o.compressed;
        v.sparse = o.sparse;
        v.sparseRow = o.sparseRow;
        v.sparseColumn = o.sparseColumn;
        v.structureOnly = structure;
        v.uniform = structure && uniform(c) && c.info.prologueReason.empty();
        for (const Role& r : v.pairRoles) m_builder.useKey(r);
        if (v.role) m_builder.useKey(*v.role);
        return v;
    }

    // The same for every row, so that it can be made locally at any size.
    bool uniform(const RuleContext& c) const
    {
        if (operators::isFill(c.op.name)) return true;
        const std::vector<ValueId> operands = c.dependencies();
        if (c.info.kind != OpKind::Rowwise || operands.empty() || !c.info.prologueReason.empty()) return false;
        if (operators::of(c.op.name).traits.mixesRows) return false;
        for (ValueId v : operands)
            if (!of(v).uniform && m_builder.analysis.hasRows(v)) return false;
        for (ValueId v : operands)
            if (of(v).uniform) return true;
        return false;
    }

    std::vector<ValueId> commit(Op op, OpInfo info, const std::vector<Value>& outputs, std::vector<ValueInfo> infos,
                                const std::string& key)
    {
        op.outputs.clear();
        for (std::size_t j = 0; j < outputs.size(); ++j) {
            Value v = outputs[j];
            v.origin = ir::Origin::Op;
            v.output = static_cast<int>(j);
            op.outputs.push_back(m_builder.addValue(std::move(v), std::move(infos[j])));
        }
        const std::vector<ValueId> results = op.outputs;
        m_builder.known.emplace(key, m_builder.addOp(std::move(op), std::move(info)));
        return results;
    }

    void finish()
    {
        ir::Program& program = m_builder.analysis.program;
        for (const ir::NamedValue& o : m_program.outputs) program.outputs.push_back({o.name, m_map[o.value.at()]});
        for (ir::Guard g : m_program.guards) {
            g.condition = m_map[g.condition.at()];
            const auto& size = of(g.condition).size;
            if (!size || !size->isConstant()) program.guards.push_back(std::move(g));
        }
    }

    Builder& m_builder;
    const ir::Program& m_program;
    const InputSchema& m_schema;
    std::vector<ValueId> m_map;
    std::map<SpaceId, Refused::Kind> m_unknown;  // why the rows of opaque tables are
};

}  // namespace

OpInfo unanalysedOp(const Op& op)
{
    OpInfo info;
    info.structureOnly = ir::isScalarOp(op);
    if (info.structureOnly) info.kind = OpKind::Scalar;
    return info;
}

base::Status infer(Builder& builder, const ir::Program& functional, const InputSchema& schema)
{
    return Inference(builder, functional, schema).run();
}

}  // namespace hopscope::analysis
