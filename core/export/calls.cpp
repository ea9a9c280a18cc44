#include "export/calls.h"

#include <algorithm>
#include <array>
#include <set>

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

#include "base/text.h"
#include "executor/failure.h"
#include "loader/registry.h"
#include "loader/tensors.h"
#include "operators/operators.h"

namespace hopscope::exporter {

namespace {

using c10::TypeKind;

// Functions of the namespace torch, with the arguments of the operator of the same name.
bool isFunctionOfTorch(const std::string& name)
{
    static const std::set<std::string> names{"abs",
                                             "addmm",
                                             "amax",
                                             "amin",
                                             "bincount",
                                             "bmm",
                                             "cat",
                                             "clamp",
                                             "cumsum",
                                             "einsum",
                                             "eq",
                                             "exp",
                                             "flip",
                                             "ge",
                                             "gt",
                                             "index_add",
                                             "index_copy",
                                             "index_select",
                                             "isinf",
                                             "le",
                                             "log",
                                             "log_softmax",
                                             "lt",
                                             "masked_fill",
                                             "maximum",
                                             "mean",
                                             "minimum",
                                             "mm",
                                             "ne",
                                             "neg",
                                             "nonzero",
                                             "permute",
                                             "pow",
                                             "relu",
                                             "rsqrt",
                                             "scatter_add",
                                             "scatter_reduce",
                                             "select",
                                             "sigmoid",
                                             "softmax",
                                             "sqrt",
                                             "squeeze",
                                             "stack",
                                             "sum",
                                             "tanh",
                                             "transpose",
                                             "unsqueeze",
                                             "where"};
    return names.contains(name);
}

// The infix notation of an operator with two operands; nullptr if it has none.
const char* signOf(const std::string& name)
{
    if (name == "add") return " + ";
    if (name == "sub") return " - ";
    if (name == "mul") return " * ";
    if (name == "div") return " / ";
    return name == "matmul" ? " @ " : nullptr;
}

Text layoutText(std::int64_t layout)
{
    static constexpr std::array<const char*, 3> names{"torch.strided", "torch.sparse_coo", "torch.sparse_csr"};
    const bool known = layout >= 0 && layout < static_cast<std::int64_t>(names.size());
    return {known ? names[static_cast<std::size_t>(layout)] : "torch.strided", std::to_string(layout)};
}

Text memoryFormatText(std::int64_t format)
{
    static constexpr std::array<const char*, 4> names{"torch.contiguous_format", "torch.preserve_format",
                                                      "torch.channels_last", "torch.channels_last_3d"};
    const bool known = format >= 0 && format < static_cast<std::int64_t>(names.size());
    return {known ? names[static_cast<std::size_t>(format)] : "torch.contiguous_format", std::to_string(format)};
}

Text scalarTypeText(std::int64_t type)
{
    const auto dtype = loader::dtypeOf(static_cast<at::ScalarType>(type));
    if (!dtype) throw executor::Failure(dtype.error());
    return dtypeText(*dtype);
}

bool isLocal(const ir::Op& op, std::size_t i)
{
    if (i >= op.argInfo.size()) return false;
    return op.argInfo[i].type == ir::ArgType::Int || op.argInfo[i].type == ir::ArgType::IntList;
}

// Writes the arguments of one operator as its schema asks for them.
class ArgumentWriter {
public:
    ArgumentWriter(const analysis::Analysis& analysis, const ir::Op& op, const Surroundings& around)
        : m_analysis(analysis),
          m_op(op),
          m_around(around),
          m_numbers(analysis, around.item)
    {}

    [[nodiscard]] Text write(std::size_t i, const c10::Argument& wanted) const
    {
        static const ir::Arg absent;
        const ir::Arg& arg = i < m_op.args.size() ? m_op.args[i] : absent;
        return typed(arg, wanted.real_type(), {static_cast<int>(i), -1}, isLocal(m_op, i));
    }

    // None where it cannot be compared.
    [[nodiscard]] static std::optional<Text> standard(const c10::Argument& wanted)
    {
        const std::optional<c10::IValue>& value = wanted.default_value();
        if (!value) return std::nullopt;
        if (value->isNone()) return Text("None");
        if (value->isBool()) return boolText(value->toBool()).text;
        if (value->isDouble()) return realNumberText(value->toDouble()).text;
        if (value->isInt()) return integerText(value->toInt()).text;
        return std::nullopt;
    }

private:
    Text typed(const ir::Arg& arg, const c10::TypePtr& wanted, ir::Slot slot, bool local) const
    {
        if (wanted->kind() == TypeKind::OptionalType)
            return arg.none() ? Text("None")
                              : typed(arg, wanted->castRaw<c10::OptionalType>()->getElementType(), slot, local);
        if (wanted->kind() == TypeKind::ListType)
            return list(arg, wanted->castRaw<c10::ListType>()->getElementType(), slot, local);
        if (wanted->kind() == TypeKind::TensorType) return tensor(arg, slot);
        return single(arg, wanted->kind(), local);
    }

