#include "analysis/lowering/fold_views.h"

#include <map>

#include "analysis/lowering/match.h"
#include "analysis/lowering/rewriter.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using ir::Op;
using ir::Value;
using ir::ValueId;
using operators::Rule;
using Shape = std::vector<std::int64_t>;

class ViewFolding : Rewriter {
public:
    explicit ViewFolding(const ir::Program& program) : Rewriter(program), m_old(program) {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops) {
            if (isReshape(op) ? reshape(op) : op.name == "scalar::size" && size(op)) continue;
            append(op, op.outputs);
            if (op.outputs.size() == 1) keepApart(op);
        }
        return std::move(m_new);
    }

private:
    const Shape& shape(ValueId v) const { return m_new.value(v).shape; }
    const Op* producer(ValueId v) const { return producerOf(m_old, v); }
    static Rule ruleOf(const Op& op) { return operators::of(op.name).rule; }

    // To sizes that it is given.
    static bool isReshape(const Op& op)
    {
        const bool named = op.name == "aten::view" || op.name == "aten::reshape" || op.name == "aten::_unsafe_view";
        return named && valueOf(op, "self") && sizesOf(op)->list();
    }

    static const Arg* sizesOf(const Op& op)
    {
        const Arg* const sizes = ir::argument(op, "shape");
        return sizes ? sizes : ir::argument(op, "size");
    }

    // ---- heads

    // [places, rows, heads * width], of which the rows and heads were merged and turned to the front.
    struct Heads {
        ValueId from;
        std::int64_t count = 0, width = 0;
    };

    std::optional<Heads> headsOf(ValueId v) const
    {
        const Op* const turned = producer(v);
        const bool front = turned && turned->name == "aten::transpose" &&
                           ((isNumber(*turned, "dim0", 0) && isNumber(*turned, "dim1", 1)) ||
                            (isNumber(*turned, "dim0", 1) && isNumber(*turned, "dim1", 0)));
        const Op* const merged = front ? producer(*valueOf(*turned, "self")) : nullptr;
        if (!merged || !isReshape(*merged)) return std::nullopt;
        const ValueId from = *valueOf(*merged, "self");
        const Shape &apart = shape(from), &joined = shape(merged->outputs.at(0));
        if (apart.size() != 3 || joined.size() != 3 || joined[2] < 1) return std::nullopt;
        const std::int64_t heads = apart[2] / joined[2];
        const bool fits =
            heads > 1 && apart[0] == joined[0] && apart[1] * heads == joined[1] && heads * joined[2] == apart[2];
        return fits ? std::optional(Heads{from, heads, joined[2]}) : std::nullopt;
    }

    // [rows, heads, places, width]
    ValueId withHeads(const Op& op, const Heads& heads)
    {
        const Shape from = shape(heads.from);
        const ValueId split =
            add(op, "reshape",
                {Arg{heads.from},
                 Arg{ArgList{rows(op, heads.from, 0), rows(op, heads.from, 1), Arg{heads.count}, Arg{heads.width}}}},
                {from[0], from[1], heads.count, heads.width}, heads.from);
        const ArgList order{Arg{std::int64_t{1}}, Arg{std::int64_t{2}}, Arg{std::int64_t{0}}, Arg{std::int64_t{3}}};
        return add(op, "permute", {Arg{split}, Arg{order}}, {from[1], heads.count, from[0], heads.width}, heads.from);
    }

    // ---- views of views

    // What the operator is a view of, with as many dimensions as there were before any view.
    bool reshape(const Op& op)
    {
        const ValueId self = *valueOf(op, "self");
        const Op* const before = producer(self);
        ValueId from = self;
        if (const auto heads = headsOf(self)) from = withHeads(op, *heads);
        else if (const auto apart = m_apart.find(self); apart != m_apart.end()) from = apart->second;
        else if (before && isReshape(*before)) from = *valueOf(*before, "self");
        if (from == self) return false;
        append(syntheticOp("reshape", {Arg{from}, *sizesOf(op)}, op), op.outputs);
        return true;
    }

    // ---- products with a weight

    // Whether the value is [all, width], of rows in several dimensions.
    std::optional<ValueId> mergedRows(ValueId v) const
    {
        const Op* const merged = producer(v);
        if (!merged || !isReshape(*merged) || shape(v).size() != 2) return std::nullopt;
        const ValueId from = *valueOf(*merged, "self");
        std::int64_t width = 1;
        std::size_t lead = shape(from).size();
        while (lead > 0 && width < shape(v)[1]) width *= shape(from)[--lead];
        return width == shape(v)[1] && lead > 1 ? std::optional(from) : std::nullopt;
    }

    // The rows with their own dimensions, which the model merges: `v`, whose last dimension has all that a row has.
    std::optional<ValueId> apart(const Op& op, ValueId v)
    {
        if (const auto known = m_apart.find(v); known != m_apart.end()) return known->second;
        const auto from = mergedRows(v);
        if (!from) return std::nullopt;
        Shape lead = shape(*from);
        for (std::int64_t width = shape(v)[1]; width > 1; lead.pop_back()) width /= lead.back();
        ArgList sizes;
        for (std::size_t d = 0; d < lead.size(); ++d) sizes.push_back(rows(op, *from, d));
        sizes.push_back(Arg{shape(v)[1]});
        lead.push_back(shape(v)[1]);
        return m_apart[v] = add(op, "reshape", {Arg{*from}, Arg{std::move(sizes)}}, lead, v);
    }

    // The operator once more, on rows that are apart.
    void keepApart(const Op& op)
    {
        const char* const argument = ruleOf(op) == Rule::Linear ? "input" : "self";
        const bool alone = ruleOf(op) == Rule::Linear || (isElementwise(m_old, op) && tensors(op) == 1);
        const auto input = alone ? valueOf(op, argument) : std::nullopt;
        if (!input || shape(*input).size() != 2 || shape(op.outputs.at(0)).size() != 2) return;
        const auto rows = apart(op, *input);
        if (!rows) return;
        Shape out = shape(*rows);
        out.back() = shape(op.outputs.at(0))[1];
        Op again = op;
        for (std::size_t i = 0; i < op.argInfo.size(); ++i)
            if (op.argInfo[i].name == argument) again.args[i] = Arg{*rows};
        const ValueId made = fresh(std::move(out), op.outputs.at(0));
        append(std::move(again), {made});
        m_apart[op.outputs.at(0)] = made;
    }

    static int tensors(const Op& op)
    {
        int count = 0;
        ir::forEachOperand(op, [&](ir::Slot, ValueId) { ++count; });
        return count;
    }

    // ---- sizes of what is not there any more

    bool size(const Op& op)
    {
        const ValueId of = *op.args.at(0).value();
        const std::int64_t* const given = op.args.at(1).integer();
        if (!given) return false;
        const auto rank = static_cast<std::int64_t>(shape(of).size());
        const std::int64_t d = *given < 0 ? *given + rank : *given;
        const auto heads = headsOf(of);
        const auto apart = m_apart.find(of);
        if (heads && d == 1) return sizeOf(op, heads->from, 0);
        return apart != m_apart.end() && d == rank - 1 && sizeOf(op, apart->second, shape(apart->second).size() - 1);
    }

    bool sizeOf(const Op& op, ValueId v, std::size_t d)
    {
        append(syntheticOp("scalar::size", {Arg{v}, Arg{static_cast<std::int64_t>(d)}}, op), op.outputs);
        return true;
    }

    // ---- the new program

    Arg rows(const Op& place, ValueId v, std::size_t d)
    {
        Value size;
        size.kind = ir::ValueKind::Int;
        size.number = static_cast<double>(shape(v)[d]);
        return Arg{Rewriter::add(place, "scalar::size", {Arg{v}, Arg{static_cast<std::int64_t>(d)}}, std::move(size))};
    }

    ValueId fresh(Shape shape, ValueId like)
    {
        Value out;
        out.shape = std::move(shape);
        out.dtype = m_new.value(like).dtype;
        return Rewriter::fresh(std::move(out));
    }

    ValueId add(const Op& place, const std::string& signature, std::vector<Arg> args, Shape shape, ValueId like)
    {
        const ValueId out = fresh(std::move(shape), like);
        append(syntheticOp(signature, std::move(args), place), {out});
        return out;
    }

    const ir::Program& m_old;
    std::map<ValueId, ValueId> m_apart;  // [all, width]: the same with the dimensions of the rows
};

}  // namespace

ir::Program foldViews(const ir::Program& program) { return ViewFolding(program).run(); }

}  // namespace hopscope::analysis
