#include "loader/walk/number_operators.h"

#include <cmath>
#include <set>
#include <string_view>

#include "operators/names.h"

namespace hopscope::loader {

namespace {

using c10::IValue;
using Names = std::unordered_map<std::string, const char*>;

const Names kScalarNames = {
    {"aten::add", "scalar::add"},
    {"aten::sub", "scalar::sub"},
    {"aten::mul", "scalar::mul"},
    {"aten::div", "scalar::truediv"},
    {"aten::floordiv", "scalar::floordiv"},
    {"aten::remainder", "scalar::mod"},
    {"aten::pow", "scalar::pow"},
    {"aten::neg", "scalar::neg"},
    {"prim::min", "scalar::min"},
    {"prim::max", "scalar::max"},
    {"prim::abs", "scalar::abs"},
    {"aten::sqrt", "scalar::sqrt"},
    {"aten::abs", "scalar::abs"},
    {"aten::fabs", "scalar::abs"},
    {"aten::log", "scalar::log"},
    {"aten::exp", "scalar::exp"},
    {"aten::ceil", "scalar::ceil"},
    {"aten::floor", "scalar::floor"},
    {"aten::round", "scalar::round"},
    {"aten::Int", "scalar::int"},
    {"aten::Float", "scalar::float"},
    {"aten::Bool", "scalar::bool"},
    {"aten::eq", "scalar::eq"},
    {"aten::ne", "scalar::ne"},
    {"aten::lt", "scalar::lt"},
    {"aten::le", "scalar::le"},
    {"aten::gt", "scalar::gt"},
    {"aten::ge", "scalar::ge"},
    {"aten::__and__", "scalar::and"},
    {"aten::__or__", "scalar::or"},
    {"aten::__not__", "scalar::not"},
};

// Functions of one number; all others take two.
const std::set<std::string_view> kFunctions = {"scalar::abs",   "scalar::bool",  "scalar::ceil",  "scalar::exp",
                                               "scalar::float", "scalar::floor", "scalar::int",   "scalar::log",
                                               "scalar::neg",   "scalar::not",   "scalar::round", "scalar::sqrt"};

std::int64_t floorDiv(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

bool holdsTensor(const std::vector<Item>& args)
{
    return anyLeaf(args, [](const Item& leaf) { return leaf.isTensor(); });
}

bool returnsTensors(const torch::jit::Node& node)
{
    return std::ranges::any_of(node.outputs(), [](const torch::jit::Value* out) {
        return out->type()->isSubtypeOf(*c10::TensorType::get()) ||
               out->type()->isSubtypeOf(*c10::ListType::ofTensors());
    });
}

}  // namespace

std::optional<std::vector<Item>> NumberOperators::evaluate(const Node& node, const std::vector<Item>& args)
{
    // Facts that do not differ between graphs: rank, dtype, layout, device, and the like.
    if (operators::isFact(node.kind().toQualString()))
        return std::vector{m_tools.wrapper.literal(m_tools.calls.executeNode(node, args)[0])};
    if (auto number = tensorToNumber(node, args)) return std::vector{std::move(*number)};
    if (auto tensor = numberToTensor(node, args)) return std::vector{std::move(*tensor)};
    return numberToNumber(node, args);
}

std::optional<Item> NumberOperators::tensorToNumber(const Node& node, const std::vector<Item>& args)
{
    if (args.empty() || !args[0].isTensor()) return {};
    const std::string name = node.kind().toQualString();
    const Item& tensor = args[0];
    const at::Tensor concrete = tensor.concrete.toTensor();
    if (name == "aten::size" && args.size() == 2)
        return m_tools.numbers.sizeOf(tensor, m_tools.numbers.fixedInt(args[1]));
    if (name == "aten::len") return m_tools.numbers.sizeOf(tensor, 0);
    if (name == "aten::size") {
        std::vector<Item> sizes;
        for (std::int64_t d = 0; d < concrete.dim(); ++d) sizes.push_back(m_tools.numbers.sizeOf(tensor, d));
        return boxed(c10::ListType::ofInts(), std::move(sizes));
    }
    if (name == "aten::numel") {
        const IValue count(concrete.numel());
        return m_tools.recorder.shapeFromInput(tensor.value) ? m_tools.numbers.scalar("scalar::numel", {tensor}, count)
                                                             : Item(count);
    }
    if (operators::isToNumber(name)) return m_tools.numbers.elementOf(tensor, m_tools.calls.executeNode(node, args)[0]);
    return {};
}

std::optional<Item> NumberOperators::numberToTensor(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    const bool makes = name == "aten::tensor" || name == "aten::as_tensor" || name == "aten::scalar_tensor";
    if (name != "prim::NumToTensor" && !makes) return {};
    if (!args[0].box && args[0].concrete.isScalar())
        return m_tools.numbers.tensorOf(args[0], m_tools.calls.executeNode(node, args)[0].toTensor());
    if (!args[0].box || !m_tools.recorder.fromInput(args[0])) return {};
    return stacked(args[0].box->items, m_tools.calls.executeNode(node, args)[0].toTensor());
}

// A list of numbers as one tensor: each becomes a tensor, and these are stacked.
Item NumberOperators::stacked(const std::vector<Item>& numbers, const at::Tensor& result)
{
    if (result.dim() != 1) m_tools.location.refuse("a nested list of computed numbers is converted to a tensor");
    std::vector<Item> tensors;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!numbers[i].concrete.isScalar()) m_tools.location.refuse("a list of tensors is converted to a tensor");
        tensors.push_back(m_tools.numbers.tensorOf(numbers[i], result[static_cast<std::int64_t>(i)].clone()));
    }
    return m_tools.calls.record("aten::stack", "", {boxed(c10::ListType::ofTensors(), tensors), Item(IValue(0))});
}

