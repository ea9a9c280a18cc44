#include "loader/walk/operator_calls.h"

#include <algorithm>

#include "loader/bounds.h"
#include "loader/parts.h"
#include "loader/walk/safety.h"
#include "loader/walk/scalar_operand.h"
#include "loader/walk/sharing.h"
#include "operators/operators.h"

namespace hopscope::loader {

namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;
using ir::ArgType;

TypePtr withoutOptional(const TypePtr& type)
{
    return type->kind() == TypeKind::OptionalType ? type->expectRef<c10::OptionalType>().getElementType() : type;
}

ArgType listArgType(const TypePtr& element)
{
    if (element->kind() == TypeKind::TensorType) return ArgType::TensorList;
    if (element->kind() == TypeKind::IntType) return ArgType::IntList;
    const bool optional = element->kind() == TypeKind::OptionalType;
    return optional && withoutOptional(element)->kind() == TypeKind::TensorType ? ArgType::OptionalTensorList
                                                                                : ArgType::Other;
}

ArgType argType(const c10::Argument& argument)
{
    const TypePtr type = withoutOptional(argument.type()), real = withoutOptional(argument.real_type());
    switch (type->kind()) {
    case TypeKind::TensorType: return ArgType::Tensor;
    case TypeKind::NumberType: return ArgType::Number;
    case TypeKind::FloatType: return ArgType::Float;
    case TypeKind::BoolType: return ArgType::Bool;
    case TypeKind::ListType: return listArgType(type->expectRef<c10::ListType>().getElementType());
    case TypeKind::IntType:
        return real->kind() == TypeKind::IntType || real->kind() == TypeKind::SymIntType ? ArgType::Int
                                                                                         : ArgType::Other;
    default: return ArgType::Other;
    }
}

// "aten::index.Tensor_hacked_twin" takes Tensor[] where "aten::index.Tensor" takes Tensor?[]: the latter is recorded.
const torch::jit::Operator& withoutTwin(const torch::jit::Operator& op)
{
    const c10::FunctionSchema& schema = op.schema();
    if (schema.overload_name().find("hacked_twin") == std::string::npos) return op;
    for (const char* overload : {"Tensor", ""})
        if (const auto real = torch::jit::findOperatorFor({schema.name(), overload})) return *real;
    return op;
}

int writtenArgument(const c10::FunctionSchema& schema)
{
    int found = -1;
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
        const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
        if (!alias || !alias->isWrite()) continue;
        if (found >= 0 || schema.arguments()[i].is_out()) return -2;
        found = static_cast<int>(i);
    }
    return found;
}

bool sameArguments(const c10::FunctionSchema& a, const c10::FunctionSchema& b)
{
    if (a.arguments().size() != b.arguments().size()) return false;
    for (std::size_t i = 0; i < a.arguments().size(); ++i)
        if (*a.arguments()[i].type() != *b.arguments()[i].type() || a.arguments()[i].name() != b.arguments()[i].name())
            return false;
    return true;
}

// The operator that returns what this one writes into its last argument, out; nullptr if there is none.
std::shared_ptr<torch::jit::Operator> withoutOut(const c10::FunctionSchema& schema)
{
    const auto& arguments = schema.arguments();
    const bool writes = !arguments.empty() && arguments.back().is_out() && schema.returns().size() == 1;
    if (!writes || writtenArgument(schema) != -2) return nullptr;
    for (const auto& candidate : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(schema.name()))) {
        const auto& others = candidate->schema().arguments();
        const bool same = others.size() + 1 == arguments.size() &&
                          std::equal(others.begin(), others.end(), arguments.begin(), [](const auto& a, const auto& b) {
                              return a.name() == b.name() && *a.type() == *b.type();
                          });
        if (same) return candidate;
    }
    return nullptr;
}

// None for a tensor.
std::optional<ir::Arg> literalOf(const IValue& v)
{
    if (v.isNone() || (v.isTensor() && !v.toTensor().defined()) || v.isGenerator()) return ir::Arg{};
    if (v.isInt()) return ir::Arg{v.toInt()};
    if (v.isDouble()) return ir::Arg{v.toDouble()};
    if (v.isBool()) return ir::Arg{v.toBool()};
    if (v.isString()) return ir::Arg{v.toStringRef()};
    if (v.isDevice()) return ir::Arg{ir::DeviceArg{}};
    return std::nullopt;
}

std::optional<double> numberOf(const ir::Arg& arg)
{
    const bool* b = std::get_if<bool>(&arg.data);
    return b ? std::optional(*b ? 1.0 : 0.0) : arg.number();
}

// A number may be written in several ways, and stand for a list of it.
bool isSame(const ir::Arg& arg, const IValue& wanted)
{
    if (wanted.isList()) {
        const auto items = wanted.toListRef();
        const ir::ArgList given = arg.list() ? *arg.list() : ir::ArgList(items.size(), arg);
        return std::ranges::equal(given, items, isSame);
    }
    const std::optional<ir::Arg> literal = literalOf(wanted);
    return literal && (*literal == arg || (numberOf(arg) && numberOf(arg) == numberOf(*literal)));
}

