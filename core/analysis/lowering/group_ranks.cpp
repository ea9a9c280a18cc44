#include "analysis/lowering/group_ranks.h"

#include <algorithm>
#include <map>

#include "analysis/lowering/match.h"
#include "analysis/lowering/rewriter.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::Value;
using ir::ValueId;

class GroupRanks : Rewriter {
public:
    explicit GroupRanks(const ir::Program& program) : Rewriter(program), m_old(program)
    {
        for (const Op& op : program.ops)
            ir::forEachOperand(op, [&](ir::Slot, ValueId v) { m_users[v].push_back(&op); });
    }

    ir::Program run()
    {
        for (const Op& op : m_old.ops) {
            if (const auto ranked = rankedRows(op)) pickRanks(op, *ranked);
            else if (const auto padded = paddedGroups(op)) padGroups(op, *padded);
            else if (const auto counts = countsBefore(op)) subtractCounts(op, *counts);
            else append(op, op.outputs);
        }
        return std::move(m_new);
    }

private:
    struct Ranked {
        ValueId rows, index, messages, counts;
    };

    const Value& value(ValueId v) const { return m_old.value(v); }
    const Op* producer(ValueId v) const { return producerOf(m_old, v); }

    const Op* producer(ValueId v, const std::string& name) const
    {
        const Op* op = producer(v);
        return op && op->name == name ? op : nullptr;
    }

    // ---- sorted groups

    struct Picked {
        ValueId from, order;
    };

    std::optional<Picked> alongRows(ValueId v) const
    {
        const Op* op = producer(v, "aten::take_along_dim");
        if (!op || !isNumber(*op, "dim", 0)) return std::nullopt;
        const auto from = valueOf(*op, "self"), order = valueOf(*op, "indices");
        return from && order ? std::optional(Picked{*from, *order}) : std::nullopt;
    }

    // The operator that sorts the rows into `order`, by ascending values.
    const Op* sortOf(ValueId order, bool stable) const
    {
        const Op* op = producer(order, "aten::sort");
        const bool ascending = op && isNumber(*op, "dim", 0) && isFlag(*op, "descending", false, true);
        if (!ascending || op->outputs.size() != 2 || op->outputs[1] != order) return nullptr;
        return !stable || isFlag(*op, "stable", true) ? op : nullptr;
    }

    // A column of row numbers that has been given the shape of messages.
    ValueId column(ValueId v) const
    {
        const Op* op = producer(v);
        const bool shapes = op && (operators::reshapes(op->name) || operators::expands(op->name));
        const auto from = shapes ? valueOf(*op, "self") : std::nullopt;
        const bool same = from && (value(v).shape.size() > 1 || value(v).shape == value(*from).shape);
        return same ? column(*from) : v;
    }

    std::optional<ValueId> countsOf(ValueId index) const
    {
        const auto it = m_users.find(index);
        if (it == m_users.end()) return std::nullopt;
        for (const Op* op : it->second)
            if (op->name == "aten::bincount" && !valueOf(*op, "weights")) return op->outputs.at(0);
        return std::nullopt;
    }

    // The rows that are picked: one for each group, or some in a dimension of their own.
    static std::optional<ValueId> rowsPickedBy(const Op& op)
    {
        if (op.name == "aten::index_select" && isNumber(op, "dim", 0)) return valueOf(op, "index");
        const Arg* indices = op.name == "aten::index" ? ir::argument(op, "indices") : nullptr;
        const bool one = indices && indices->list() && indices->list()->size() == 1;
        return one && indices->list()->front().value() ? std::optional(*indices->list()->front().value())
                                                       : std::nullopt;
    }

    bool forEachGroup(ValueId rows, ValueId counts) const
    {
        const auto &picked = value(rows).shape, &groups = value(counts).shape;
        return picked == groups || (picked.size() == 2 && groups.size() == 1 && picked[0] == groups[0]);
    }

    std::optional<Ranked> rankedRows(const Op& op) const
    {
        const auto rows = rowsPickedBy(op);
        const auto sorted = rows ? valueOf(op, "self") : std::nullopt;
        const auto byGroup = sorted ? alongRows(*sorted) : std::nullopt;
        const Op* second = byGroup ? sortOf(byGroup->order, true) : nullptr;
        const auto keys = second ? alongRows(*valueOf(*second, "self")) : std::nullopt;
        const Op* first = keys ? sortOf(keys->order, false) : nullptr;
        if (!first || first->outputs[0] != byGroup->from) return std::nullopt;
        const ValueId index = column(keys->from), messages = *valueOf(*first, "self");
        const auto counts = countsOf(index);
        const bool fits = counts && value(index).shape.size() == 1 && forEachGroup(*rows, *counts);
        if (!fits || !isMasked(op.outputs.at(0), *counts)) return std::nullopt;
        return Ranked{.rows = *rows, .index = index, .messages = messages, .counts = *counts};
    }