    Text tensor(const ir::Arg& arg, ir::Slot slot) const
    {
        if (arg.none()) return "None";
        if (const ir::ValueId* v = arg.value())
            if (m_analysis.program.value(*v).kind == ir::ValueKind::Tensor) return m_around.operand(slot, *v);
        const NumberText number = m_numbers.argument(arg, m_around.global);
        const base::DType dtype = number.kind == ir::ValueKind::Float  ? base::DType::Float64
                                  : number.kind == ir::ValueKind::Bool ? base::DType::Bool
                                                                       : base::DType::Int64;
        return Text("torch.scalar_tensor(") + number.text + ", dtype=" + dtypeText(dtype) + ", device=device)";
    }

    Text list(const ir::Arg& arg, const c10::TypePtr& element, ir::Slot slot, bool local) const
    {
        const ir::ArgList lone{arg};
        const ir::ArgList& items = arg.list() ? *arg.list() : lone;
        std::vector<Text> texts;
        for (std::size_t i = 0; i < items.size(); ++i)
            texts.push_back(typed(items[i], element, {slot.arg, static_cast<int>(i)}, local));
        const Text written = listed(texts);
        if (element->kind() == TypeKind::OptionalType)
            return {written.python, "annotate(List[Optional[Tensor]], " + written.script + ")"};
        if (!texts.empty()) return written;
        return {"[]",
                std::string("annotate(List[") + (element->kind() == TypeKind::FloatType ? "float" : "int") + "], [])"};
    }

    Text single(const ir::Arg& arg, TypeKind wanted, bool local) const
    {
        if (arg.none()) return "None";
        if (std::holds_alternative<ir::DeviceArg>(arg.data)) return "device";
        if (const auto* text = std::get_if<std::string>(&arg.data)) return quoted(*text);
        if (const std::int64_t* i = arg.integer()) {
            if (wanted == TypeKind::ScalarTypeType) return scalarTypeText(*i);
            if (wanted == TypeKind::LayoutType) return layoutText(*i);
            if (wanted == TypeKind::MemoryFormatType) return memoryFormatText(*i);
        }
        const NumberText n = m_numbers.argument(arg, local ? m_around.local : m_around.global);
        if (wanted == TypeKind::FloatType && n.kind != ir::ValueKind::Float) return Text("float(") + n.text + ")";
        if (wanted == TypeKind::BoolType && n.kind != ir::ValueKind::Bool) return Text("bool(") + n.text + ")";
        return n.text;
    }

    const analysis::Analysis& m_analysis;
    const ir::Op& m_op;
    const Surroundings& m_around;
    Numbers m_numbers;
};

std::string shortName(const ir::Op& op) { return op.name.substr(op.name.find("::") + 2); }

Text functionText(const ir::Op& op)
{
    const std::string name = shortName(op);
    const std::string script = "torch." + name;
    if (name == "linear") return {"torch.nn.functional.linear", script};
    if (isFunctionOfTorch(name)) return script;
    return {"torch.ops.aten." + name + "." + (op.overload.empty() ? "default" : op.overload), script};
}

// Those without a default by position, the others by name, as far as they differ from it.
std::vector<Text> arguments(const ir::Op& op, const c10::FunctionSchema& schema, const ArgumentWriter& writer)
{
    std::vector<Text> texts;
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
        const c10::Argument& wanted = schema.arguments()[i];
        const bool given = i < op.args.size() && !op.args[i].none();
        const Text text = writer.write(i, wanted);
        const bool named = wanted.default_value() || wanted.kwarg_only();
        if (!named) texts.push_back(text);
        else if (given && ArgumentWriter::standard(wanted) != text) texts.push_back(Text(wanted.name() + "=") + text);
    }
    return texts;
}

bool knownShape(const analysis::Analysis& analysis, ir::ValueId value)
{
    return std::ranges::none_of(analysis.info(value).dims, [&](ir::SpaceId d) {
        return d.valid() && analysis.tables.space(d).kind == analysis::SpaceKind::Opaque;
    });
}

}  // namespace

Text dtypeText(base::DType dtype)
{
    return {std::string("torch.") + base::dtypeName(dtype),
            std::to_string(static_cast<int>(loader::scalarType(dtype)))};
}

std::string comesFrom(const ir::Op& op)
{
    std::string text = ir::modulePath(op.modules);
    const std::string source = ir::describeSource(op.source), line = base::oneLine(op.source.text, 90);
    if (!source.empty()) text += (text.empty() ? "" : ", ") + source + (line.empty() ? "" : ": " + line);
    return plain(text);
}