// Whether the model says something else than the default; every argument without one is given.
bool isGiven(const ir::Arg& arg, const c10::Argument& argument)
{
    if (arg.none()) return false;
    const auto& otherwise = argument.default_value();
    return !otherwise || !isSame(arg, *otherwise);
}

// All tensors among the arguments, in order.
void collectTensors(const Item& item, std::vector<at::Tensor>& tensors)
{
    if (item.isTensor()) tensors.push_back(item.concrete.toTensor());
    if (!item.box) return;
    for (const Item& i : item.box->items) collectTensors(i, tensors);
}

std::vector<at::Tensor> tensorsOf(const std::vector<Item>& args)
{
    std::vector<at::Tensor> tensors;
    for (const Item& arg : args) collectTensors(arg, tensors);
    return tensors;
}

std::vector<at::Tensor> tensorsOf(const torch::jit::Stack& results)
{
    std::vector<at::Tensor> tensors;
    for (const IValue& result : results) {
        if (result.isTensor()) tensors.push_back(result.toTensor());
        if (result.isTensorList())
            for (const at::Tensor& tensor : result.toTensorVector()) tensors.push_back(tensor);
    }
    return tensors;
}

// The layout that the operator is asked for: row-major for contiguous(), that of the operand where nothing is said.
at::MemoryFormat formatOf(const ir::Op& op)
{
    for (std::size_t i = 0; i < op.argInfo.size(); ++i)
        if (op.argInfo[i].name == "memory_format" && op.args[i].integer())
            return static_cast<at::MemoryFormat>(*op.args[i].integer());
    return at::MemoryFormat::Preserve;
}

}  // namespace

torch::jit::Stack OperatorCalls::execute(torch::jit::Operation op, torch::jit::Stack stack) const
{
    try {
        op(stack);
    } catch (const c10::Error& e) {
        m_location.refuseThrown(e.what_without_backtrace());
    } catch (const std::exception& e) {
        m_location.refuseThrown(e.what());
    }
    return stack;
}

torch::jit::Stack OperatorCalls::executeNode(const Node& node, const std::vector<Item>& args) const
{
    const auto& arguments = node.schema().arguments();
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < args.size(); ++i)
        stack.push_back(concreteOf(args[i], i < arguments.size() ? withoutOptional(arguments[i].type()) : nullptr));
    if (node.schema().is_vararg()) stack.emplace_back(static_cast<std::int64_t>(args.size()));
    return execute(node.getOperation(), std::move(stack));
}

ir::Arg OperatorCalls::toArg(const Item& item) const
{
    if (item.box) {
        ir::ArgList list;
        for (const Item& i : item.box->items) list.push_back(toArg(i));
        return {list};
    }
    const IValue& v = item.concrete;
    if (item.value.valid()) return {item.value};
    if (auto literal = literalOf(v)) return std::move(*literal);
    m_location.refuse("an argument of type " + v.tagKind() + " is not supported");
}

// Finds the operator that computes the same without writing. copy_, fill_ and zero_ have none that is worth a name.
void OperatorCalls::describeMutation(ir::Op& op, const c10::FunctionSchema& schema) const
{
    op.mutatedArg = writtenArgument(schema);
    if (op.mutatedArg == -2 || (op.mutatedArg >= 0 && schema.returns().empty()))
        m_location.refuse("the operator " + schema.name() + " writes its results into arguments",
                          "use the out-of-place form");
    if (op.mutatedArg < 0 || operators::of(op.name).traits.write != operators::Write::None) return;
    const std::string name = operators::plainName(schema.name());
    if (!name.empty())
        for (const auto& candidate : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)))
            if (sameArguments(candidate->schema(), schema) && writtenArgument(candidate->schema()) == -1) {
                op.functionalName = name;
                op.functionalOverload = candidate->schema().overload_name();
                return;
            }
    m_location.refuse("the operator " + schema.name() + " writes in place and has no out-of-place form");
}

std::vector<Item> OperatorCalls::wrapResults(ir::Op op, const c10::FunctionSchema& schema,
                                             const torch::jit::Stack& results)
{
    std::vector<IValue> leaves;
    for (const IValue& result : results) {
        if (result.isTensorList()) {
            op.listOutput = true;
            for (const at::Tensor& tensor : result.toTensorVector()) leaves.emplace_back(tensor);
        } else if (result.isTensor() || result.isScalar()) {
            leaves.push_back(result);
        } else {
            m_location.refuse("the operator " + schema.name() + " returns a " + result.tagKind() +
                              ", which is not supported");
        }
    }
    if (op.listOutput && results.size() > 1)
        m_location.refuse("the operator " + schema.name() + " returns a list together with other results");
    const bool list = op.listOutput;
    const std::vector<ir::ValueId> ids = m_recorder.append(std::move(op), leaves);
    std::vector<Item> items;
    for (std::size_t i = 0; i < leaves.size(); ++i) items.emplace_back(leaves[i], ids[i]);
    if (!list) return items;
    return {boxed(c10::ListType::ofTensors(), std::move(items))};
}