    // ---- empty groups

    // True if it tells which of the groups are empty.
    bool tellsEmpty(ValueId mask, ValueId counts) const
    {
        const Op* op = producer(mask);
        const auto self = op ? valueOf(*op, "self") : std::nullopt;
        if (!self) return false;
        if (op->name == "aten::eq") return *self == counts && isNumber(*op, "other", 0);
        const bool repeats = operators::expands(op->name) || op->name == "aten::repeat_interleave";
        const bool moves = operators::reshapes(op->name) || repeats;
        return moves && tellsEmpty(*self, counts);
    }

    // True if all results that follow from the value replace its numbers for empty groups.
    bool isMasked(ValueId v, ValueId counts) const
    {
        const auto it = m_users.find(v);
        const bool isOutput = std::ranges::any_of(m_old.outputs, [&](const ir::NamedValue& o) { return o.value == v; });
        return !isOutput && it != m_users.end() && std::ranges::all_of(it->second, [&](const Op* op) {
            const auto mask = op->name == "aten::masked_fill" ? valueOf(*op, "mask") : std::nullopt;
            if (mask && valueOf(*op, "self") == v && tellsEmpty(*mask, counts)) return true;
            const bool pointwise = operators::of(op->name).rule == operators::Rule::Pointwise;
            return pointwise && isMasked(op->outputs.at(0), counts);
        });
    }

    void pickRanks(const Op& op, const Ranked& r)
    {
        const Value numbers = like(r.counts);
        const ValueId starts = add(op, "sub.Tensor", {Arg{sums(op, r.counts)}, Arg{r.counts}, one()}, numbers);
        if (value(r.rows).shape.size() == 2) return pickSeveral(op, r, starts);
        const ValueId ranks = add(op, "sub.Tensor", {Arg{r.rows}, Arg{starts}, one()}, numbers);
        append(syntheticOp("hopscope::select_rank", {Arg{ranks}, Arg{r.index}, Arg{r.messages}}, op), op.outputs);
    }

    // Ranks of a column each.
    void pickSeveral(const Op& op, const Ranked& r, ValueId starts)
    {
        Value picked = like(op.outputs.at(0));
        const std::int64_t columns = picked.shape.at(1);
        picked.shape.erase(picked.shape.begin() + 1);
        ir::ArgList all;
        for (std::int64_t i = 0; i < columns; ++i) {
            const ValueId rows = add(op, "select.int", {Arg{r.rows}, Arg{std::int64_t{1}}, Arg{i}}, like(r.counts));
            const ValueId ranks = add(op, "sub.Tensor", {Arg{rows}, Arg{starts}, one()}, like(r.counts));
            all.push_back(Arg{add(op, "hopscope::select_rank", {Arg{ranks}, Arg{r.index}, Arg{r.messages}}, picked)});
        }
        append(syntheticOp("stack", {Arg{std::move(all)}, Arg{std::int64_t{1}}}, op), op.outputs);
    }

    // ---- groups as rows of a matrix

    struct Padded {
        ValueId counts, index;
        ValueId messages;  // invalid where each writes true
        std::int64_t width = 0;
    };

    // The places to which messages are written: the width of a group times its number, plus the message's place in it.
    // Those beyond the width go into an extra row, which is cut off.
    struct Places {
        ValueId counts, index;
        std::int64_t width = 0;
    };

