#include "analysis/lowering/merged_rows.h"

#include <algorithm>
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

// The two sizes that a value's first dimension is the product of.
struct Merged {
    std::int64_t rows = 0, each = 0;
    bool operator==(const Merged&) const = default;
};

class Separation : Rewriter {
public:
    explicit Separation(const ir::Program& program) : Rewriter(program), m_old(program) {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops)
            if (!separate(op)) append(op, op.outputs);
        return std::move(m_new);
    }

private:
    const Value& value(ValueId v) const { return m_new.value(v); }
    const Shape& shape(ValueId v) const { return value(v).shape; }
    const Op* producer(ValueId v) const { return producerOf(m_old, v); }
    static Rule ruleOf(const Op& op) { return operators::of(op.name).rule; }
    static bool isReshape(const Op& op) { return ruleOf(op) == Rule::Reshape; }

    // ---- what can be separated

    std::optional<Merged> mergedOf(ValueId v)
    {
        if (value(v).kind != ir::ValueKind::Tensor || shape(v).empty()) return std::nullopt;
        const auto known = m_merged.find(v);
        if (known != m_merged.end()) return known->second;
        const Op* op = producer(v);
        const std::optional<Merged> found = op && op->outputs.size() == 1 ? mergedBy(*op, shape(v)) : std::nullopt;
        m_merged.emplace(v, found);
        return found;
    }

    std::optional<Merged> mergedBy(const Op& op, const Shape& out)
    {
        if (isReshape(op)) return mergedByReshape(op, out);
        switch (ruleOf(op)) {
        case Rule::RepeatInterleave: return mergedByRepeating(op);
        case Rule::Unsqueeze: return unsqueezed(op) > 0 ? mergedOf(*valueOf(op, "self")) : std::nullopt;
        case Rule::Pointwise: return isElementwise(m_old, op) ? mergedOperands(op, out.size()) : std::nullopt;
        case Rule::Copy: return mergedOperands(op, out.size());
        case Rule::Linear: return mergedOf(*valueOf(op, "input"));
        case Rule::Dimwise: return insideRows(op) ? mergedOf(*valueOf(op, "self")) : std::nullopt;
        default: return isLookUp(op) ? mergedOf(*valueOf(op, "index")) : std::nullopt;
        }
    }

    std::optional<Merged> mergedByReshape(const Op& op, const Shape& out)
    {
        const ValueId self = *valueOf(op, "self");
        const Shape& from = shape(self);
        if (const auto merged = mergedOf(self)) return addsOnes(from, out) ? merged : std::nullopt;
        const bool merges = from.size() > 1 && from[0] > 1 && out[0] > from[0] && out[0] % from[0] == 0;
        return merges ? std::optional(Merged{from[0], out[0] / from[0]}) : std::nullopt;
    }

    static bool addsOnes(const Shape& from, const Shape& to)
    {
        return to.size() >= from.size() && std::equal(from.begin(), from.end(), to.begin()) &&
               std::all_of(to.begin() + static_cast<std::ptrdiff_t>(from.size()), to.end(),
                           [](std::int64_t n) { return n == 1; });
    }

    std::optional<Merged> mergedByRepeating(const Op& op) const
    {
        const auto self = valueOf(op, "self");
        const Arg* repeats = self ? ir::argument(op, "repeats") : nullptr;
        const bool along =
            repeats && (isNumber(op, "dim", 0) || (shape(*self).size() == 1 && isNumber(op, "dim", 0, true)));
        const std::optional<std::int64_t> each = along ? constantOf(*repeats) : std::nullopt;
        return each && *each > 1 ? std::optional(Merged{shape(*self)[0], *each}) : std::nullopt;
    }

    // A number that does not depend on the graph.
    std::optional<std::int64_t> constantOf(const Arg& arg) const
    {
        if (arg.integer()) return *arg.integer();
        const auto& literal = arg.value() ? value(*arg.value()).literal : std::vector<double>{};
        return literal.size() == 1 ? std::optional(static_cast<std::int64_t>(literal[0])) : std::nullopt;
    }

    static std::int64_t unsqueezed(const Op& op)
    {
        const Arg* dim = ir::argument(op, "dim");
        return dim && dim->integer() ? *dim->integer() : 0;
    }

    // Along a dimension other than the first, which in the separated value is the dimension after it as well.
    [[nodiscard]] bool insideRows(const Op& op) const
    {
        const Arg* dim = ir::argument(op, "dim");
        const auto self = valueOf(op, "self");
        return dim && dim->integer() && self && *dim->integer() != 0 &&
               *dim->integer() != -static_cast<std::int64_t>(shape(*self).size());
    }

    static bool isLookUp(const Op& op) { return op.name == "aten::index_select" && isNumber(op, "dim", 0); }

    // Looks at operands that have the result's rows; others have none.
    std::optional<Merged> mergedOperands(const Op& op, std::size_t rank)
    {
        std::optional<Merged> found;
        bool same = true;
        ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
            if (value(v).kind != ir::ValueKind::Tensor || shape(v).size() < rank || shape(v)[0] == 1) return;
            const auto merged = mergedOf(v);
            same = same && merged && (!found || *found == *merged);
            found = merged;
        });
        return same ? found : std::nullopt;
    }

    // ---- the same with both dimensions

    ValueId separated(ValueId v)
    {
        if (const auto it = m_separated.find(v); it != m_separated.end()) return it->second;
        const ValueId out = separatedBy(*producer(v), v, *mergedOf(v));
        m_separated.emplace(v, out);
        return out;
    }

    ValueId separatedBy(const Op& op, ValueId v, const Merged& merged)
    {
        if (isReshape(op)) return separatedReshape(op, v, merged);
        switch (ruleOf(op)) {
        case Rule::RepeatInterleave: return repeated(op, v, merged);
        case Rule::Unsqueeze:
            return add(op, "unsqueeze", {Arg{separated(*valueOf(op, "self"))}, Arg{unsqueezed(op) + 1}}, v, merged);
        case Rule::Pointwise:
        case Rule::Copy:
        case Rule::Linear:
        case Rule::Dimwise: return again(op, v, merged);
        default: break;
        }
        const ValueId rows = separated(*valueOf(op, "index"));
        return add(op, "index.Tensor", {Arg{*valueOf(op, "self")}, Arg{ArgList{Arg{rows}}}}, v, merged);
    }

    ValueId separatedReshape(const Op& op, ValueId v, const Merged& merged)
    {
        const ValueId self = *valueOf(op, "self");
        if (mergedOf(self)) {
            ValueId out = separated(self);
            for (std::size_t dim = shape(self).size(); dim < shape(v).size(); ++dim)
                out = add(op, "unsqueeze", {Arg{out}, Arg{std::int64_t{-1}}}, separateShape(self, merged, dim + 1), v);
            return out;
        }
        const Shape wanted = separateShape(v, merged, shape(v).size());
        if (shape(self) == wanted) return self;
        ArgList sizes{Arg{rowsOf(op, self)}};
        for (std::size_t dim = 1; dim < wanted.size(); ++dim) sizes.push_back(Arg{wanted[dim]});
        return add(op, "reshape", {Arg{self}, Arg{std::move(sizes)}}, v, merged);
    }

    ValueId repeated(const Op& op, ValueId v, const Merged& merged)
    {
        const ValueId self = *valueOf(op, "self");
        Shape one = shape(self);
        one.insert(one.begin() + 1, 1);
        const ValueId column = add(op, "unsqueeze", {Arg{self}, Arg{std::int64_t{1}}}, one, v);
        ArgList sizes(one.size(), Arg{std::int64_t{-1}});
        sizes[1] = Arg{merged.each};
        return add(op, "expand", {Arg{column}, Arg{std::move(sizes)}, Arg{false}}, v, merged);
    }

    // The operator itself, on operands with both dimensions.
    ValueId again(const Op& op, ValueId v, const Merged& merged)
    {
        const std::size_t rank = shape(v).size();
        Op copy = op;
        for (std::size_t i = 0; i < copy.args.size(); ++i) {
            const ValueId* operand = copy.args[i].value();
            const bool weight = ruleOf(op) == Rule::Linear && op.argInfo.at(i).name != "input";
            if (!operand || weight || !mergedOf(*operand) || shape(*operand).size() != rank) continue;
            copy.args[i] = Arg{separated(*operand)};
        }
        for (std::size_t i = 0; ruleOf(op) == Rule::Dimwise && i < copy.args.size(); ++i)
            if (const std::int64_t* dim = copy.args[i].integer(); dim && op.argInfo.at(i).name == "dim" && *dim > 0)
                copy.args[i] = Arg{*dim + 1};
        const ValueId out = fresh(separateShape(v, merged, rank), v);
        append(std::move(copy), {out});
        return out;
    }

    // ---- where rows are separated again

    bool separate(const Op& op)
    {
        if (!isReshape(op) || !valueOf(op, "self")) return false;
        const ValueId self = *valueOf(op, "self"), out = op.outputs.at(0);
        const Arg* sizes = sizesOf(op);
        if (!sizes || !sizes->list() || shape(out).empty() || sizes->list()->size() != shape(out).size()) return false;
        const auto merged = mergedOf(self);
        const bool rest = std::all_of(sizes->list()->begin() + 1, sizes->list()->end(),
                                      [](const Arg& size) { return size.integer() != nullptr; });
        if (!merged || !rest || shape(out)[0] != merged->rows) return false;
        const ValueId from = separated(self);
        ArgList wanted = *sizes->list();
        wanted[0] = Arg{rowsOf(op, from)};
        append(syntheticOp("reshape", {Arg{from}, Arg{std::move(wanted)}}, op), op.outputs);
        return true;
    }

    // ---- the new program

    ValueId rowsOf(const Op& place, ValueId v)
    {
        Value size;
        size.kind = ir::ValueKind::Int;
        size.number = static_cast<double>(shape(v)[0]);
        return Rewriter::add(place, "scalar::size", {Arg{v}, Arg{std::int64_t{0}}}, std::move(size));
    }

    // The shape of the first `rank` dimensions of a merged value.
    Shape separateShape(ValueId v, const Merged& merged, std::size_t rank) const
    {
        Shape out = shape(v);
        out.resize(rank, 1);
        out[0] = merged.each;
        out.insert(out.begin(), merged.rows);
        return out;
    }

    ValueId fresh(Shape shape, ValueId like)
    {
        Value out;
        out.shape = std::move(shape);
        out.dtype = value(like).dtype;
        return Rewriter::fresh(std::move(out));
    }

    ValueId add(const Op& place, const std::string& signature, std::vector<Arg> args, ValueId v, const Merged& merged)
    {
        return add(place, signature, std::move(args), separateShape(v, merged, shape(v).size()), v);
    }

    ValueId add(const Op& place, const std::string& signature, std::vector<Arg> args, Shape shape, ValueId like)
    {
        const ValueId out = fresh(std::move(shape), like);
        append(syntheticOp(signature, std::move(args), place), {out});
        return out;
    }

    const ir::Program& m_old;
    std::map<ValueId, std::optional<Merged>> m_merged;
    std::map<ValueId, ValueId> m_separated;
};

}  // namespace

ir::Program separateMergedRows(const ir::Program& program) { return Separation(program).run(); }

}  // namespace hopscope::analysis
