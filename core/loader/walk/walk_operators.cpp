// Operators on tensors: run on the sample, written down with every argument of their schema.

#include <torch/csrc/jit/runtime/operator.h>

#include "loader/walk/sharing.h"
#include "loader/walk/walker.h"
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

torch::jit::Stack Walker::execute(torch::jit::Operation op, torch::jit::Stack stack) const
{
    try {
        op(stack);
    } catch (const c10::Error& e) {
        refuseThrown(e.what_without_backtrace());
    } catch (const std::exception& e) {
        refuseThrown(e.what());
    }
    return stack;
}

torch::jit::Stack Walker::executeNode(const Node& node, const std::vector<Item>& args) const
{
    const auto& arguments = node.schema().arguments();
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < args.size(); ++i)
        stack.push_back(concreteOf(args[i], i < arguments.size() ? withoutOptional(arguments[i].type()) : nullptr));
    if (node.schema().is_vararg()) stack.emplace_back(static_cast<std::int64_t>(args.size()));
    return execute(node.getOperation(), std::move(stack));
}

ir::Arg Walker::toArg(const Item& item) const
{
    if (item.box) {
        ir::ArgList list;
        for (const Item& i : item.box->items) list.push_back(toArg(i));
        return {list};
    }
    const IValue& v = item.concrete;
    if (item.value.valid()) return {item.value};
    if (v.isNone() || (v.isTensor() && !v.toTensor().defined()) || v.isGenerator()) return {};
    if (v.isInt()) return {v.toInt()};
    if (v.isDouble()) return {v.toDouble()};
    if (v.isBool()) return {v.toBool()};
    if (v.isString()) return {v.toStringRef()};
    if (v.isDevice()) return {ir::DeviceArg{}};
    refuse("an argument of type " + v.tagKind() + " is not supported");
}

// Finds the operator that computes the same without writing. copy_, fill_ and zero_ have none that is worth a name.
void Walker::describeMutation(ir::Op& op, const c10::FunctionSchema& schema) const
{
    op.mutatedArg = writtenArgument(schema);
    if (op.mutatedArg == -2 || (op.mutatedArg >= 0 && schema.returns().empty()))
        refuse("the operator " + schema.name() + " writes into an output argument", "use the out-of-place form");
    if (op.mutatedArg < 0 || operators::of(op.name).traits.write != operators::Write::None) return;
    const std::string name = operators::plainName(schema.name());
    if (!name.empty())
        for (const auto& candidate : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)))
            if (sameArguments(candidate->schema(), schema) && writtenArgument(candidate->schema()) == -1) {
                op.functionalName = name;
                op.functionalOverload = candidate->schema().overload_name();
                return;
            }
    refuse("the operator " + schema.name() + " writes in place and has no out-of-place form");
}

std::vector<Item> Walker::wrapResults(ir::Op op, const c10::FunctionSchema& schema, const torch::jit::Stack& results)
{
    std::vector<IValue> leaves;
    for (const IValue& result : results) {
        if (result.isTensorList()) {
            op.listOutput = true;
            for (const at::Tensor& tensor : result.toTensorVector()) leaves.emplace_back(tensor);
        } else if (result.isTensor() || result.isScalar()) {
            leaves.push_back(result);
        } else {
            refuse("the operator " + schema.name() + " returns a " + result.tagKind() + ", which is not supported");
        }
    }
    if (op.listOutput && results.size() > 1)
        refuse("the operator " + schema.name() + " returns a list together with other results");
    const bool list = op.listOutput;
    const std::vector<ir::ValueId> ids = m_recorder.append(std::move(op), leaves);
    std::vector<Item> items;
    for (std::size_t i = 0; i < leaves.size(); ++i) items.emplace_back(leaves[i], ids[i]);
    if (!list) return items;
    return {boxed(c10::ListType::ofTensors(), std::move(items))};
}

std::vector<Item> Walker::emit(const torch::jit::Operator& given, std::vector<Item> args)
{
    const torch::jit::Operator& real = withoutTwin(given);
    const c10::FunctionSchema& schema = real.schema();
    if (auto error = forbidden(schema, args)) refuse(error->message, error->hint);
    if (args.size() != schema.arguments().size())
        refuse("the operator " + schema.name() + " has a variable number of arguments");
    ir::Op op = newOp(schema.name(), schema.overload_name());
    describeMutation(op, schema);
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < args.size(); ++i) {
        op.args.push_back(toArg(args[i]));
        op.argInfo.push_back({schema.arguments()[i].name(), argType(schema.arguments()[i])});
        stack.push_back(concreteOf(args[i], withoutOptional(schema.arguments()[i].type())));
    }
    const int mutated = op.mutatedArg;
    const bool fromInput = anyLeaf(args, [&](const Item& leaf) { return m_recorder.fromInput(leaf); });
    if (mutated >= 0) m_recorder.beforeWrite(args[static_cast<std::size_t>(mutated)].concrete.toTensor());
    const torch::jit::Stack results = execute(real.getOperation(), std::move(stack));
    if (mutated >= 0) m_recorder.afterWrite(args[static_cast<std::size_t>(mutated)].concrete.toTensor(), fromInput);
    else checkSharing(op, args, results);
    return wrapResults(std::move(op), schema, results);
}