Text dummyText(const analysis::Analysis& analysis, ir::ValueId value, const std::optional<std::vector<Text>>& shape)
{
    const Text one =
        Text("torch.zeros([], dtype=") + dtypeText(analysis.program.value(value).dtype) + ", device=device)";
    const Text scalar{one.python, "torch.zeros(annotate(List[int], []), dtype=" +
                                      dtypeText(analysis.program.value(value).dtype).script + ", device=device)"};
    if (!shape || shape->empty()) return scalar;
    return scalar + ".expand(" + listed(*shape) + ")";
}

std::optional<Text> CallWriter::fillNumber(const ir::Op& op, const Surroundings& around) const
{
    const operators::Operator::Traits& traits = operators::of(op.name).traits;
    if (traits.fill == operators::Fill::Zero) return Text("0");
    if (traits.fill == operators::Fill::One) return Text("1");
    if (traits.fill == operators::Fill::None) return std::nullopt;
    const auto position = static_cast<std::size_t>(traits.fillArgument);
    const ir::Arg& arg = op.args.at(position);
    const ir::ValueId* const v = arg.value();
    if (v && m_analysis.program.value(*v).kind == ir::ValueKind::Tensor)
        return Text("float(") + around.operand({static_cast<int>(position), -1}, *v) + ")";
    if (arg.none()) return std::nullopt;
    return Numbers(m_analysis, around.item).argument(arg, around.global).text;
}

Text CallWriter::filled(const ir::Op& op, const Text& number, const Surroundings& around) const
{
    const ir::ValueId out = op.outputs.at(0);
    const std::vector<Text> shape = Numbers(m_analysis, around.item).shape(out, around.local);
    const Text size = shape.empty() ? Text("[]", "annotate(List[int], [])") : listed(shape);
    const Text like = Text(", dtype=") + dtypeText(m_analysis.program.value(out).dtype) + ", device=device)";
    if (number == Text("0")) return Text("torch.zeros(") + size + like;
    if (number == Text("1")) return Text("torch.ones(") + size + like;
    return Text("torch.full(") + size + ", " + number + like;
}

std::optional<Text> CallWriter::shaped(const ir::Op& op, const Surroundings& around) const
{
    if (op.outputs.size() != 1) return std::nullopt;
    const ir::ValueId out = op.outputs[0];
    if (!knownShape(m_analysis, out) || m_analysis.info(out).sparse) return std::nullopt;
    if (const auto number = fillNumber(op, around)) return filled(op, *number, around);
    const bool expands = operators::expands(op.name);
    if (!expands && !operators::reshapes(op.name)) return std::nullopt;
    const std::vector<Text> shape = Numbers(m_analysis, around.item).shape(out, around.local);
    const Text size = shape.empty() ? Text("[]", "annotate(List[int], [])") : listed(shape);
    return around.operand({0, -1}, *op.args.at(0).value()) + (expands ? ".expand(" : ".reshape(") + size + ")";
}

Text CallWriter::called(const ir::Op& op, const Surroundings& around) const
{
    if (!op.name.starts_with("aten::"))
        executor::raise(base::ErrorCode::Unsupported, "export cannot write " + op.name + ", which plain PyTorch lacks",
                        "replace it by operators of PyTorch, or use hopscope-engine run", ir::describeOp(op));
    const auto found = loader::RegisteredOperator::find(op.name, op.overload);
    if (!found)
        executor::raise(base::ErrorCode::Unsupported,
                        "LibTorch has no operator " + op.name + (op.overload.empty() ? "" : "." + op.overload), {},
                        ir::describeOp(op));
    const ArgumentWriter writer(m_analysis, op, around);
    std::vector<Text> texts = arguments(op, found.schema(), writer);
    if (operators::of(op.name).traits.ofCoalesced) texts.at(0) += ".coalesce()";
    if (const char* sign = signOf(shortName(op)); sign && texts.size() == 2) return texts[0] + sign + texts[1];
    return functionText(op) + "(" + joined(texts) + ")";
}

namespace {

// The operators that plain PyTorch lacks (loader/custom_ops.h), as statements: their operands, and names for the steps.
class Steps {
public:
    Steps(Method& method, const ir::Op& op, const Surroundings& around, std::string name)
        : m_method(method),
          m_op(op),
          m_around(around),
          m_name(std::move(name))
    {}

    [[nodiscard]] Text operand(int i) const
    {
        return m_around.operand({i, -1}, *m_op.args.at(static_cast<std::size_t>(i)).value());
    }

    Text add(const std::string& what, const Text& text) const { return m_method.assign(m_name + "_" + what, text); }

private:
    Method& m_method;
    const ir::Op& m_op;
    const Surroundings& m_around;
    std::string m_name;
};

}  // namespace

