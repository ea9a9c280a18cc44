#include "analysis/lowering/early_products.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analysis/lowering/dead_code.h"
#include "analysis/lowering/gathered_sums.h"
#include "analysis/lowering/match.h"
#include "analysis/lowering/moved_products.h"
#include "analysis/lowering/rewriter.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::Value;
using ir::ValueId;
using operators::Rule;

// Multiplications that take as long as reading one number of a gathered row.
constexpr std::int64_t productsPerRead = 32;

class EarlyProducts : Rewriter {
public:
    EarlyProducts(const ir::Program& program, const RowCounts& rows, std::vector<Reassociation>& moved)
        : Rewriter(program),
          m_old(program),
          m_rows(rows),
          m_moved(moved)
    {}

    ir::Program run()
    {
        for (const Op& op : m_old.ops)
            if (!multiply(op) && !join(op)) {
                append(op, op.outputs);
                note(op);
            }
        return std::move(m_new);
    }

private:
    // ---- what values are sums of

    [[nodiscard]] const GatheredSum* sumOf(std::optional<ValueId> v) const
    {
        const auto found = v ? m_sums.find(*v) : m_sums.end();
        return found == m_sums.end() ? nullptr : &found->second;
    }

    [[nodiscard]] const std::vector<std::int64_t>& shape(ValueId v) const { return m_new.value(v).shape; }

    [[nodiscard]] SummedColumns asItIs(ValueId v) const
    {
        return {.width = shape(v).back(), .summands = {{.gather = {}, .table = v}}, .whole = v};
    }

    void note(const Op& op)
    {
        if (op.outputs.size() != 1 || !base::isFloating(m_old.value(op.outputs[0]).dtype)) return;
        const ValueId out = op.outputs[0];
        if (const auto gather = rowGather(m_old, op)) {
            const Summand rows{.gather = gather, .table = *valueOf(op, "self")};
            m_sums[out] = {.columns = {{.width = shape(out).back(), .summands = {rows}, .whole = out}}};
            return;
        }
        if (op.name == "aten::add" || op.name == "aten::sub") addUp(op);
        else if (op.name == "aten::neg") negate(op);
        else if (operators::of(op.name).rule == Rule::Cat) placeSideBySide(op);
        else if (const GatheredSum* sum = sumOf(valueOf(op, "self")); sum && keepsRows(m_old, op, *sum))
            apply(op, *sum);
    }

    void addUp(const Op& op)
    {
        const auto a = valueOf(op, "self"), b = valueOf(op, "other");
        if (!a || !b || !isNumber(op, "alpha", 1, true) || shape(*a) != shape(*b)) return;
        const GatheredSum *const first = sumOf(a), *const second = sumOf(b);
        if ((!first && !second) || (first && !first->single()) || (second && !second->single())) return;
        SummedColumns sum = first ? first->columns[0] : asItIs(*a);
        sum.whole = op.outputs[0];
        for (Summand summand : (second ? second->columns[0] : asItIs(*b)).summands) {
            summand.negative = summand.negative != (op.name == "aten::sub");
            sum.summands.push_back(summand);
        }
        m_sums[op.outputs[0]] = {.columns = {sum},
                                 .multiplied = (first && first->multiplied) || (second && second->multiplied)};
    }

    void negate(const Op& op)
    {
        const GatheredSum* const sum = sumOf(valueOf(op, "self"));
        if (!sum || !sum->single()) return;
        GatheredSum negated = *sum;
        for (Summand& summand : negated.columns[0].summands) summand.negative = !summand.negative;
        negated.columns[0].whole = op.outputs[0];
        m_sums[op.outputs[0]] = std::move(negated);
    }

    void placeSideBySide(const Op& op)
    {
        const Arg* const tensors = ir::argument(op, "tensors");
        const Arg* const dim = ir::argument(op, "dim");
        const auto last = static_cast<std::int64_t>(shape(op.outputs[0]).size()) - 1;
        if (!tensors || !tensors->list() || !dim->integer() || (*dim->integer() != last && *dim->integer() != -1))
            return;
        GatheredSum all;
        bool gathers = false;
        for (const Arg& item : *tensors->list()) {
            const GatheredSum* const sum = item.value() ? sumOf(*item.value()) : nullptr;
            if (!item.value() || static_cast<std::int64_t>(shape(*item.value()).size()) != last + 1) return;
            gathers = gathers || sum;
            all.multiplied = all.multiplied || (sum && sum->multiplied);
            if (sum) all.columns.insert(all.columns.end(), sum->columns.begin(), sum->columns.end());
            else all.columns.push_back(asItIs(*item.value()));
        }
        if (gathers) m_sums[op.outputs[0]] = std::move(all);
    }

