#include "loader/walk/embedding_bags.h"

#include <limits>
#include <set>
#include <string_view>

namespace hopscope::loader {

namespace {

using c10::IValue;

const Item& argument(const c10::FunctionSchema& schema, const std::vector<Item>& args, const char* name)
{
    static const Item none;
    const auto at = schema.argumentIndexWithName(name);
    return at ? args.at(static_cast<std::size_t>(*at)) : none;
}

Item dims(std::int64_t d) { return boxed(c10::ListType::ofInts(), {Item(IValue(d))}); }

Item number(const IValue& v) { return Item(v); }

enum Mode : std::int64_t { Sum, Mean, Max };

}  // namespace

const ir::Op* EmbeddingBags::producer(const Item& item) const
{
    if (!item.value.valid()) return nullptr;
    const ir::Value& value = m_recorder.program().value(item.value);
    return value.origin == ir::Origin::Op ? &m_recorder.program().op(value.producer) : nullptr;
}

// The matrix before it was flattened.
std::optional<Item> EmbeddingBags::matrixOf(const Item& flat) const
{
    static const std::set<std::string_view> flattening{"aten::reshape", "aten::view", "aten::flatten", "aten::ravel"};
    const ir::Op* op = producer(flat);
    if (!op || !flattening.contains(op->name) || !op->args.at(0).value()) return std::nullopt;
    const ir::ValueId matrix = *op->args[0].value();
    const std::vector<std::int64_t>& shape = m_recorder.program().value(matrix).shape;
    if (shape.size() != 2 || flat.concrete.toTensor().dim() != 1) return std::nullopt;
    return Item(flat.concrete.toTensor().view(shape), matrix);
}

// Whether the number is tensor.size(dim), or its count where dim is -1.
bool EmbeddingBags::isSize(const ir::Arg& arg, const Item& tensor, std::int64_t dim) const
{
    if (!arg.value()) return false;
    const ir::Op* op = producer(Item(IValue(), *arg.value()));
    if (!op || !op->args.at(0).value() || *op->args[0].value() != tensor.value) return false;
    if (dim < 0) return op->name == "scalar::numel";
    return op->name == "scalar::size" && op->args.at(1).integer() && *op->args[1].integer() == dim;
}

// arange(0, flat.numel(), matrix.size(1))
bool EmbeddingBags::beginsEachRow(const Item& offsets, const Item& flat, const Item& matrix) const
{
    const ir::Op* op = producer(offsets);
    if (!op || op->name != "aten::arange" || op->overload != "start_step") return false;
    const std::int64_t* start = op->args.at(0).integer();
    const ir::Arg &end = op->args.at(1), &step = op->args.at(2);
    const bool all = isSize(end, matrix, -1) || isSize(end, flat, -1) || isSize(end, flat, 0);
    const bool width = step.integer() && *step.integer() == matrix.concrete.toTensor().size(1);
    return start && *start == 0 && all && (width || isSize(step, matrix, 1));
}

std::vector<Item> EmbeddingBags::evaluate(const c10::FunctionSchema& schema, const std::vector<Item>& args)
{
    m_calls.checkAllowed(schema, args);
    const Item &flat = argument(schema, args, "indices"), &weights = argument(schema, args, "per_sample_weights"),
               &offsets = argument(schema, args, "offsets"), &padding = argument(schema, args, "padding_idx");
    const Item& table = argument(schema, args, "weight");
    Bags bags{.places = flat, .weights = weights, .mode = argument(schema, args, "mode").concrete.toInt()};
    if (!padding.isNone()) bags.padding = padding.concrete.toInt();
    if (bags.padding < 0 && !padding.isNone()) bags.padding += table.concrete.toTensor().size(0);
    const bool last = argument(schema, args, "include_last_offset").concrete.toBool();
    const auto places = matrixOf(flat);
    const auto factors = weights.isTensor() ? matrixOf(weights) : std::nullopt;
    const bool matrix =
        places && !last && beginsEachRow(offsets, flat, *places) && weights.isTensor() == factors.has_value();
    if (matrix) bags.places = *places, bags.weights = factors.value_or(Item());
    const Item rows = rowsOf(table, bags);
    const Item result = matrix ? reduced(rows, bags.places, bags.mode, bags.padding)
                               : segments(rows, bags, last ? offsets : wholeOffsets(offsets, flat));
    return {result, Item(), Item(), Item()};
}

Item EmbeddingBags::rowsOf(const Item& table, const Bags& bags)
{
    const Item rows =
        m_calls.record("aten::embedding", "", {table, bags.places, number(-1), number(false), number(false)});
    if (!bags.weights.isTensor()) return rows;
    return m_calls.record("aten::mul", "Tensor",
                          {rows, m_calls.record("aten::unsqueeze", "", {bags.weights, number(-1)})});
}

// The places where bags begin, with the number of places behind them.
Item EmbeddingBags::wholeOffsets(const Item& offsets, const Item& places)
{
    const Item none;
    const Item count = m_numbers.sizeOf(places, 0);
    const Item last = m_calls.record("aten::new_full", "", {offsets, dims(1), count, none, none, none, none});
    return m_calls.record("aten::cat", "", {boxed(c10::ListType::ofTensors(), {offsets, last}), number(0)});
}

Item EmbeddingBags::segment(const Item& rows, const char* how, const Item& offsets, const Item& initial)
{
    const Item none;
    return m_calls.record("aten::segment_reduce", "",
                          {rows, number(how), none, none, offsets, number(0), number(false), initial});
}

Item EmbeddingBags::segments(Item rows, const Bags& bags, const Item& offsets)
{
    Item counts = m_calls.record("aten::diff", "", {offsets, number(1), number(-1), Item(), Item()});
    if (bags.padding >= 0) {
        const Item is = m_calls.record("aten::eq", "Scalar", {bags.places, number(bags.padding)});
        const Item wide = m_calls.record("aten::unsqueeze", "", {is, number(-1)});
        const double absent = bags.mode == Max ? -std::numeric_limits<double>::infinity() : 0;
        rows = m_calls.record("aten::masked_fill", "Scalar", {rows, wide, number(absent)});
        const Item others = m_calls.record("aten::logical_not", "", {is});
        const Item ones = m_calls.record("aten::type_as", "", {others, rows});
        counts = segment(ones, "sum", offsets, number(0));
    }
    const Item total = segment(rows, bags.mode == Max ? "max" : "sum", offsets, bags.mode == Max ? Item() : number(0));
    if (bags.mode == Sum) return total;
    const Item wide = m_calls.record("aten::unsqueeze", "", {counts, number(-1)});
    if (bags.mode == Max)
        return m_calls.record("aten::masked_fill", "Scalar",
                              {total, m_calls.record("aten::eq", "Scalar", {wide, number(0)}), number(0.0)});
    return m_calls.record("aten::div", "Tensor", {total, m_calls.record("aten::clamp_min", "", {wide, number(1)})});
}

Item EmbeddingBags::reduced(Item rows, const Item& places, std::int64_t mode, std::int64_t padding)
{
    const Item no = number(false), none;
    const double absent = mode == Max ? -std::numeric_limits<double>::infinity() : 0;
    Item counts;
    if (padding >= 0) {
        const Item is = m_calls.record("aten::eq", "Scalar", {places, number(padding)});
        const Item wide = m_calls.record("aten::unsqueeze", "", {is, number(-1)});
        rows = m_calls.record("aten::masked_fill", "Scalar", {rows, wide, number(absent)});
        const Item others = m_calls.record("aten::logical_not", "", {is});
        counts = m_calls.record("aten::sum", "dim_IntList", {others, dims(1), number(true), none});
    }
    if (mode == Max) {
        const Item most = m_calls.record("aten::amax", "", {rows, dims(1), no});
        if (padding < 0) return most;
        const Item empty = m_calls.record("aten::eq", "Scalar", {counts, number(0)});
        return m_calls.record("aten::masked_fill", "Scalar", {most, empty, number(0.0)});
    }
    if (mode == Mean && padding < 0) return m_calls.record("aten::mean", "dim", {rows, dims(1), no, none});
    const Item total = m_calls.record("aten::sum", "dim_IntList", {rows, dims(1), no, none});
    if (mode == Sum) return total;
    const Item some = m_calls.record("aten::clamp_min", "", {counts, number(1)});
    return m_calls.record("aten::div", "Tensor", {total, some});
}

}  // namespace hopscope::loader
