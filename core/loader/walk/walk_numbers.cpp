// Numbers: those that follow from constants are computed, those that derive from inputs become scalar operators.

#include "loader/walk/walker.h"
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

bool whole(const IValue& v) { return v.isInt() || v.isBool(); }

std::int64_t wholeOf(const IValue& v) { return v.isBool() ? v.toBool() : v.toInt(); }
double realOf(const IValue& v) { return v.isDouble() ? v.toDouble() : static_cast<double>(wholeOf(v)); }

template <class Number>
std::optional<IValue> compute(std::string_view op, Number a, Number b)
{
    if (op == "scalar::add") return IValue(a + b);
    if (op == "scalar::sub") return IValue(a - b);
    if (op == "scalar::mul") return IValue(a * b);
    if (op == "scalar::min") return IValue(std::min(a, b));
    if (op == "scalar::max") return IValue(std::max(a, b));
    if (op == "scalar::eq") return IValue(a == b);
    if (op == "scalar::and") return IValue(a != Number(0) && b != Number(0));
    return {};
}

std::int64_t floorDiv(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

Item Walker::scalar(const char* name, const std::vector<Item>& args, const IValue& result)
{
    if (!m_recorder.fromInput(boxed(c10::NoneType::get(), args))) return Item(result);
    ir::Op op = newOp(name, "");
    for (const Item& arg : args) {
        op.args.push_back(toArg(arg));
        op.argInfo.push_back({"", arg.isTensor() ? ir::ArgType::Tensor : ir::ArgType::Number});
    }
    return {result, m_recorder.append(std::move(op), {result})[0]};
}

Item Walker::arithmetic(const char* name, const Item& a, const Item& b)
{
    const IValue &x = a.concrete, &y = b.concrete;
    if (!x.isScalar() || !y.isScalar()) refuse("arithmetic on an object that is not a number");
    const auto result =
        whole(x) && whole(y) ? compute(name, wholeOf(x), wholeOf(y)) : compute(name, realOf(x), realOf(y));
    return scalar(name, {a, b}, *result);
}

Item Walker::sizeItem(const Item& tensor, std::int64_t dim)
{
    const at::Tensor& concrete = tensor.concrete.toTensor();
    if (dim < 0) dim += concrete.dim();
    if (dim < 0 || dim >= concrete.dim()) refuse("forward fails on the sample: size of a missing dimension");
    const IValue size(concrete.size(dim));
    if (!m_recorder.shapeFromInput(tensor.value)) return Item(size);
    if (const auto it = m_sparse.find(tensor.value); it != m_sparse.end()) return it->second.sizes[dim];
    const auto [it, isNew] = m_sizes.try_emplace({tensor.value, dim});
    if (isNew) it->second = scalar("scalar::size", {tensor, Item(IValue(dim))}, size);
    return it->second;
}

Item Walker::itemOf(const Item& tensor, const IValue& result)
{
    const auto known = m_numbersOf.find(tensor.value);
    const bool fresh = known != m_numbersOf.end() && !m_recorder.written(tensor.concrete.toTensor());
    if (!fresh) return scalar("scalar::item", {tensor}, result);
    const Item& number = known->second;
    if (number.concrete.tagKind() == result.tagKind()) return number;
    const char* name = result.isInt() ? "scalar::int" : result.isBool() ? "scalar::bool" : "scalar::float";
    return scalar(name, {number}, result);
}

// Facts about tensors that do not differ between graphs: rank, dtype, layout, device, and the like.
bool Walker::staticFact(const Node& node, const std::vector<Item>& args)
{
    if (!operators::isFact(node.kind().toQualString())) return false;
    set(node, wrap(executeNode(node, args)[0], "", Leaf::Literal));
    return true;
}

bool Walker::tensorToNumber(const Node& node, std::vector<Item>& args)
{
    if (args.empty() || !args[0].isTensor()) return false;
    const std::string name = node.kind().toQualString();
    const Item tensor = args[0];
    const at::Tensor concrete = tensor.concrete.toTensor();
    if (name == "aten::size" && args.size() == 2) set(node, sizeItem(tensor, fixedInt(args[1])));
    else if (name == "aten::len") set(node, sizeItem(tensor, 0));
    else if (name == "aten::size") {
        std::vector<Item> sizes;
        for (std::int64_t d = 0; d < concrete.dim(); ++d) sizes.push_back(sizeItem(tensor, d));
        set(node, boxed(c10::ListType::ofInts(), std::move(sizes)));
    } else if (name == "aten::numel") {
        const IValue count(concrete.numel());
        set(node, m_recorder.shapeFromInput(tensor.value) ? scalar("scalar::numel", {tensor}, count) : Item(count));
    } else if (operators::isToNumber(name)) {
        set(node, itemOf(tensor, executeNode(node, args)[0]));
    } else {
        return false;
    }
    return true;
}

Item Walker::tensorOf(const Item& number, const at::Tensor& result)
{
    ir::Op op = newOp("scalar::tensor", "");
    op.args = {toArg(number), ir::Arg{static_cast<std::int64_t>(result.scalar_type())}};
    op.argInfo = {{"number", ir::ArgType::Number}, {"dtype", ir::ArgType::Other}};
    const Item out(result, m_recorder.append(std::move(op), {result})[0]);
    const bool sameKind =
        number.concrete.isInt() ? result.scalar_type() == at::kLong : result.scalar_type() == at::kDouble;
    if (sameKind && !number.concrete.isBool()) m_numbersOf[out.value] = number;
    return out;
}

bool Walker::numberToTensor(const Node& node, std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    const bool makes = name == "aten::tensor" || name == "aten::as_tensor" || name == "aten::scalar_tensor";
    if (name != "prim::NumToTensor" && !makes) return false;
    if (!args[0].box && args[0].concrete.isScalar()) {
        set(node, tensorOf(args[0], executeNode(node, args)[0].toTensor()));
        return true;
    }
    if (!args[0].box || !m_recorder.fromInput(args[0])) return false;
    const at::Tensor result = executeNode(node, args)[0].toTensor();
    if (result.dim() != 1) refuse("a nested list of computed numbers is converted to a tensor");
    std::vector<Item> numbers;
    for (std::size_t i = 0; i < args[0].box->items.size(); ++i) {
        if (!args[0].box->items[i].concrete.isScalar()) refuse("a list of tensors is converted to a tensor");
        numbers.push_back(tensorOf(args[0].box->items[i], result[static_cast<std::int64_t>(i)].clone()));
    }
    set(node, call("aten::stack", "", {boxed(c10::ListType::ofTensors(), numbers), Item(IValue(0))}));
    return true;
}

Item Walker::rangeLength(const std::vector<Item>& args)
{
    const Item zero{IValue(0)};
    const std::int64_t step = fixedInt(args[2]);
    if (step < 1) refuse("a loop counts down from a number that depends on the inputs");
    const Item span =
        args[0].value.valid() || args[0].concrete.toInt() != 0 ? arithmetic("scalar::sub", args[1], args[0]) : args[1];
    if (step == 1) return arithmetic("scalar::max", span, zero);
    const Item padded = arithmetic("scalar::add", span, Item(IValue(step - 1)));
    const Item count = scalar("scalar::floordiv", {padded, args[2]}, floorDiv(padded.concrete.toInt(), step));
    return arithmetic("scalar::max", count, zero);
}

Item Walker::deriveIndex(const std::vector<Item>& args)
{
    return arithmetic("scalar::add", arithmetic("scalar::mul", args[0], args[2]), args[1]);
}

// Arithmetic on numbers of which at least one derives from inputs.
std::optional<Item> Walker::convert(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    if (name == "aten::__range_length") return rangeLength(args);
    if (name == "aten::__derive_index") return deriveIndex(args);
    const IValue result = executeNode(node, args)[0];
    if (result.isString()) return Item(result);  // texts for messages
    const auto scalarName = kScalarNames.find(name);
    const bool numbers =
        std::all_of(args.begin(), args.end(), [](const Item& a) { return !a.box && a.concrete.isScalar(); });
    if (scalarName == kScalarNames.end() || !numbers || args.size() > 2 || !result.isScalar()) return {};
    return scalar(scalarName->second, args, result);
}

bool Walker::numberOp(const Node& node, std::vector<Item>& args)
{
    if (anyLeaf(args, [](const Item& leaf) { return leaf.isTensor(); })) return false;
    for (const torch::jit::Value* out : node.outputs())
        if (out->type()->isSubtypeOf(*c10::TensorType::get()) || out->type()->isSubtypeOf(*c10::ListType::ofTensors()))
            return false;
    if (auto error = forbidden(node.schema(), args)) refuse(error->message, error->hint);
    const bool dynamic = anyLeaf(args, [&](const Item& leaf) { return m_recorder.fromInput(leaf); });
    if (dynamic) {
        auto result = convert(node, args);
        if (!result)
            refuse(std::string("arithmetic with ") + node.kind().toQualString() +
                   " on numbers that derive from inputs is not supported");
        set(node, std::move(*result));
        return true;
    }
    const torch::jit::Stack results = executeNode(node, args);
    for (std::size_t i = 0; i < results.size() && i < node.outputs().size(); ++i)
        m_frames.back().items[node.outputs()[i]] = wrap(results[i], "", Leaf::Literal);
    return true;
}

}  // namespace hopscope::loader