    std::optional<Padded> paddedGroups(const Op& op) const
    {
        const auto rows = operators::reshapes(op.name) ? valueOf(op, "self") : std::nullopt;
        const Op* cut = rows ? producer(*rows, "aten::slice") : nullptr;
        const bool first = cut && isNumber(*cut, "dim", 0, true) && isNumber(*cut, "start", 0, true);
        const auto written = first ? valueOf(*cut, "self") : rows;
        const Op* put = written ? producer(*written, "aten::index_put") : nullptr;
        const Arg* indices = put ? ir::argument(*put, "indices") : nullptr;
        if (!indices || !indices->list() || indices->list()->size() != 1 || !indices->list()->front().value())
            return std::nullopt;
        const auto places = placesOf(*indices->list()->front().value(), first);
        const auto messages = valueOf(*put, "values");
        if (!places || !messages || !isZeroRows(*valueOf(*put, "self"))) return std::nullopt;
        std::vector<std::int64_t> shape = value(*messages).shape;
        const std::vector<std::int64_t>& groups = value(places->counts).shape;
        const bool marks =
            shape.empty() && value(*messages).literal == std::vector<double>{1};  // which places are taken
        if (marks) shape = value(places->index).shape;
        if (shape.empty() || groups.size() != 1) return std::nullopt;
        shape[0] = groups[0];
        shape.insert(shape.begin() + 1, places->width);
        if (value(op.outputs.at(0)).shape != shape) return std::nullopt;
        return Padded{.counts = places->counts,
                      .index = places->index,
                      .messages = marks ? ValueId{} : *messages,
                      .width = places->width};
    }

    bool isZeroRows(ValueId v) const
    {
        const Op* op = producer(v);
        if (!op) return value(v).literal == std::vector<double>{0};
        const bool copies = op->name == "aten::repeat" || op->name == "aten::to" || op->name == "aten::expand";
        const auto from = copies ? valueOf(*op, "self") : std::nullopt;
        return isZeros(v) || (from && isZeroRows(*from));
    }

    std::optional<Places> placesOf(ValueId v, bool cut) const
    {
        const Op* op = producer(v);
        if (!cut || !op || op->name != "aten::where") return cut ? std::nullopt : placesInGroups(v);
        const auto inside = valueOf(*op, "condition"), place = valueOf(*op, "self");
        const auto found = place ? placesInGroups(*place) : std::nullopt;
        const Op* lower = inside ? producer(*inside, "aten::lt") : nullptr;
        const Op* sum = found ? producer(*place) : nullptr;
        const bool same = lower && sum && valueOf(*lower, "self") == valueOf(*sum, "self");
        return same && isNumber(*lower, "other", found->width) ? found : std::nullopt;
    }

    // (arange(E) - sums[index]) + index * width, sums of the counts before each group.
    std::optional<Places> placesInGroups(ValueId v) const
    {
        const Op* sum = producer(v, "aten::add");
        const auto within = sum && isNumber(*sum, "alpha", 1, true) ? valueOf(*sum, "self") : std::nullopt;
        const auto base = within ? valueOf(*sum, "other") : std::nullopt;
        const Op* scaled = base ? producer(*base, "aten::mul") : nullptr;
        const auto index = scaled ? valueOf(*scaled, "self") : std::nullopt;
        const Arg* width = index ? ir::argument(*scaled, "other") : nullptr;
        const Op* difference = width ? producer(*within, "aten::sub") : nullptr;
        const auto starts = difference ? valueOf(*difference, "other") : std::nullopt;
        if (!starts || !isNumber(*difference, "alpha", 1, true)) return std::nullopt;
        const auto counts = countsAt(*starts, *index);
        const auto times = numberOf(*width);
        if (!counts || !times || !isPositions(*valueOf(*difference, "self"))) return std::nullopt;
        return Places{.counts = *counts, .index = *index, .width = *times};
    }

    std::optional<std::int64_t> numberOf(const Arg& arg) const
    {
        if (arg.integer()) return *arg.integer();
        const auto& literal = arg.value() ? value(*arg.value()).literal : std::vector<double>{};
        return literal.size() == 1 ? std::optional(static_cast<std::int64_t>(literal[0])) : std::nullopt;
    }

    bool isPositions(ValueId v) const
    {
        const Op* op = producer(v, "aten::arange");
        return op && isNumber(*op, "start", 0, true) && isNumber(*op, "step", 1, true);
    }

    // sums[index], with sums = cumsum(counts of index) behind a zero.
    std::optional<ValueId> countsAt(ValueId picked, ValueId index) const
    {
        const Op* op = producer(picked, "aten::index");
        const Arg* indices = op ? ir::argument(*op, "indices") : nullptr;
        const bool one = indices && indices->list() && indices->list()->size() == 1;
        if (!one || !indices->list()->front().value() || *indices->list()->front().value() != index)
            return std::nullopt;
        const auto counts = summedBehindZero(*valueOf(*op, "self"));
        return counts && isCount(*counts, index) ? counts : std::nullopt;
    }