std::optional<std::vector<Item>> NumberOperators::numberToNumber(const Node& node, const std::vector<Item>& args)
{
    if (holdsTensor(args) || returnsTensors(node)) return {};
    m_tools.calls.checkAllowed(node.schema(), args);
    const bool dynamic = anyLeaf(args, [&](const Item& leaf) { return m_tools.recorder.fromInput(leaf); });
    if (dynamic) return std::vector{dynamicArithmetic(node, args)};
    return m_tools.wrapper.literals(m_tools.calls.executeNode(node, args));
}

Item NumberOperators::dynamicArithmetic(const Node& node, const std::vector<Item>& args)
{
    auto result = convert(node, args);
    if (!result)
        m_tools.location.refuse(std::string("arithmetic with ") + node.kind().toQualString() +
                                " on numbers that derive from inputs is not supported");
    return std::move(*result);
}

// Arithmetic on numbers, at least one derived from inputs.
std::optional<Item> NumberOperators::convert(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    if (name == "aten::__range_length") return rangeLength(args);
    if (name == "aten::__derive_index") return deriveIndex(args);
    if (name == "aten::log" && args.size() == 2) return logarithm(args[0], args[1]);
    const IValue result = m_tools.calls.executeNode(node, args)[0];
    if (result.isString()) return Item(result);  // texts for messages
    const auto scalarName = kScalarNames.find(name);
    const bool numbers =
        std::all_of(args.begin(), args.end(), [](const Item& a) { return !a.box && a.concrete.isScalar(); });
    if (scalarName == kScalarNames.end() || !numbers || !result.isScalar()) return {};
    if (args.size() != (kFunctions.contains(scalarName->second) ? 1 : 2)) return {};
    return m_tools.numbers.scalar(scalarName->second, args, result);
}

// The number of steps of range(begin, end, step).
Item NumberOperators::rangeLength(const std::vector<Item>& args)
{
    const Item zero{IValue(0)};
    const std::int64_t step = m_tools.numbers.fixedInt(args[2]);
    if (step < 1) m_tools.location.refuse("a loop counts down over a range that depends on the inputs");
    const bool fromZero = !args[0].value.valid() && args[0].concrete.toInt() == 0;
    const Item span = fromZero ? args[1] : m_tools.numbers.arithmetic("scalar::sub", args[1], args[0]);
    if (step == 1) return m_tools.numbers.arithmetic("scalar::max", span, zero);
    const Item padded = m_tools.numbers.arithmetic("scalar::add", span, Item(IValue(step - 1)));
    const Item count =
        m_tools.numbers.scalar("scalar::floordiv", {padded, args[2]}, floorDiv(padded.concrete.toInt(), step));
    return m_tools.numbers.arithmetic("scalar::max", count, zero);
}

// By a base, as LibTorch computes it.
Item NumberOperators::logarithm(const Item& number, const Item& base)
{
    const auto natural = [&](const Item& of) {
        return m_tools.numbers.scalar("scalar::log", {of}, IValue(std::log(of.concrete.toScalar().toDouble())));
    };
    const Item top = natural(number), bottom = natural(base);
    const IValue result(top.concrete.toDouble() / bottom.concrete.toDouble());
    return m_tools.numbers.scalar("scalar::truediv", {top, bottom}, result);
}

// The index at a step of range(): step number * step + begin.
Item NumberOperators::deriveIndex(const std::vector<Item>& args)
{
    return m_tools.numbers.arithmetic("scalar::add", m_tools.numbers.arithmetic("scalar::mul", args[0], args[2]),
                                      args[1]);
}

}  // namespace hopscope::loader
