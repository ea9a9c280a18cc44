#include "analysis/lowering/gathered_sums.h"

#include <algorithm>
#include <limits>

#include "analysis/lowering/match.h"
#include "analysis/lowering/moved_products.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::Op;
using ir::Program;
using ir::Value;
using ir::ValueId;
using operators::Rule;

std::int64_t rank(const Value& value) { return static_cast<std::int64_t>(value.shape.size()); }

// Counted from the front of a tensor of this rank.
std::optional<std::int64_t> dimension(const Op& op, std::int64_t rank)
{
    const Arg* const dim = ir::argument(op, "dim");
    if (!dim || !dim->integer()) return std::nullopt;
    return *dim->integer() < 0 ? *dim->integer() + rank : *dim->integer();
}

bool isTensor(const Value& v) { return v.kind == ir::ValueKind::Tensor && !v.layoutSparse; }

std::optional<ValueId> indexOf(const Op& op)
{
    if (op.name == "aten::index_select") return valueOf(op, "index");
    const Arg* const indices = ir::argument(op, "indices");
    const bool one = indices && indices->list() && indices->list()->size() == 1;
    const ValueId* const index = one ? indices->list()->front().value() : nullptr;
    return index ? std::optional(*index) : std::nullopt;
}

// Where nothing is gathered, all dimensions are behind the rows.
constexpr std::int64_t nowhere = -1;

// The dimension of the rows of all gathered summands; none if they differ.
std::optional<std::int64_t> rowsOf(const GatheredSum& value)
{
    std::optional<std::int64_t> rows;
    for (const SummedColumns& columns : value.columns)
        for (const Summand& summand : columns.summands) {
            if (!summand.gather) continue;
            if (rows && *rows != summand.gather->dim) return std::nullopt;
            rows = summand.gather->dim;
        }
    return rows.value_or(nowhere);
}

// Only the number of rows and that of columns may be left open.
bool namesSizes(const Op& op, const Value& to)
{
    const Arg* const sizes = sizesOf(op);
    const ir::ArgList* const list = sizes ? sizes->list() : nullptr;
    if (!list || list->size() != to.shape.size() || list->size() < 2) return false;
    return std::all_of(list->begin() + 1, list->end() - 1,
                       [](const Arg& size) { return size.integer() && *size.integer() >= 0; }) &&
           list->back().integer();
}

bool reshapesBehind(const Op& op, const Value& from, const Value& to, std::int64_t rows)
{
    if (op.name == "aten::squeeze") {
        const auto dim = dimension(op, rank(from));
        return dim && *dim > rows;
    }
    return rows <= 0 && from.shape[0] == to.shape[0] && namesSizes(op, to);
}

// x[:]
bool takesAll(const Op& op)
{
    const Arg* const end = ir::argument(op, "end");
    const bool open =
        !end || end->none() || (end->integer() && *end->integer() == std::numeric_limits<std::int64_t>::max());
    return open && isNumber(op, "start", 0, true) && isNumber(op, "step", 1, true);
}

// By one number.
bool scales(const Program& program, const Op& op)
{
    if ((op.name != "aten::mul" && op.name != "aten::div") || !onlyGives(op, {"self", "other"})) return false;
    const auto other = valueOf(op, "other");
    if (!other || program.value(*other).kind != ir::ValueKind::Tensor) return true;
    return program.value(*other).shape.empty() && isWeight(program, *other);
}

// In the same way for all columns, with at most one number for each row.
bool treatsColumnsAlike(const Program& program, const Op& op)
{
    const auto self = valueOf(op, "self");
    const Value& from = program.value(*self);
    bool alike = isElementwise(program, op) && from.dtype == program.value(op.outputs[0]).dtype;
    ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
        const Value& other = program.value(v);
        const bool number = other.kind != ir::ValueKind::Tensor || other.shape.empty() || other.shape.back() == 1;
        alike = alike && (v == *self || number);
    });
    return alike;
}

bool behind(const Program& program, const Op& op, std::int64_t rows)
{
    const Value &from = program.value(*valueOf(op, "self")), &to = program.value(op.outputs[0]);
    switch (operators::of(op.name).rule) {
    case Rule::Copy: return from.dtype == to.dtype;
    case Rule::Select: return dimension(op, rank(from)).value_or(-1) > rows;
    case Rule::Slice: return dimension(op, rank(from)).value_or(-1) > rows || takesAll(op);
    case Rule::Unsqueeze: return dimension(op, rank(to)).value_or(-1) > rows;
    case Rule::Reshape: return reshapesBehind(op, from, to, rows);
    case Rule::Pointwise: return scales(program, op) || (rows == nowhere && treatsColumnsAlike(program, op));
    default: return false;
    }
}

}  // namespace

std::optional<RowGather> rowGather(const Program& program, const Op& op)
{
    const Rule rule = operators::of(op.name).rule;
    const auto table = valueOf(op, "self"), index = indexOf(op);
    if ((rule != Rule::Index && rule != Rule::IndexSelect) || !table || !index) return std::nullopt;
    const Value &from = program.value(*table), &numbers = program.value(*index);
    const auto dim = rule == Rule::Index ? 0 : dimension(op, rank(from));
    const bool whole = numbers.dtype == base::DType::Int64 || numbers.dtype == base::DType::Int32;
    if (!isTensor(from) || !whole || numbers.shape.size() != 1 || !dim || *dim + 1 >= rank(from)) return std::nullopt;
    return RowGather{.op = &op, .index = *index, .dim = *dim};
}

bool keepsRows(const Program& program, const Op& op, const GatheredSum& value)
{
    const auto rows = rowsOf(value);
    if (!rows || op.outputs.size() != 1 || !behind(program, op, *rows)) return false;
    const Value &from = program.value(*valueOf(op, "self")), &to = program.value(op.outputs[0]);
    if (*rows + 1 >= rank(to)) return false;
    const auto dim = dimension(op, std::max(rank(from), rank(to)));
    const bool last = dim && *dim + 1 == std::max(rank(from), rank(to));
    return value.single() || (!last && from.shape.back() == to.shape.back());
}

Applied appliedTo(const Program& program, const Op& op, const Summand& summand, std::int64_t width)
{
    const Value& from = program.value(*valueOf(op, "self"));
    Applied applied{.op = op, .result = program.value(op.outputs[0])};
    applied.op.args.front() = Arg{summand.table};
    if (width != from.shape.back()) applied.result.shape.back() = width;
    if (summand.gather) {
        const auto rows = static_cast<std::size_t>(summand.gather->dim);
        applied.result.shape[rows] = program.value(summand.table).shape[rows];
    }
    if (const Arg* const sizes = sizesOf(op); sizes && operators::of(op.name).rule == Rule::Reshape) {
        ir::ArgList list = *sizes->list();
        list.back() = Arg{applied.result.shape.back()};
        if (summand.gather) list.front() = Arg{std::int64_t{-1}};
        applied.op.args.at(1) = Arg{std::move(list)};
    }
    return applied;
}

}  // namespace hopscope::analysis
