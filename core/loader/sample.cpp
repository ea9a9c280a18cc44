// Inputs for a walk without data: guessed from names and weights, tried until forward accepts them.

#include <set>

#include "loader/torch_model.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kNodes = 61, kEdges = 241;  // unlike each other and any usual width
constexpr int kMostTries = 60;
constexpr std::size_t kMostWidths = 10;

enum class Guess { Features, Index, EdgeWeight, EdgeAttributes, EdgeType, Batch, Positions, Mask, Number, None };

bool has(const std::string& name, std::initializer_list<const char*> words)
{
    for (const char* word : words)
        if (name.find(word) != std::string::npos) return true;
    return false;
}

Guess guess(const Argument& argument)
{
    if (argument.optional) return Guess::None;
    if (argument.type != "Tensor") return Guess::Number;
    const std::string& n = argument.name;
    if (has(n, {"edge_type", "rel_type", "etype"})) return Guess::EdgeType;
    if (has(n, {"edge_attr", "edge_feat", "efeat"})) return Guess::EdgeAttributes;
    if (has(n, {"weight"})) return Guess::EdgeWeight;
    if (has(n, {"index", "edge", "adj"})) return Guess::Index;
    if (has(n, {"batch"})) return Guess::Batch;
    if (has(n, {"mask"})) return Guess::Mask;
    if (has(n, {"pos", "coord"})) return Guess::Positions;
    return Guess::Features;
}

// Both sides of every matrix among the weights, in the model's order (layers of either orientation), then vectors.
std::vector<std::int64_t> widths(const ModelInfo& info)
{
    std::vector<std::int64_t> out;
    std::set<std::int64_t> seen;
    const auto add = [&](std::int64_t width) {
        if (out.size() < kMostWidths && width > 0 && seen.insert(width).second) out.push_back(width);
    };
    for (const Parameter& p : info.parameters)
        if (p.shape.size() == 2) add(p.shape[1]);
    for (const Parameter& p : info.parameters)
        if (p.shape.size() == 2) add(p.shape[0]);
    for (const Parameter& p : info.parameters)
        if (p.shape.size() == 1) add(p.shape[0]);
    for (const std::int64_t width : {1, 3, 16}) add(width);
    return out;
}

// Random edges that leave the last node isolated, with a self-loop and a duplicate.
at::Tensor edges(const at::Generator& random)
{
    at::Tensor index = at::randint(0, kNodes - 1, {2, kEdges}, random, at::TensorOptions(at::kLong));
    index.select(1, 0).fill_(5);
    index.select(1, 2).copy_(index.select(1, 1));
    return index;
}

struct Shape {
    std::int64_t width = 1, edgeWidth = 1;
};

// The second size of an argument, where an exported program fixes it.
std::optional<std::int64_t> fixedWidth(const ModelInfo& info, const std::string& argument)
{
    for (const SizeLimit& limit : info.limits.sizes)
        if (limit.place.argument == argument && limit.place.dim == 1 && limit.least == limit.most) return limit.least;
    return std::nullopt;
}

at::Tensor make(Guess what, const Shape& shape, const at::Generator& random)
{
    const auto floats = at::TensorOptions(at::kFloat), ints = at::TensorOptions(at::kLong);
    switch (what) {
    case Guess::Index: return edges(random);
    case Guess::EdgeWeight: return at::rand({kEdges}, random, floats) + 0.5;
    case Guess::EdgeAttributes: return at::randn({kEdges, shape.edgeWidth}, random, floats);
    case Guess::EdgeType: return at::randint(0, 2, {kEdges}, random, ints);
    case Guess::Batch: return at::arange(kNodes, ints).floor_divide(20);
    case Guess::Mask: return at::arange(kNodes, ints).remainder(2).eq(0);
    case Guess::Positions: return at::randn({kNodes, 3}, random, floats);
    default: return at::randn({kNodes, shape.width}, random, floats);
    }
}

at::Tensor makeNumber(const Argument& argument)
{
    if (argument.type == "bool") return at::scalar_tensor(false, at::TensorOptions(at::kBool));
    if (argument.type == "float") return at::scalar_tensor(0.5, at::TensorOptions(at::kDouble));
    const bool count = has(argument.name, {"num", "size", "nodes"});
    return at::scalar_tensor(count ? kNodes : std::int64_t{2}, at::TensorOptions(at::kLong));
}

base::TensorMap makeInputs(const ModelInfo& info, const Shape& shape)
{
    const at::Generator random = at::detail::createCPUGenerator(1);
    base::TensorMap out;
    for (const Argument& argument : info.arguments) {
        const Guess what = guess(argument);
        if (what == Guess::None) continue;
        const std::int64_t width = fixedWidth(info, argument.name).value_or(shape.width);
        const std::int64_t edgeWidth = fixedWidth(info, argument.name).value_or(shape.edgeWidth);
        out[argument.name] =
            toView(what == Guess::Number ? makeNumber(argument) : make(what, {width, edgeWidth}, random));
        out[argument.name].origin = "guessed";
    }
    return out;
}

bool guessable(const Argument& argument)
{
    static const std::set<std::string> types = {"Tensor", "int", "float", "bool", "number"};
    return argument.optional || types.contains(argument.type);
}

bool failedOnSample(const base::Error& error) { return error.message.starts_with("forward "); }

base::Result<base::TensorMap> tryAll(const Model& model, const SlowFn& slow)
{
    const ModelInfo& info = model.info();
    const std::vector<std::int64_t> all = widths(info);
    bool edgeAttributes = false;
    for (const Argument& a : info.arguments) edgeAttributes = edgeAttributes || guess(a) == Guess::EdgeAttributes;
    std::string why;
    int tries = 0;
    for (const std::int64_t width : all)
        for (const std::int64_t edgeWidth : edgeAttributes ? all : std::vector<std::int64_t>{1}) {
            if (++tries > kMostTries) break;
            base::TensorMap inputs = makeInputs(info, {width, edgeWidth});
            const auto walked = walk(model, inputs, nullptr, slow);
            if (walked || !failedOnSample(walked.error())) return inputs;
            if (why.empty()) why = walked.error().message;
        }
    return fail(ErrorCode::Unsupported, "forward accepts none of the inferred inputs (" + why + ")",
                "provide the inputs of the model with --data");
}

}  // namespace

base::Result<base::TensorMap> proposeSample(const Model& model, const SlowFn& slow)
{
    for (const Argument& argument : model.info().arguments)
        if (!guessable(argument))
            return fail(ErrorCode::Unsupported,
                        "inputs of type " + argument.type + " ('" + argument.name + "') cannot be inferred",
                        "provide the inputs of the model with --data");
    try {
        return tryAll(model, slow);
    } catch (const std::exception& e) {
        return fail(ErrorCode::Unsupported, std::string("no inputs could be inferred: ") + e.what(),
                    "provide the inputs of the model with --data");
    }
}

}  // namespace hopscope::loader
