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
            keepApart(op);
            if (op.outputs.size() == 1) keepGroupsApart(op);
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

    // ---- heads

    // [places, rows, heads * width] whose rows and heads were merged and turned to the front.
    struct Heads {
        ValueId from;
        std::int64_t count = 0, width = 0;
    };

    // The first two dimensions change places.
    static bool turns(const Op& op)
    {
        return op.name == "aten::transpose" && ((isNumber(op, "dim0", 0) && isNumber(op, "dim1", 1)) ||
                                                (isNumber(op, "dim0", 1) && isNumber(op, "dim1", 0)));
    }

    std::optional<Heads> headsOf(ValueId v) const
    {
        const Op* const turned = producer(v);
        const bool front = turned && turns(*turned);
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

    // Replaces a view of views by a view of the first operand.
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

    // The number of leading dimensions that `v`, as a view, merges into its first one; 0 if none.
    std::size_t mergedDims(ValueId v) const
    {
        const Op* const merged = producer(v);
        if (!merged || !isReshape(*merged) || shape(v).size() < 2) return 0;
        const Shape& from = shape(*valueOf(*merged, "self"));
        std::int64_t rows = 1;
        std::size_t lead = 0;
        while (lead < from.size() && rows < shape(v)[0]) rows *= from[lead++];
        return rows == shape(v)[0] && lead > 1 ? lead : 0;
    }

    // The rows with their own dimensions, which the model merges into the first one of `v`.
    std::optional<ValueId> apart(const Op& op, ValueId v)
    {
        if (const auto known = m_apart.find(v); known != m_apart.end()) return known->second;
        const std::size_t lead = mergedDims(v);
        if (lead == 0) return std::nullopt;
        const ValueId from = *valueOf(*producer(v), "self");
        Shape whole = shape(v);
        whole.erase(whole.begin());
        ArgList sizes;
        for (std::size_t d = 0; d < lead; ++d) sizes.push_back(rows(op, from, d));
        for (const std::int64_t width : whole) sizes.push_back(Arg{width});
        whole.insert(whole.begin(), shape(from).begin(), shape(from).begin() + static_cast<std::ptrdiff_t>(lead));
        return m_apart[v] = add(op, "reshape", {Arg{from}, Arg{std::move(sizes)}}, whole, v);
    }

    // Whether it works on each row of [all, width] by itself.
    bool isByRow(const Op& op) const
    {
        const Rule rule = ruleOf(op);
        const bool columns = rule == Rule::Split && (isNumber(op, "dim", 1) || isNumber(op, "dim", -1));
        return columns || rule == Rule::Linear || op.name == "aten::contiguous" || isElementwise(m_old, op);
    }

    // The operator once more, on separate rows. Weights and numbers have no rows.
    void keepApart(const Op& op)
    {
        if (!isByRow(op)) return;
        Op again = op;
        Shape lead;
        for (std::size_t i = 0; i < op.args.size(); ++i) {
            const ValueId* const operand = op.args[i].value();
            const bool weight = ruleOf(op) == Rule::Linear && i > 0;
            if (!operand || weight || m_old.value(*operand).kind != ir::ValueKind::Tensor || shape(*operand).size() < 2)
                continue;
            const auto rows = apart(op, *operand);
            if (!rows) return;
            Shape own = shape(*rows);
            own.resize(own.size() - shape(*operand).size() + 1);
            if (!lead.empty() && lead != own) return;
            lead = std::move(own);
            again.args[i] = Arg{*rows};
        }
        if (!lead.empty()) appendApart(op, std::move(again), lead);
    }

    void appendApart(const Op& op, Op again, const Shape& lead)
    {
        std::vector<ValueId> made;
        for (const ValueId out : op.outputs) {
            Shape whole = lead;
            whole.insert(whole.end(), shape(out).begin() + 1, shape(out).end());
            made.push_back(fresh(std::move(whole), out));
            m_apart[out] = made.back();
        }
        if (ruleOf(op) == Rule::Split) again.args.back() = Arg{static_cast<std::int64_t>(-1)};
        append(std::move(again), made);
    }

    // The value that was copied.
    ValueId uncopied(ValueId v) const
    {
        const Op* const op = producer(v);
        return op && op->name == "aten::contiguous" ? *valueOf(*op, "self") : v;
    }

    // Groups of columns that are turned to the front of merged rows, each multiplied with its own weight, and turned back.
    void keepGroupsApart(const Op& op)
    {
        const Op* const product = turns(op) ? producer(uncopied(*valueOf(op, "self"))) : nullptr;
        const bool grouped = product && product->name == "aten::matmul" && shape(op.outputs.at(0)).size() == 3;
        const auto weight = grouped ? valueOf(*product, "other") : std::nullopt;
        const Op* const turned = weight ? producer(uncopied(*valueOf(*product, "self"))) : nullptr;
        if (!turned || !turns(*turned) || shape(*weight).size() != 3) return;
        const auto rows = apart(op, *valueOf(*turned, "self"));
        if (!rows) return;
        Shape one = shape(*rows);
        const auto place = static_cast<std::int64_t>(one.size()) - 1;
        one.insert(one.end() - 1, 1);
        const ValueId vectors = add(op, "unsqueeze", {Arg{*rows}, Arg{place}}, one, *rows);
        one.back() = shape(*weight)[2];
        Op again = *product;
        again.args.at(0) = Arg{vectors};
        const ValueId products = fresh(one, op.outputs.at(0));
        append(std::move(again), {products});
        one.erase(one.end() - 2);
        m_apart[op.outputs.at(0)] =
            add(op, "select.int", {Arg{products}, Arg{place}, Arg{std::int64_t{0}}}, one, op.outputs.at(0));
    }

    // ---- sizes of dimensions that were merged

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