// Empty groups get the row of zeros behind the sorted messages.
Text CallWriter::rankSelected(Method& method, const ir::Op& op, const Surroundings& around) const
{
    const Steps steps(method, op, around, m_names[op.outputs.at(0)]);
    const Text rank = steps.operand(0), index = steps.operand(1), messages = steps.operand(2);
    const std::size_t dims = m_analysis.program.value(op.outputs.at(0)).shape.size();
    std::vector<Text> column(dims, "1"), padding(2 * dims, "0");
    column.front() = "-1";
    padding.back() = "1";
    const Text counts = steps.add("counts", Text("torch.bincount(") + index + ", None, " + rank + ".size(0))");
    const Text order = steps.add("order", Text("torch.sort(") + messages + ", 0)[1]");
    const Text groups = steps.add("groups", Text("torch.take_along_dim(") + index + ".view(" + listed(column) +
                                                ").expand_as(" + messages + "), " + order + ", 0)");
    const Text within =
        steps.add("within", Text("torch.sort(") + groups + ", stable=True, dim=0, descending=False)[1]");
    const Text sorted = steps.add("sorted", Text("torch.take_along_dim(torch.take_along_dim(") + messages + ", " +
                                                order + ", 0), " + within + ", 0)");
    const Text rows = steps.add("rows", Text("torch.where(") + counts + " > 0, torch.cumsum(" + counts + ", 0) - " +
                                            counts + " + " + rank + ", " + messages + ".size(0))");
    return Text("torch.constant_pad_nd(") + sorted + ", " + listed(padding) + ").index_select(0, " + rows + ")";
}

// Messages that do not fit go into a row that is cut off.
Text CallWriter::groupsPadded(Method& method, const ir::Op& op, const Surroundings& around) const
{
    const Steps steps(method, op, around, m_names[op.outputs.at(0)]);
    const Text number = steps.operand(0) + ".size(0)", index = steps.operand(1), messages = steps.operand(2);
    const ir::Value& result = m_analysis.program.value(op.outputs.at(0));
    const Text width = std::to_string(result.shape.at(1));
    std::vector<Text> all{number + " * " + width + " + 1"}, shape{number, width};
    for (std::size_t d = 2; d < result.shape.size(); ++d)
        for (std::vector<Text>* sizes : {&all, &shape}) sizes->emplace_back(std::to_string(result.shape[d]));
    const Text counts = steps.add("counts", Text("torch.bincount(") + index + ", None, " + number + ")");
    const Text order = steps.add("order", Text("torch.sort(") + index + ", stable=True, dim=0, descending=False)[1]");
    const Text groups = steps.add("groups", index + ".index_select(0, " + order + ")");
    const Text place = steps.add("place", Text("torch.arange(") + groups + ".size(0), device=device) - (torch.cumsum(" +
                                              counts + ", 0) - " + counts + ").index_select(0, " + groups + ")");
    const Text rows = steps.add("rows", Text("torch.where(") + place + " < " + width + ", " + groups + " * " + width +
                                            " + " + place + ", " + number + " * " + width + ")");
    const Text zeros = Text("torch.zeros(") + listed(all) + ", dtype=" + dtypeText(result.dtype) + ", device=device)";
    return zeros + ".index_copy(0, " + rows + ", " + messages + ".index_select(0, " + order + ")).narrow(0, 0, " +
           number + " * " + width + ").view(" + listed(shape) + ")";
}

std::vector<std::string> CallWriter::write(Method& method, const ir::Op& op, const Surroundings& around) const
{
    method.comesFrom(comesFrom(op));
    if (const auto simple = shaped(op, around)) return {method.assign(m_names[op.outputs[0]], *simple)};
    if (op.name == "hopscope::select_rank")
        return {method.assign(m_names[op.outputs.at(0)], rankSelected(method, op, around))};
    if (op.name == "hopscope::pad_groups")
        return {method.assign(m_names[op.outputs.at(0)], groupsPadded(method, op, around))};
    if (op.name == "scalar::tensor") {
        const NumberText n = Numbers(m_analysis, around.item).value(op.outputs.at(0), around.global);
        const Text dtype = dtypeText(m_analysis.program.value(op.outputs[0]).dtype);
        return {method.assign(m_names[op.outputs[0]],
                              Text("torch.scalar_tensor(") + n.text + ", dtype=" + dtype + ", device=device)")};
    }
    const Text value = called(op, around);
    if (!op.listOutput && op.outputs.size() == 1) return {method.assign(m_names[op.outputs[0]], value)};
    std::vector<std::string> wanted;
    for (const ir::ValueId v : op.outputs) wanted.push_back(m_names[v]);
    if (wanted.size() > 1) return method.unpack(wanted, value);
    return {method.assign(wanted.at(0), Text("(") + value + ")[0]")};
}

}  // namespace hopscope::exporter