// cumsum(x, 0, out=y) as y.copy_(cumsum(x, 0)), where the result has y's shape and dtype; nullopt for other operators.
std::optional<std::vector<Item>> OperatorCalls::recordOut(const c10::FunctionSchema& schema,
                                                          const std::vector<Item>& args)
{
    const auto plain = withoutOut(schema);
    if (!plain) return std::nullopt;
    const std::size_t out = schema.arguments().size() - 1;
    std::vector<Item> others(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(out));
    const std::vector<Item> results = record(*plain, others);
    const at::Tensor &written = args[out].concrete.toTensor(), &computed = results[0].concrete.toTensor();
    if (written.sizes() != computed.sizes() || written.scalar_type() != computed.scalar_type())
        m_location.refuse("the operator " + schema.name() + " writes into a tensor of a different shape or dtype",
                          "use the out-of-place form");
    return std::vector<Item>{record("aten::copy_", "", {args[out], results[0], Item(IValue(false))})};
}

std::vector<Item> OperatorCalls::record(const torch::jit::Operator& given, const std::vector<Item>& args)
{
    const torch::jit::Operator& real = withoutTwin(given);
    const c10::FunctionSchema& schema = real.schema();
    if (auto written = recordOut(schema, args)) return *written;
    if (const auto scalar = withNumber(schema, args, args.size() > 1 && m_recorder.isConstant(args[1])))
        return record(*scalar, {args[0], Item(IValue(args[1].concrete.toTensor().item()))});
    checkAllowed(schema, args);
    if (!operators::known(schema.name()) && isComposite(schema))
        m_location.refuse("the operator " + schema.name() + " cannot be recorded as the operators that it consists of");
    if (args.size() != schema.arguments().size())
        m_location.refuse("the operator " + schema.name() + " has a variable number of arguments");
    ir::Op op = m_location.newOp(schema.name(), schema.overload_name());
    describeMutation(op, schema);
    describeArguments(op, schema, args);
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < args.size(); ++i)
        stack.push_back(concreteOf(args[i], withoutOptional(schema.arguments()[i].type())));
    const int mutated = op.mutatedArg;
    const bool fromInput = anyLeaf(args, [&](const Item& leaf) { return m_recorder.fromInput(leaf); });
    if (mutated >= 0) m_recorder.beforeWrite(args[static_cast<std::size_t>(mutated)].concrete.toTensor());
    const torch::jit::Stack results = execute(boundedOperation(real), std::move(stack));
    if (mutated >= 0) m_recorder.afterWrite(args[static_cast<std::size_t>(mutated)].concrete.toTensor(), fromInput);
    else checkSharing(op, args, results);
    return wrapResults(std::move(op), schema, results);
}

Item OperatorCalls::record(const char* name, const char* overload, const std::vector<Item>& args)
{
    const auto op = torch::jit::findOperatorFor({name, overload});
    if (!op) m_location.refuse(std::string("this LibTorch has no operator ") + name + " " + overload);
    return record(*op, args)[0];
}

void OperatorCalls::checkAllowed(const c10::FunctionSchema& schema, const std::vector<Item>& args) const
{
    if (auto error = forbidden(schema, args)) m_location.refuse(error->message, error->hint);
}

void OperatorCalls::describeArguments(ir::Op& op, const c10::FunctionSchema& schema,
                                      const std::vector<Item>& args) const
{
    for (std::size_t i = 0; i < args.size(); ++i) {
        op.args.push_back(toArg(args[i]));
        op.argInfo.push_back({.name = schema.arguments()[i].name(),
                              .type = argType(schema.arguments()[i]),
                              .given = isGiven(op.args.back(), schema.arguments()[i])});
    }
}

// Compares the sharing that the table of operators declares with the storages.
void OperatorCalls::checkSharing(ir::Op& op, const std::vector<Item>& args, const torch::jit::Stack& results) const
{
    using operators::Aliasing;
    const operators::Operator& claim = operators::of(op.name);
    if (const auto why = contradiction(claim, tensorsOf(args), tensorsOf(results)))
        m_location.refuse("the operator " + op.name + " " + *why,
                          "please report the operator and the version of LibTorch");
    const Aliasing a = claim.traits.aliasing;
    const bool byLayout = a == Aliasing::SameIfDense || a == Aliasing::ViewIfDense || a == Aliasing::SameDtype;
    if (!byLayout || !args[0].isTensor() || !m_recorder.fromInput(args[0])) return;
    const at::MemoryFormat format = formatOf(op);
    if (a == Aliasing::SameDtype && format == at::MemoryFormat::Preserve) return;
    const bool usual = format == at::MemoryFormat::Preserve || format == at::MemoryFormat::Contiguous;
    op.sharingVaries = !usual || sharingVaries(args[0].concrete.toTensor(), m_recorder.layout(args[0].value));
}

}  // namespace hopscope::loader