    // True if `counts` holds the number of times that each row number is in the index.
    bool isCount(ValueId counts, ValueId index) const
    {
        const Op* op = producer(counts);
        if (!op || (op->name != "aten::scatter_add" && op->name != "aten::index_add")) return false;
        if (!onlyGives(*op, {"self", "dim", "index", "src", "source"})) return false;
        const auto table = valueOf(*op, "self"), rows = valueOf(*op, "index");
        const auto ones = valueOf(*op, op->name == "aten::scatter_add" ? "src" : "source");
        const Op* fill = ones ? producer(*ones) : nullptr;
        const bool counting = fill && operators::of(fill->name).traits.fill == operators::Fill::One;
        return counting && table && isZeros(*table) && rows && column(*rows) == column(index);
    }

    void padGroups(const Op& op, const Padded& p)
    {
        ValueId messages = p.messages;
        if (!messages.valid()) {
            Value marks = like(p.index);
            marks.dtype = value(op.outputs.at(0)).dtype;
            messages = add(op, "full_like", {Arg{p.index}, one(), Arg{dtypeCode(marks.dtype)}}, marks);
        }
        append(syntheticOp("hopscope::pad_groups", {Arg{p.counts}, Arg{p.index}, Arg{messages}, Arg{p.width}}, op),
               op.outputs);
    }

    // ---- prefix sums

    bool isZeros(ValueId v) const
    {
        const Op* op = producer(v);
        return op && operators::of(op->name).traits.fill == operators::Fill::Zero &&
               op->name.find("empty") == std::string::npos;
    }

    // The values written into the `rows` rows from `start` on.
    std::optional<Picked> written(ValueId v, std::int64_t start, std::int64_t rows) const
    {
        const Op* op = producer(v, "aten::slice_scatter");
        if (!op || !isNumber(*op, "dim", 0, true) || !isNumber(*op, "start", start, start == 0)) return std::nullopt;
        const auto self = valueOf(*op, "self"), source = valueOf(*op, "src");
        if (!self || !source || value(*source).shape != std::vector{rows}) return std::nullopt;
        return Picked{*self, *source};
    }

    // For whole numbers n: all but the last row of cumsum(n) with 0 in front of it.
    std::optional<ValueId> countsBefore(const Op& op) const
    {
        const bool first = op.name == "aten::slice" && isNumber(op, "dim", 0, true) && isNumber(op, "start", 0, true) &&
                           isNumber(op, "end", -1) && isNumber(op, "step", 1, true);
        const auto whole = first ? valueOf(op, "self") : std::nullopt;
        return whole ? summedBehindZero(*whole) : std::nullopt;
    }

    // The whole numbers n if `v` is cumsum(n) with 0 in front of it.
    std::optional<ValueId> summedBehindZero(ValueId v) const
    {
        const Value& whole = value(v);
        if (whole.shape.size() != 1 || !base::isIntegral(whole.dtype)) return std::nullopt;
        const auto behind = written(v, 1, whole.shape[0] - 1);
        const auto front = behind ? written(behind->from, 0, 1) : std::nullopt;
        const Op* total = front && isZeros(front->order) ? producer(behind->order, "aten::cumsum") : nullptr;
        const auto counts = total && isNumber(*total, "dim", 0) ? valueOf(*total, "self") : std::nullopt;
        return counts && value(*counts).dtype == whole.dtype ? counts : std::nullopt;
    }

    void subtractCounts(const Op& op, ValueId counts)
    {
        const ValueId total = sums(op, counts);
        append(syntheticOp("sub.Tensor", {Arg{total}, Arg{counts}, one()}, op), op.outputs);
    }

    ValueId sums(const Op& op, ValueId counts)
    {
        return add(op, "cumsum", {Arg{counts}, Arg{std::int64_t{0}}, {}}, like(counts));
    }

    // ---- the new program

    static Arg one() { return Arg{std::int64_t{1}}; }

    Value like(ValueId v) const
    {
        Value out;
        out.shape = value(v).shape;
        out.dtype = value(v).dtype;
        return out;
    }

    const ir::Program& m_old;
    std::map<ValueId, std::vector<const Op*>> m_users;
};

}  // namespace

ir::Program rankGroups(const ir::Program& program) { return GroupRanks(program).run(); }

}  // namespace hopscope::analysis
