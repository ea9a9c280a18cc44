#include "analysis/lowering/product_parts.h"

#include <algorithm>
#include <utility>

#include "analysis/lowering/match.h"
#include "operators/operators.h"

namespace hopscope::analysis {

using ir::Arg;
using ir::Op;
using ir::Value;
using ir::ValueId;
using operators::Rule;

const GatheredSum* ProductParts::sumOf(std::optional<ValueId> v) const
{
    const auto found = v ? m_sums.find(*v) : m_sums.end();
    return found == m_sums.end() ? nullptr : &found->second;
}

SummedColumns ProductParts::asItIs(ValueId v) const
{
    return {.width = shape(v).back(), .summands = {{.gather = {}, .table = v}}, .whole = v};
}

void ProductParts::note(const Op& op)
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
    else if (const GatheredSum* sum = sumOf(valueOf(op, "self")); sum && keepsRows(m_old, op, *sum)) apply(op, *sum);
}

void ProductParts::addUp(const Op& op)
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

void ProductParts::negate(const Op& op)
{
    const GatheredSum* const sum = sumOf(valueOf(op, "self"));
    if (!sum || !sum->single()) return;
    GatheredSum negated = *sum;
    for (Summand& summand : negated.columns[0].summands) summand.negative = !summand.negative;
    negated.columns[0].whole = op.outputs[0];
    m_sums[op.outputs[0]] = std::move(negated);
}

void ProductParts::placeSideBySide(const Op& op)
{
    const Arg* const tensors = ir::argument(op, "tensors");
    const Arg* const dim = ir::argument(op, "dim");
    const auto last = static_cast<std::int64_t>(shape(op.outputs[0]).size()) - 1;
    if (!tensors || !tensors->list() || !dim->integer() || (*dim->integer() != last && *dim->integer() != -1)) return;
    GatheredSum all;
    for (const Arg& item : *tensors->list()) {
        const GatheredSum* const sum = item.value() ? sumOf(*item.value()) : nullptr;
        if (!item.value() || static_cast<std::int64_t>(shape(*item.value()).size()) != last + 1) return;
        all.multiplied = all.multiplied || (sum && sum->multiplied);
        if (sum) all.columns.insert(all.columns.end(), sum->columns.begin(), sum->columns.end());
        else all.columns.push_back(asItIs(*item.value()));
    }
    m_sums[op.outputs[0]] = std::move(all);
}

// Applies the operator to the tables as well, each of them once. Dead where nothing needs them.
void ProductParts::apply(const Op& op, GatheredSum sum)
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

bool ProductParts::isLayer(const Op& op, const Product& product) const
{
    const Value &input = m_old.value(product.input), &weight = m_old.value(product.weight);
    const ValueId* const bias = product.bias ? product.bias->value() : nullptr;
    const bool adds = !product.bias || (bias && isWeight(m_old, *bias) && m_old.value(*bias).shape.size() == 1);
    return adds && weight.shape.size() == 2 && weight.dtype == input.dtype && isWeight(m_old, product.weight) &&
           m_old.value(op.outputs[0]).shape.size() == input.shape.size();
}

const GatheredSum* ProductParts::factorOf(const Op& op, const std::optional<Product>& product) const
{
    const GatheredSum* const sum = product ? sumOf(product->input) : nullptr;
    const bool parts = sum && isLayer(op, *product) && isOfType(*sum, m_old.value(product->weight).dtype);
    return parts ? sum : nullptr;
}

// Concatenations and sums may widen some of their operands.
bool ProductParts::isOfType(const GatheredSum& sum, base::DType type) const
{
    return std::ranges::all_of(sum.columns, [&](const SummedColumns& columns) {
        return std::ranges::all_of(columns.summands,
                                   [&](const Summand& s) { return m_new.value(s.table).dtype == type; });
    });
}

ValueId ProductParts::gathered(const Summand& summand, std::optional<ValueId> result)
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

std::vector<ProductParts::Part> ProductParts::partsOf(const Op& op, const Product& product, const GatheredSum& sum)
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

Value ProductParts::sized(ValueId like, std::vector<std::int64_t> to) const
{
    Value value = m_new.value(like);
    value.shape = std::move(to);
    value.name.clear();
    value.literal.clear();
    value.raw = {};
    return value;
}

ValueId ProductParts::columnsOf(const Op& op, ValueId weight, std::int64_t from, std::int64_t width)
{
    std::vector<Arg> args{Arg{weight}, Arg{std::int64_t{1}}, Arg{from}, Arg{from + width}, one()};
    const Value columns = sized(weight, {shape(weight)[0], width});
    const ValueId slice = add(op, "slice.Tensor", std::move(args), columns);
    // Products with matrices whose rows lie apart are slow.
    return add(op, "to.dtype", {Arg{slice}, Arg{dtypeCode(columns.dtype)}, Arg{false}, Arg{true}}, columns);
}

// A table that is gathered twice is multiplied by the sum of the weights.
void ProductParts::addPart(const Op& op, std::vector<Part>& parts, Part part, bool negative)
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

std::vector<Summand> ProductParts::multiplied(const Op& op, const std::vector<Part>& parts,
                                              const std::optional<Arg>& bias)
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

}  // namespace hopscope::analysis