    // Applies the operator to the tables as well, each of them once. Dead where nothing needs them.
    void apply(const Op& op, GatheredSum sum)
    {
        const bool single = sum.single();
        std::map<std::pair<ValueId, std::int64_t>, ValueId> made;  // of a table and its columns
        for (SummedColumns& columns : sum.columns) {
            for (Summand& summand : columns.summands) {
                ValueId& result = made[{summand.table, columns.width}];
                if (!result.valid()) {
                    Applied applied = appliedTo(m_new, op, summand, columns.width);
                    result = fresh(std::move(applied.result));
                    append(std::move(applied.op), {result});
                }
                summand.table = result;
            }
            if (single) columns.width = shape(op.outputs[0]).back();
            columns.whole = single ? std::optional(op.outputs[0]) : std::nullopt;
        }
        m_sums[op.outputs[0]] = std::move(sum);
    }

    // ---- sums as operators

    ValueId gathered(const Summand& summand, std::optional<ValueId> result = {})
    {
        const RowGather& gather = *summand.gather;
        Value rows = m_new.value(summand.table);
        rows.shape[static_cast<std::size_t>(gather.dim)] = shape(gather.index)[0];
        Op copy = *gather.op;
        for (std::size_t i = 0; i < copy.args.size(); ++i) {
            if (copy.argInfo[i].name == "self") copy.args[i] = Arg{summand.table};
            if (copy.argInfo[i].name == "dim") copy.args[i] = Arg{gather.dim};
        }
        if (!result) result = fresh(std::move(rows));
        append(std::move(copy), {*result});
        return *result;
    }

    ValueId rowsOf(const Summand& summand) { return summand.gather ? gathered(summand) : summand.table; }

    // Appends operators whose result is that of `op`. No summand is negative, and the first one is gathered.
    void become(const Op& op, const std::vector<Summand>& summands)
    {
        const ValueId out = op.outputs[0];
        m_sums[out] = {.columns = {{.width = shape(out).back(), .summands = summands, .whole = out}},
                       .multiplied = true};
        if (summands.size() == 1) {
            gathered(summands[0], out);
            return;
        }
        ValueId sum = rowsOf(summands[0]);
        for (std::size_t i = 1; i + 1 < summands.size(); ++i)
            sum = add(op, "add.Tensor", {Arg{sum}, Arg{rowsOf(summands[i])}, one()}, m_old.value(out));
        const ValueId last = rowsOf(summands.back());
        append(syntheticOp("add.Tensor", {Arg{sum}, Arg{last}, one()}, op), {out});
    }

    static Arg one() { return Arg{std::int64_t{1}}; }

    // ---- products

    struct Part {
        std::optional<RowGather> gather;
        ValueId rows, weight;  // [out, in]
    };

    [[nodiscard]] std::int64_t rowsInData(std::int64_t inSample) const
    {
        const auto found = m_rows.find(inSample);
        return found == m_rows.end() ? -1 : found->second;
    }

    [[nodiscard]] bool hasFewerRows(const Summand& summand) const
    {
        if (!summand.gather) return false;
        const std::int64_t table = shape(summand.table)[static_cast<std::size_t>(summand.gather->dim)];
        const std::int64_t gathered = shape(summand.gather->index)[0];
        const std::int64_t inTable = rowsInData(table), all = rowsInData(gathered);
        return inTable < 0 || all < 0 ? table < gathered : inTable < all;
    }

    [[nodiscard]] bool moves(const SummedColumns& columns) const
    {
        return std::ranges::all_of(columns.summands, [&](const Summand& summand) { return hasFewerRows(summand); });
    }

    // The parts that are multiplied before a gather: their columns, and the columns of the rows that they gather.
    struct Moved {
        std::int64_t columns = 0, reads = 0;
        std::vector<RowGather> gathers{};
    };

    [[nodiscard]] Moved movedParts(const GatheredSum& sum) const
    {
        Moved moved;
        std::set<std::pair<ValueId, ValueId>> tables;
        for (const SummedColumns& columns : sum.columns) {
            if (!moves(columns)) continue;
            moved.columns += columns.width;
            for (const Summand& summand : columns.summands) {
                if (tables.emplace(summand.gather->index, summand.table).second) moved.reads += columns.width;
                if (std::ranges::find(moved.gathers, *summand.gather) == moved.gathers.end())
                    moved.gathers.push_back(*summand.gather);
            }
        }
        return moved;
    }

