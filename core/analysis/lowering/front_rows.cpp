#include "analysis/lowering/front_rows.h"

#include <limits>
#include <map>

#include "analysis/lowering/match.h"
#include "analysis/lowering/rewriter.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using ir::Op;
using ir::Value;
using ir::ValueId;

class Fronts : Rewriter {
public:
    explicit Fronts(const ir::Program& program) : Rewriter(program), m_old(program) {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops) {
            if (const auto rows = behind(op)) m_same[op.outputs.at(0)] = now(*rows);
            else if (const auto front = comparedWithBefore(op)) compare(op, *front);
            else append(op, op.outputs);
        }
        for (ir::NamedValue& output : m_new.outputs) output.value = now(output.value);
        return std::move(m_new);
    }

private:
    struct Front {
        ValueId number, rows;
    };

    const Value& value(ValueId v) const { return m_old.value(v); }

    const Op* producer(ValueId v, const std::string& name) const
    {
        const Op* op = producerOf(m_old, v);
        return op && op->name == name ? op : nullptr;
    }

    static bool isRange(const Op& op, std::int64_t start, std::int64_t end)
    {
        return isNumber(op, "dim", 0, true) && isNumber(op, "start", start, start == 0) &&
               isNumber(op, "step", 1, true) && isNumber(op, "end", end, end == all);
    }

    // The number written into the first row, before all the other rows are written.
    std::optional<ValueId> numberIn(ValueId v) const
    {
        if (const Op* put = producer(v, "aten::select_scatter")) {
            const auto number = valueOf(*put, "src");
            const bool first = isNumber(*put, "dim", 0) && isNumber(*put, "index", 0);
            return first && number && value(v).shape.size() == 1 ? number : std::nullopt;
        }
        const Op* rows = producer(v, "aten::slice_scatter");
        return rows && isRange(*rows, 1, all) ? numberIn(*valueOf(*rows, "self")) : std::nullopt;
    }

    // True if differences have the sign of a comparison: there is neither NaN nor, among keys of edges, an overflow.
    bool isKey(ValueId v) const { return value(v).dtype == base::DType::Int64; }

    std::optional<Front> frontOf(ValueId v) const
    {
        const Op* put = producer(v, "aten::slice_scatter");
        if (!put || !isRange(*put, 1, all)) return std::nullopt;
        const auto number = numberIn(*valueOf(*put, "self"));
        const auto rows = valueOf(*put, "src");
        return number && rows && isKey(v) && isKey(*rows) && isKey(*number) ? std::optional(Front{*number, *rows})
                                                                            : std::nullopt;
    }

    std::optional<ValueId> behind(const Op& op) const
    {
        const auto self = op.name == "aten::slice" && isRange(op, 1, all) ? valueOf(op, "self") : std::nullopt;
        const auto front = self ? frontOf(*self) : std::nullopt;
        return front ? std::optional(front->rows) : std::nullopt;
    }

    std::optional<ValueId> slicedFrom(std::optional<ValueId> v, std::int64_t start, std::int64_t end) const
    {
        const Op* op = v ? producer(*v, "aten::slice") : nullptr;
        return op && isRange(*op, start, end) ? valueOf(*op, "self") : std::nullopt;
    }

    std::optional<Front> comparedWithBefore(const Op& op) const
    {
        if (op.name != "aten::gt" && op.name != "aten::ne") return std::nullopt;
        const auto after = slicedFrom(valueOf(op, "self"), 1, all), before = slicedFrom(valueOf(op, "other"), 0, -1);
        return after && after == before ? frontOf(*after) : std::nullopt;
    }

    void compare(const Op& op, const Front& front)
    {
        const ValueId first = add(op, "unsqueeze", {Arg{now(front.number)}, Arg{std::int64_t{0}}}, front.rows, {1});
        const ValueId step =
            add(op, "diff", {Arg{now(front.rows)}, Arg{std::int64_t{1}}, Arg{std::int64_t{-1}}, Arg{first}}, front.rows,
                value(front.rows).shape);
        append(syntheticOp(op.name.substr(op.name.find("::") + 2) + ".Scalar", {Arg{step}, Arg{std::int64_t{0}}}, op),
               op.outputs);
    }

    // ---- the new program

    ValueId now(ValueId v) const
    {
        const auto it = m_same.find(v);
        return it == m_same.end() ? v : it->second;
    }

    Arg now(const Arg& arg) const
    {
        if (arg.value()) return Arg{now(*arg.value())};
        if (!arg.list()) return arg;
        ArgList items;
        for (const Arg& item : *arg.list()) items.push_back(now(item));
        return Arg{std::move(items)};
    }

    ValueId add(const Op& place, const std::string& signature, std::vector<Arg> args, ValueId like,
                std::vector<std::int64_t> shape)
    {
        Value out;
        out.shape = std::move(shape);
        out.dtype = value(like).dtype;
        return Rewriter::add(place, signature, std::move(args), std::move(out));
    }

    void append(Op op, const std::vector<ValueId>& outputs)
    {
        for (Arg& arg : op.args) arg = now(arg);
        Rewriter::append(std::move(op), outputs);
    }

    static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

    const ir::Program& m_old;
    std::map<ValueId, ValueId> m_same;
};

}  // namespace

ir::Program dropFronts(const ir::Program& program) { return Fronts(program).run(); }

}  // namespace hopscope::analysis
