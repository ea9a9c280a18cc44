#include "loader/limits.h"

#include <cstring>
#include <limits>

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

// The only element of a tensor of whole numbers.
std::optional<std::int64_t> numberIn(const base::TensorView& view)
{
    std::int64_t number = 0;
    if (view.elements() != 1 || (view.dtype != base::DType::Int64 && view.dtype != base::DType::Bool))
        return std::nullopt;
    std::memcpy(&number, view.data, view.dtype == base::DType::Bool ? 1 : sizeof number);
    return number;
}

std::optional<std::int64_t> sizeAt(const base::TensorMap& inputs, const SizePlace& place)
{
    const auto input = inputs.find(place.argument);
    if (input == inputs.end()) return std::nullopt;
    if (place.dim < 0) return numberIn(input->second);
    const std::vector<std::int64_t>& shape = input->second.shape;
    const auto dim = static_cast<std::size_t>(place.dim);
    return dim < shape.size() ? std::optional(shape[dim]) : std::nullopt;
}

std::string inWords(const SizePlace& place)
{
    return place.dim < 0 ? "'" + place.argument + "'"
                         : "size " + std::to_string(place.dim) + " of '" + place.argument + "'";
}

std::string rangeOf(const SizeLimit& limit)
{
    if (limit.least == limit.most) return std::to_string(limit.least);
    if (limit.least <= 0) return "at most " + std::to_string(limit.most);
    if (limit.most == std::numeric_limits<std::int64_t>::max()) return "at least " + std::to_string(limit.least);
    return "from " + std::to_string(limit.least) + " to " + std::to_string(limit.most);
}

// "edge_index.size(1) is 50 and x.size(0) is 20".
std::string sizesIn(const SizeExpression& condition, const base::TensorMap& inputs)
{
    std::string text;
    const std::vector<SizePlace> places = placesIn(condition);
    for (const SizePlace& place : places)
        text += std::string(text.empty()               ? ""
                            : &place == &places.back() ? " and "
                                                       : ", ") +
                describe(place) + " is " + std::to_string(sizeAt(inputs, place).value_or(0));
    return text;
}

tl::unexpected<base::Error> broken(const ModelInfo& model, const SizeGuard& guard, const base::TensorMap& inputs)
{
    return fail(ErrorCode::Input,
                model.path + " was exported for graphs with " + guard.text + ", and here " +
                    sizesIn(*guard.condition, inputs),
                "export the model with example inputs whose sizes satisfy the same conditions as these data: "
                "torch.export records "
                "only the side of a branch that the example takes",
                model.path);
}

tl::unexpected<base::Error> unknown(const ModelInfo& model, const SizeGuard& guard)
{
    return fail(ErrorCode::Unsupported,
                model.path + " was exported for inputs under a condition that Hopscope cannot check: " + guard.text,
                "let forward branch on nothing but arithmetic on the sizes of its arguments", model.path);
}

}  // namespace

base::Status checkLimits(const ModelLimits& limits, const base::TensorMap& inputs, Extent extent)
{
    for (const SizeLimit& limit : limits.sizes) {
        const auto size = sizeAt(inputs, limit.place);
        const bool fixed = limit.least == limit.most;
        if (!size || (*size >= limit.least && *size <= limit.most) || (extent == Extent::Part && !fixed)) continue;
        const std::string how = fixed ? " was fixed at " + rangeOf(limit) + " when the program was exported"
                                      : " is " + rangeOf(limit) + " in the exported program";
        return fail(ErrorCode::Input,
                    "forward takes no such input: " + inWords(limit.place) + how + ", and is " + std::to_string(*size) +
                        " here",
                    limit.place.dim < 0 ? "make it a tensor, or leave it out of the arguments" : dynamicSizesHint,
                    limit.place.argument);
    }
    return {};
}

base::Status checkGuards(const ModelInfo& model, const base::TensorMap& inputs)
{
    const auto size = [&](const SizePlace& place) { return sizeAt(inputs, place); };
    for (const SizeGuard& guard : model.limits.guards) {
        const std::optional<bool> kept = guard.condition ? holds(*guard.condition, size) : std::nullopt;
        if (!kept) return unknown(model, guard);
        if (!*kept) return broken(model, guard, inputs);
    }
    return {};
}

base::Status checkTypes(const ModelLimits& limits, const base::TensorMap& inputs)
{
    for (const auto& [argument, type] : limits.types) {
        const auto input = inputs.find(argument);
        if (input == inputs.end() || input->second.dtype == type) continue;
        return fail(ErrorCode::Input,
                    "the exported program takes '" + argument + "' as " + base::nameOf(type) + ", and the data has " +
                        base::nameOf(input->second.dtype),
                    "store it as " + std::string(base::nameOf(type)) +
                        ", or export the model with inputs of the type of the data",
                    argument);
    }
    return {};
}

}  // namespace hopscope::loader
