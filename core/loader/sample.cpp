// Inputs for a walk without data: guessed from names and weights, tried until forward accepts them.

#include <algorithm>
#include <ranges>
#include <set>
#include <stdexcept>

#include "loader/torch_model.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kNodes = 61, kEdges = 241;  // unlike each other and any usual width
constexpr std::int64_t kOfFurther = 7;             // size of a dimension that exports leave open and samples lack
constexpr double kMostElements = 1 << 22;
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

struct Shape {
    std::int64_t width = 1, edgeWidth = 1, nodes = kNodes, edges = kEdges;
};

// Random edges that leave the last node isolated, with a self-loop and a duplicate where there are so many.
at::Tensor edges(const Shape& shape, const at::Generator& random)
{
    const std::int64_t ends = std::max<std::int64_t>(shape.nodes - 1, 1);
    at::Tensor index = at::randint(0, ends, {2, shape.edges}, random, at::TensorOptions(at::kLong));
    if (shape.edges < 3) return index;
    index.select(1, 0).fill_(std::min<std::int64_t>(5, ends - 1));
    index.select(1, 2).copy_(index.select(1, 1));
    return index;
}

std::vector<std::int64_t> sizesOf(Guess what, const Shape& shape)
{
    switch (what) {
    case Guess::Index: return {2, shape.edges};
    case Guess::EdgeWeight:
    case Guess::EdgeType: return {shape.edges};
    case Guess::EdgeAttributes: return {shape.edges, shape.edgeWidth};
    case Guess::Batch:
    case Guess::Mask: return {shape.nodes};
    case Guess::Positions: return {shape.nodes, 3};
    default: return {shape.nodes, shape.width};
    }
}

at::Tensor make(Guess what, const Shape& shape, const at::Generator& random)
{
    const auto floats = at::TensorOptions(at::kFloat), ints = at::TensorOptions(at::kLong);
    switch (what) {
    case Guess::Index: return edges(shape, random);
    case Guess::EdgeWeight: return at::rand(sizesOf(what, shape), random, floats) + 0.5;
    case Guess::EdgeType: return at::randint(0, 2, sizesOf(what, shape), random, ints);
    case Guess::Batch: return at::arange(shape.nodes, ints).floor_divide(20);
    case Guess::Mask: return at::arange(shape.nodes, ints).remainder(2).eq(0);
    default: return at::randn(sizesOf(what, shape), random, floats);
    }
}

bool isNumbers(Guess what)
{
    return what == Guess::Index || what == Guess::EdgeType || what == Guess::Batch || what == Guess::Mask;
}

// A size that an exported program accepts, `wanted` if it does; of a number (dim -1), the number itself.
std::int64_t acceptedSize(const ModelInfo& info, const std::string& argument, int dim, std::int64_t wanted)
{
    for (const SizeLimit& limit : info.limits.sizes)
        if (limit.place.argument == argument && limit.place.dim == dim)
            return std::max(limit.least, std::min(wanted, limit.most));
    return wanted;
}

// The sizes `usual`, as far as an exported program accepts them. Throws if that are too many elements.
std::vector<std::int64_t> declaredSizes(const ModelInfo& info, const std::string& argument,
                                        const std::vector<std::int64_t>& usual, std::size_t rank)
{
    std::vector<std::int64_t> sizes;
    double elements = 1;
    for (std::size_t dim = 0; dim < rank; ++dim) {
        const std::int64_t wanted = dim < usual.size() ? usual[dim] : kOfFurther;
        sizes.push_back(acceptedSize(info, argument, static_cast<int>(dim), wanted));
        elements *= static_cast<double>(std::max<std::int64_t>(sizes.back(), 1));
    }
    if (elements > kMostElements) throw std::length_error("'" + argument + "' has too many elements");
    return sizes;
}

// A tensor of the rank, the sizes and the type that an exported program declares, or as TorchScript takes it.
at::Tensor makeTensor(const ModelInfo& info, const std::string& argument, Guess what, Shape shape,
                      const at::Generator& random)
{
    shape.width = acceptedSize(info, argument, 1, shape.width);
    shape.edgeWidth = acceptedSize(info, argument, 1, shape.edgeWidth);
    const auto rank = info.limits.ranks.find(argument);
    if (rank == info.limits.ranks.end()) return make(what, shape, random);
    const std::vector<std::int64_t> usual = sizesOf(what, shape);
    const std::vector<std::int64_t> sizes = declaredSizes(info, argument, usual, rank->second);
    const auto declared = info.limits.types.find(argument);
    const at::ScalarType type = declared == info.limits.types.end() ? at::kFloat : scalarType(declared->second);
    const bool numbers = at::isIntegralType(type, /*includeBool=*/true);
    if (sizes == usual && numbers == isNumbers(what)) return make(what, shape, random).to(type);
    return (numbers ? at::randint(0, 2, sizes, random) : at::randn(sizes, random)).to(type);
}

at::Tensor makeNumber(const ModelInfo& info, const Argument& argument, const Shape& shape)
{
    const auto accepted = [&](std::int64_t wanted) { return acceptedSize(info, argument.name, -1, wanted); };
    if (argument.type == "bool") return at::scalar_tensor(accepted(0) != 0, at::TensorOptions(at::kBool));
    if (argument.type == "float") return at::scalar_tensor(0.5, at::TensorOptions(at::kDouble));
    const bool count = has(argument.name, {"num", "size", "nodes"});
    return at::scalar_tensor(accepted(count ? shape.nodes : 2), at::TensorOptions(at::kLong));
}

// The numbers of nodes and edges of the first features and edges, where an exported program limits them.
void limitRows(Shape& shape, const ModelInfo& info)
{
    for (const Argument& argument : info.arguments | std::views::reverse) {
        const Guess what = guess(argument);
        if (what == Guess::Features) shape.nodes = acceptedSize(info, argument.name, 0, kNodes);
        if (what == Guess::Index) shape.edges = acceptedSize(info, argument.name, 1, kEdges);
    }
}

base::TensorMap makeInputs(const ModelInfo& info, Shape shape)
{
    const at::Generator random = at::detail::createCPUGenerator(1);
    limitRows(shape, info);
    base::TensorMap out;
    for (const Argument& argument : info.arguments) {
        const Guess what = guess(argument);
        if (what == Guess::None) continue;
        out[argument.name] = toView(what == Guess::Number ? makeNumber(info, argument, shape)
                                                          : makeTensor(info, argument.name, what, shape, random));
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