    // Then products are gathered instead of rows, and no row of an edge is multiplied.
    static bool saves(const Moved& moved, std::int64_t out)
    {
        const auto gathers = static_cast<std::int64_t>(moved.gathers.size());
        return moved.columns > 0 &&
               productsPerRead * moved.reads + moved.columns * out >= productsPerRead * gathers * out;
    }

    [[nodiscard]] bool isLayer(const Op& op, const Product& product) const
    {
        const Value &input = m_old.value(product.input), &weight = m_old.value(product.weight);
        const ValueId* const bias = product.bias ? product.bias->value() : nullptr;
        const bool adds = !product.bias || (bias && isWeight(m_old, *bias) && m_old.value(*bias).shape.size() == 1);
        return adds && weight.shape.size() == 2 && weight.dtype == input.dtype && isWeight(m_old, product.weight) &&
               m_old.value(op.outputs[0]).shape.size() == input.shape.size();
    }

    // Concatenations and sums may widen some of their operands.
    [[nodiscard]] bool isOfType(const GatheredSum& sum, base::DType type) const
    {
        return std::ranges::all_of(sum.columns, [&](const SummedColumns& columns) {
            return std::ranges::all_of(columns.summands,
                                       [&](const Summand& s) { return m_new.value(s.table).dtype == type; });
        });
    }

    bool multiply(const Op& op)
    {
        const auto product = productOf(op);
        const GatheredSum* const found = product ? sumOf(product->input) : nullptr;
        if (!found || !isLayer(op, *product) || !isOfType(*found, m_old.value(product->weight).dtype)) return false;
        const GatheredSum sum = *found;
        const Moved moved = movedParts(sum);
        const std::int64_t out = shape(op.outputs[0]).back();
        if (!saves(moved, out)) return false;
        m_moved.push_back({.place = ir::describeOp(op),
                           .module = ir::modulePath(op.modules),
                           .in = moved.columns,
                           .out = out,
                           .gathered = true});
        become(op, multiplied(op, partsOf(op, *product, sum), product->bias));
        return true;
    }

    // The products whose sum is the result, each table once.
    std::vector<Part> partsOf(const Op& op, const Product& product, const GatheredSum& sum)
    {
        ValueId weight = product.weight;
        if (op.name != "aten::linear")
            weight = add(op, "t", {Arg{weight}}, sized(weight, {shape(weight)[1], shape(weight)[0]}));
        std::vector<Part> parts;
        std::int64_t at = 0;
        for (const SummedColumns& columns : sum.columns) {
            const ValueId factor = sum.single() ? weight : columnsOf(op, weight, at, columns.width);
            at += columns.width;
            if (!moves(columns) && columns.whole) {
                addPart(op, parts, {.gather = {}, .rows = *columns.whole, .weight = factor}, false);
                continue;
            }
            for (const Summand& s : columns.summands) {
                const bool before = moves(columns);
                const ValueId rows = before ? s.table : rowsOf(s);
                addPart(op, parts, {.gather = before ? s.gather : std::nullopt, .rows = rows, .weight = factor},
                        s.negative);
            }
        }
        std::ranges::stable_partition(parts, [](const Part& part) { return part.gather.has_value(); });
        return parts;
    }

    Value sized(ValueId like, std::vector<std::int64_t> to) const
    {
        Value value = m_new.value(like);
        value.shape = std::move(to);
        value.name.clear();
        value.literal.clear();
        value.raw = {};
        return value;
    }

    ValueId columnsOf(const Op& op, ValueId weight, std::int64_t from, std::int64_t width)
    {
        std::vector<Arg> args{Arg{weight}, Arg{std::int64_t{1}}, Arg{from}, Arg{from + width}, one()};
        return add(op, "slice.Tensor", std::move(args), sized(weight, {shape(weight)[0], width}));
    }