// What the table of operators says about sharing against what the storages say.
void Walker::checkSharing(ir::Op& op, const std::vector<Item>& args, const torch::jit::Stack& results) const
{
    using operators::Aliasing;
    const operators::Operator& claim = operators::of(op.name);
    if (const auto why = contradiction(claim, tensorsOf(args), tensorsOf(results)))
        refuse("the operator " + op.name + " " + *why, "please report the operator and the version of LibTorch");
    const Aliasing a = claim.traits.aliasing;
    const bool byLayout = a == Aliasing::SameIfDense || a == Aliasing::ViewIfDense || a == Aliasing::SameDtype;
    if (!byLayout || !args[0].isTensor() || !m_recorder.fromInput(args[0])) return;
    const at::MemoryFormat format = formatOf(op);
    if (a == Aliasing::SameDtype && format == at::MemoryFormat::Preserve) return;
    const bool usual = format == at::MemoryFormat::Preserve || format == at::MemoryFormat::Contiguous;
    op.sharingVaries = !usual || sharingVaries(args[0].concrete.toTensor(), m_recorder.layout(args[0].value));
}

Item Walker::call(const char* name, const char* overload, std::vector<Item> args)
{
    const auto op = torch::jit::findOperatorFor({name, overload});
    if (!op) refuse(std::string("this LibTorch has no operator ") + name + " " + overload);
    return emit(*op, std::move(args))[0];
}

void Walker::tensorOp(const Node& node, std::vector<Item>& args)
{
    if (specialTensorOp(node, args)) return;
    const std::vector<Item> results = emit(node.getOperator(), args);
    if (results.size() != node.outputs().size())
        refuse(std::string("unexpected results of ") + node.kind().toQualString());
    for (std::size_t i = 0; i < results.size(); ++i) m_frames.back().items[node.outputs()[i]] = results[i];
}

bool Walker::specialTensorOp(const Node& node, std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    if (args.empty()) return false;
    if (name == "aten::requires_grad_" || name == "aten::detach_") set(node, args[0]);
    else if (name == "prim::data") set(node, call("aten::detach", "", {args[0]}));
    else if (name == "prim::tolist" || name == "aten::tolist")
        refuse("a whole tensor is read as Python numbers", "keep it as a tensor");
    else return castOp(node, args) || sparsePart(name, node, args) || scatterOp(node, args);
    return true;
}

// The parts of a sparse input are inputs themselves.
bool Walker::sparsePart(const std::string& name, const Node& node, const std::vector<Item>& args)
{
    const auto it = args[0].isTensor() ? m_sparse.find(args[0].value) : m_sparse.end();
    if (it == m_sparse.end()) return false;
    const Sparse& parts = it->second;
    const Item* part = nullptr;
    if (name == "aten::values" || name == "aten::_values") part = &parts.values;
    if (name == "aten::indices" || name == "aten::_indices") part = &parts.indices;
    if (name == "aten::crow_indices") part = &parts.crow;
    if (name == "aten::col_indices") part = &parts.col;
    if (!part || !part->isTensor()) return false;
    set(node, *part);
    return true;
}

// Every form of `to` casts only: the device is the executing one.
bool Walker::castOp(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    if (name != "aten::to" && name != "aten::cpu") return false;
    if (!args[0].isTensor()) return false;
    std::optional<at::ScalarType> type;
    Item copy{IValue(false)}, format;
    const auto& arguments = node.schema().arguments();
    for (std::size_t i = 1; i < args.size(); ++i) {
        const std::string& argument = arguments[i].name();
        if (argument == "dtype" && args[i].concrete.isInt())
            type = static_cast<at::ScalarType>(args[i].concrete.toInt());
        if (argument == "other") type = args[i].concrete.toTensor().scalar_type();
        if (argument == "copy") copy = args[i];
        if (argument == "memory_format") format = args[i];
        if (argument == "layout" && args[i].concrete.isInt() && args[i].concrete.toInt() != 0)
            refuse("casts to a sparse layout are not supported");
    }
    const auto own = args[0].concrete.toTensor().scalar_type();
    const Item dtype{IValue(static_cast<std::int64_t>(type.value_or(own)))};
    set(node, call("aten::to", "dtype", {args[0], dtype, Item(IValue(false)), copy, format}));
    return true;
}

// torch_scatter's sum, written as the operators that it stands for.
bool Walker::scatterOp(const Node& node, const std::vector<Item>& args)
{
    if (std::string_view(node.kind().toQualString()) != "torch_scatter::scatter_sum" || !args[3].isNone()) return false;
    const Item &src = args[0], &index = args[1];
    const at::Tensor values = src.concrete.toTensor();
    std::int64_t dim = fixedInt(args[2]);
    if (dim < 0) dim += values.dim();
    Item along = index;
    if (index.concrete.toTensor().dim() == 1 && values.dim() > 1) {
        std::vector<Item> shape(static_cast<std::size_t>(values.dim()), Item(IValue(1)));
        shape[static_cast<std::size_t>(dim)] = Item(IValue(-1));
        along = call("aten::view", "", {index, boxed(c10::ListType::ofInts(), shape)});
        along = call("aten::expand_as", "", {along, src});
    } else if (index.concrete.toTensor().dim() != values.dim()) {
        return false;
    }
    Item count = args[4];
    if (count.isNone()) {
        const Item largest = call("aten::max", "", {index});
        count =
            arithmetic("scalar::add", itemOf(largest, largest.concrete.toTensor().item().toLong()), Item(IValue(1)));
    }
    std::vector<Item> sizes;
    for (std::int64_t d = 0; d < values.dim(); ++d) sizes.push_back(d == dim ? count : sizeItem(src, d));
    const Item zeros =
        call("aten::new_zeros", "", {src, boxed(c10::ListType::ofInts(), sizes), Item(), Item(), Item(), Item()});
    set(node, call("aten::scatter_add", "", {zeros, Item(IValue(dim)), along, src}));
    return true;
}

}  // namespace hopscope::loader
