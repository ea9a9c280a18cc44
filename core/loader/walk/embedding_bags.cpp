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
    const Item &flat = argument(schema, args, "indices"), &weights = argument(schema, args, "per_sample_weights");
    const auto places = matrixOf(flat);
    const bool last = argument(schema, args, "include_last_offset").concrete.toBool();
    const auto factors = weights.isTensor() ? matrixOf(weights) : std::nullopt;
    if (!places || last || !beginsEachRow(argument(schema, args, "offsets"), flat, *places) ||
        weights.isTensor() != factors.has_value())
        m_location.refuse("aten::embedding_bag over bags that are not the rows of a matrix",
                          "give it a matrix with a bag in each row, filled up with padding_idx");
    Item rows = m_calls.record("aten::embedding", "",
                               {argument(schema, args, "weight"), *places, number(-1), number(false), number(false)});
    if (factors)
        rows = m_calls.record("aten::mul", "Tensor",
                              {rows, m_calls.record("aten::unsqueeze", "", {*factors, number(-1)})});
    const Item& padding = argument(schema, args, "padding_idx");
    const Item result = reduced(rows, *places, argument(schema, args, "mode").concrete.toInt(),
                                padding.isNone() ? -1 : padding.concrete.toInt());
    return {result, Item(), Item(), Item()};
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