    // A table that is gathered twice is multiplied by the sum of the weights.
    void addPart(const Op& op, std::vector<Part>& parts, Part part, bool negative)
    {
        const auto same = std::ranges::find_if(
            parts, [&](const Part& other) { return other.gather == part.gather && other.rows == part.rows; });
        const Value like = sized(part.weight, shape(part.weight));
        if (same != parts.end()) {
            const char* const name = negative ? "sub.Tensor" : "add.Tensor";
            same->weight = add(op, name, {Arg{same->weight}, Arg{part.weight}, one()}, like);
            return;
        }
        if (negative) part.weight = add(op, "mul.Scalar", {Arg{part.weight}, Arg{std::int64_t{-1}}}, like);
        parts.push_back(part);
    }

    // Products whose rows are gathered alike are added up before that. The bias is added to the first one.
    std::vector<Summand> multiplied(const Op& op, const std::vector<Part>& parts, const std::optional<Arg>& bias)
    {
        std::vector<Summand> sums;
        for (const Part& part : parts) {
            Value result = sized(part.rows, shape(part.rows));
            result.shape.back() = shape(op.outputs[0]).back();
            std::vector<Arg> args{Arg{part.rows}, Arg{part.weight}};
            if (bias && sums.empty()) args.push_back(*bias);
            const ValueId product = add(op, "linear", std::move(args), result);
            const auto same = std::ranges::find_if(sums, [&](const Summand& s) { return s.gather == part.gather; });
            if (same == sums.end()) sums.push_back({.gather = part.gather, .table = product});
            else same->table = add(op, "add.Tensor", {Arg{same->table}, Arg{product}, one()}, result);
        }
        return sums;
    }

    // ---- concatenations of such sums

    bool join(const Op& op)
    {
        const Rule rule = operators::of(op.name).rule;
        const Arg* const tensors = ir::argument(op, "tensors");
        const Arg* const dim = ir::argument(op, "dim");
        if ((rule != Rule::Cat && rule != Rule::Stack) || !tensors || !tensors->list() || !dim || !dim->integer())
            return false;
        std::vector<const SummedColumns*> items;
        for (const Arg& item : *tensors->list()) {
            const GatheredSum* const sum = item.value() ? sumOf(*item.value()) : nullptr;
            if (!sum || !sum->multiplied || !sum->single()) return false;
            items.push_back(&sum->columns[0]);
        }
        const auto rank = static_cast<std::int64_t>(shape(op.outputs[0]).size());
        const std::int64_t at = *dim->integer() < 0 ? *dim->integer() + rank : *dim->integer();
        if (items.empty() || !alike(items, at)) return false;
        std::vector<Summand> joined;
        for (std::size_t i = 0; i < items[0]->summands.size(); ++i) joined.push_back(joinedTable(op, items, i));
        become(op, joined);
        return true;
    }

    // The same gathers in the same order, of rows before dimension `at`.
    static bool alike(const std::vector<const SummedColumns*>& items, std::int64_t at)
    {
        const auto sameGather = [](const Summand& a, const Summand& b) { return a.gather == b.gather; };
        return std::ranges::all_of(items, [&](const SummedColumns* item) {
            return std::ranges::equal(item->summands, items[0]->summands, sameGather) &&
                   std::ranges::all_of(item->summands,
                                       [&](const Summand& s) { return s.gather && s.gather->dim < at && !s.negative; });
        });
    }

    Summand joinedTable(const Op& op, const std::vector<const SummedColumns*>& items, std::size_t summand)
    {
        Op copy = op;
        ir::ArgList tables;
        for (const SummedColumns* item : items) tables.push_back(Arg{item->summands[summand].table});
        const RowGather gather = *items[0]->summands[summand].gather;
        const auto rows = static_cast<std::size_t>(gather.dim);
        Value result = m_old.value(op.outputs[0]);
        result.shape[rows] = shape(*tables.front().value())[rows];
        for (std::size_t i = 0; i < copy.args.size(); ++i)
            if (copy.argInfo[i].name == "tensors") copy.args[i] = Arg{tables};
        const ValueId table = fresh(std::move(result));
        append(std::move(copy), {table});
        return {.gather = gather, .table = table};
    }

    const ir::Program& m_old;
    const RowCounts& m_rows;
    std::vector<Reassociation>& m_moved;
    std::map<ValueId, GatheredSum> m_sums;
};

}  // namespace

ir::Program multiplyBeforeGathers(const ir::Program& program, const RowCounts& rows, std::vector<Reassociation>& moved)
{
    const std::size_t before = moved.size();
    ir::Program made = EarlyProducts(program, rows, moved).run();
    return moved.size() == before ? program : removeDead(made);
}

}  // namespace hopscope::analysis
