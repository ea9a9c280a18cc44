#include "executor/calls/call.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "executor/calls/dense.h"
#include "executor/failure.h"
#include "loader/tensors.h"
#include "operators/operators.h"

namespace hopscope::executor {

namespace {

using c10::IValue;
using c10::TypeKind;

constexpr std::int64_t mostParts = 4;  // up to here LibTorch adds them up one after the other

// Turns one IR argument into a value of the schema's type.
class ArgumentBuilder {
public:
    ArgumentBuilder(const analysis::Analysis& analysis, const NumberEvaluator& numbers, const CallContext& context)
        : m_analysis(analysis),
          m_numbers(numbers),
          m_context(context)
    {}

    IValue build(const ir::Arg& arg, const c10::TypePtr& wanted, ir::Slot slot, bool local) const
    {
        if (wanted->kind() == TypeKind::OptionalType) {
            if (arg.none()) return {};
            return build(arg, wanted->castRaw<c10::OptionalType>()->getElementType(), slot, local);
        }
        if (wanted->kind() == TypeKind::ListType)
            return list(arg, wanted->castRaw<c10::ListType>()->getElementType(), slot, local);
        if (wanted->kind() == TypeKind::TensorType) return tensor(arg, slot);
        return single(arg, wanted, local);
    }

private:
    IValue tensor(const ir::Arg& arg, ir::Slot slot) const
    {
        if (arg.none()) return at::Tensor();
        if (const ir::ValueId* v = arg.value())
            if (m_analysis.program.value(*v).kind == ir::ValueKind::Tensor) return m_context.operand(slot, *v);
        return at::scalar_tensor(number(arg, false).scalar(), numberOptions(arg));
    }

    // A Python number as a tensor does not promote: 0-dim and of the number's own kind.
    at::TensorOptions numberOptions(const ir::Arg& arg) const
    {
        const ir::ValueKind kind = number(arg, false).kind;
        const auto type = kind == ir::ValueKind::Float  ? at::kDouble
                          : kind == ir::ValueKind::Bool ? at::kBool
                                                        : at::kLong;
        return at::TensorOptions().dtype(type).device(m_context.device);
    }

    Number number(const ir::Arg& arg, bool local) const
    {
        if (const ir::ValueId* v = arg.value())
            return m_numbers.evaluate(*v, local ? m_context.localSizes : m_context.globalSizes);
        if (const std::int64_t* i = arg.integer()) return integerNumber(*i);
        if (const double* d = std::get_if<double>(&arg.data)) return realNumber(*d);
        const bool* b = std::get_if<bool>(&arg.data);
        require(b != nullptr, "an argument is not a number");
        return boolNumber(*b);
    }

    IValue list(const ir::Arg& arg, const c10::TypePtr& element, ir::Slot slot, bool local) const
    {
        ir::ArgList single{arg};
        const ir::ArgList& items = arg.list() ? *arg.list() : single;
        if (element->kind() == TypeKind::TensorType) {
            c10::List<at::Tensor> result;
            for (std::size_t i = 0; i < items.size(); ++i) result.push_back(tensor(items[i], at(slot, i)).toTensor());
            return result;
        }
        if (element->kind() == TypeKind::OptionalType) return optionals(items, slot);
        if (element->kind() == TypeKind::FloatType) return reals(items);
        if (element->kind() == TypeKind::BoolType) return bools(items);
        c10::List<std::int64_t> result;
        for (const ir::Arg& item : items) result.push_back(number(item, local).integer);
        return result;
    }

    static ir::Slot at(ir::Slot slot, std::size_t item) { return {slot.arg, static_cast<int>(item)}; }

    IValue optionals(const ir::ArgList& items, ir::Slot slot) const
    {
        c10::List<std::optional<at::Tensor>> result;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (items[i].none()) result.push_back(std::nullopt);
            else result.push_back(tensor(items[i], at(slot, i)).toTensor());
        }
        return result;
    }

    IValue reals(const ir::ArgList& items) const
    {
        c10::List<double> result;
        for (const ir::Arg& item : items) result.push_back(number(item, false).asReal());
        return result;
    }

    IValue bools(const ir::ArgList& items) const
    {
        c10::List<bool> result;
        for (const ir::Arg& item : items) result.push_back(number(item, false).integer != 0);
        return result;
    }

    IValue single(const ir::Arg& arg, const c10::TypePtr& wanted, bool local) const
    {
        if (arg.none()) return {};
        if (std::holds_alternative<ir::DeviceArg>(arg.data)) return m_context.device;
        if (const auto* text = std::get_if<std::string>(&arg.data)) return *text;
        const Number n = number(arg, local);
        switch (wanted->kind()) {
        case TypeKind::FloatType: return n.asReal();
        case TypeKind::BoolType: return n.asReal() != 0;
        case TypeKind::NumberType: return n.value();
        default: return n.kind == ir::ValueKind::Float ? IValue(n.real) : IValue(n.integer);
        }
    }

    const analysis::Analysis& m_analysis;
    const NumberEvaluator& m_numbers;
    const CallContext& m_context;
};

bool isLocal(const ir::Op& op, std::size_t i)
{
    if (i >= op.argInfo.size()) return false;
    return op.argInfo[i].type == ir::ArgType::Int || op.argInfo[i].type == ir::ArgType::IntList;
}

// Some operators return the numbers of another tensor with a flag that they are conjugated or negated, which readers of
// the memory do not check. A result that was not requested is undefined, and a number on the sample.
at::Tensor plain(const at::Tensor& t)
{
    if (!t.defined()) return at::zeros({});
    return t.is_conj() || t.is_neg() ? t.resolve_conj().resolve_neg() : t;
}

std::vector<at::Tensor> results(torch::jit::Stack& stack, const ir::Op& op)
{
    std::vector<at::Tensor> out;
    for (const IValue& v : stack) {
        if (v.isTensorList()) {
            for (const at::Tensor& t : v.toTensorVector()) out.push_back(plain(t));
        } else if (v.isTensor()) {
            out.push_back(plain(v.toTensor()));
        }
    }
    require(out.size() == op.outputs.size(), "an operator returned a different number of tensors than on the sample",
            ir::describeOp(op));
    return out;
}

// Operators that put a part back into a tensor first copy all of the memory that the tensor is a view of, which for a
// batch's rows of a table is the whole table. Such rows are therefore copied beforehand.
at::Tensor onItsOwn(const at::Tensor& t)
{
    return t.has_storage() && t.storage().nbytes() > t.nbytes() ? t.clone(at::MemoryFormat::Contiguous) : t;
}

// The analysis treats a sparse matrix as its coalesced one; the parts of the latter are requested.
at::Tensor coalesced(const at::Tensor& t) { return t.layout() == at::kSparse && !t.is_coalesced() ? t.coalesce() : t; }

at::Tensor onGpuContiguous(const at::Tensor& t) { return t.is_cpu() ? t : t.contiguous(); }

// cuDNN refuses states of recurrent layers that are not contiguous: rows that are all the same, as models begin with, are
// expanded from one.
void layOutStates(const c10::FunctionSchema& schema, torch::jit::Stack& stack)
{
    IValue& states = stack.at(static_cast<std::size_t>(schema.argumentIndexWithName("hx").value()));
    if (states.isTensor()) {
        states = onGpuContiguous(states.toTensor());
        return;
    }
    c10::List<at::Tensor> all;
    for (const at::Tensor& state : states.toTensorVector()) all.push_back(onGpuContiguous(state));
    states = all;
}

void prepare(const ir::Op& op, const c10::FunctionSchema& schema, torch::jit::Stack& stack)
{
    const operators::Operator& known = operators::of(op.name);
    if (known.rule == operators::Rule::Recurrent) layOutStates(schema, stack);
    if (known.rule == operators::Rule::PutBack) stack.at(0) = onItsOwn(stack.at(0).toTensor());
    if (known.traits.ofCoalesced) stack.at(0) = coalesced(stack.at(0).toTensor());
}

std::optional<at::Tensor> denseLayer(const ir::Op& op, const torch::jit::Stack& stack)
{
    const auto arguments = denseArguments(op);
    if (!arguments) return std::nullopt;
    const auto tensor = [&](std::size_t at) { return stack.at(at).isNone() ? at::Tensor() : stack.at(at).toTensor(); };
    const at::Tensor weight = tensor(arguments->weight);
    if (weight.dim() != 2) return std::nullopt;
    return linearByOneDnn(tensor(arguments->input), arguments->transposed ? weight : weight.t(),
                          arguments->bias ? tensor(*arguments->bias) : at::Tensor());
}

// The mean of a few parts of each row, such as the heads of attention: LibTorch's own operator walks rows element by
// element where parts are not a multiple of its vectors. The bits are the same.
std::optional<at::Tensor> meanOfParts(const ir::Op& op, const torch::jit::Stack& stack)
{
    if (op.name != "aten::mean" || stack.size() != 4 || !stack[1].isIntList() || !stack[3].isNone())
        return std::nullopt;
    const at::Tensor x = stack[0].toTensor();
    const std::vector<std::int64_t> dims = stack[1].toIntVector();
    if (!x.is_cpu() || x.scalar_type() != at::kFloat || x.dim() != 3 || dims.size() != 1) return std::nullopt;
    const std::int64_t parts = x.size(1);
    if ((dims[0] != 1 && dims[0] != -2) || parts < 2 || parts > mostParts) return std::nullopt;
    at::Tensor sum = x.select(1, 0).add(x.select(1, 1));
    for (std::int64_t p = 2; p < parts; ++p) sum.add_(x.select(1, p));
    sum.div_(static_cast<double>(parts));
    return stack[2].toBool() ? sum.unsqueeze(1) : sum;
}

}  // namespace

const loader::RegisteredOperator& Caller::registered(const ir::Op& op)
{
    const std::lock_guard lock(m_mutex);
    auto [it, fresh] = m_registered.try_emplace(op.id.index);
    if (!fresh) return it->second;
    it->second = loader::RegisteredOperator::find(op.name, op.overload);
    if (!it->second)
        raise(base::ErrorCode::Unsupported,
              "LibTorch has no operator " + op.name + (op.overload.empty() ? "" : "." + op.overload), {},
              ir::describeOp(op));
    return it->second;
}

torch::jit::Stack Caller::arguments(const ir::Op& op, const c10::FunctionSchema& schema,
                                    const CallContext& context) const
{
    const ArgumentBuilder builder(m_analysis, m_numbers, context);
    torch::jit::Stack stack;
    stack.reserve(op.args.size());
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
        const c10::Argument& wanted = schema.arguments()[i];
        const ir::Arg absent;
        const ir::Arg& arg = i < op.args.size() ? op.args[i] : absent;
        if (arg.none() && wanted.default_value()) stack.push_back(*wanted.default_value());
        else stack.push_back(builder.build(arg, wanted.type(), {static_cast<int>(i), -1}, isLocal(op, i)));
    }
    return stack;
}

std::vector<at::Tensor> Caller::call(const ir::Op& op, const CallContext& context)
{
    try {
        if (auto simple = shaped(op, context)) return {std::move(*simple)};
        const loader::RegisteredOperator& found = registered(op);
        torch::jit::Stack stack = arguments(op, found.schema(), context);
        prepare(op, found.schema(), stack);
        if (auto dense = denseLayer(op, stack)) return {std::move(*dense)};
        if (auto mean = meanOfParts(op, stack)) return {std::move(*mean)};
        found.run(stack);
        return typed(results(stack, op), op);
    } catch (const c10::OutOfMemoryError&) {
        throw;
    } catch (const c10::Error& e) {
        if (auto empty = emptyResults(op, context); !empty.empty()) return empty;
        raise(base::ErrorCode::Internal, std::string("LibTorch reports: ") + e.what_without_backtrace(), {},
              ir::describeOp(op));
    }
}

// Without any numbers to count bincount returns integers, whatever type its weights have.
std::vector<at::Tensor> Caller::typed(std::vector<at::Tensor> results, const ir::Op& op) const
{
    for (std::size_t i = 0; i < results.size(); ++i)
        results[i] = results[i].to(loader::scalarType(m_analysis.program.value(op.outputs[i]).dtype));
    return results;
}

// Some operators, such as quantile, refuse a batch that has no rows of a table.
std::vector<at::Tensor> Caller::emptyResults(const ir::Op& op, const CallContext& context) const
{
    std::vector<at::Tensor> results;
    for (const ir::ValueId out : op.outputs) {
        if (!m_analysis.knownShape(out) || m_analysis.info(out).sparse) return {};
        const auto dtype = loader::scalarType(m_analysis.program.value(out).dtype);
        const auto shape = shapeOf(m_analysis, out, context.localSizes);
        if (std::ranges::find(shape, 0) == shape.end()) return {};
        results.push_back(at::empty(shape, at::TensorOptions().dtype(dtype).device(context.device)));
    }
    return results;
}

std::optional<at::Scalar> Caller::fillValue(const ir::Op& op, const CallContext& context) const
{
    const operators::Operator::Traits& traits = operators::of(op.name).traits;
    if (traits.fill == operators::Fill::Zero) return at::Scalar(0);
    if (traits.fill == operators::Fill::One) return at::Scalar(1);
    if (traits.fill == operators::Fill::None) return std::nullopt;
    const auto position = static_cast<std::size_t>(traits.fillArgument);
    const ir::Arg& arg = op.args.at(position);
    if (const ir::ValueId* v = arg.value()) {
        if (m_analysis.program.value(*v).kind != ir::ValueKind::Tensor)
            return m_numbers.evaluate(*v, context.globalSizes).scalar();
        return context.operand({static_cast<int>(position), -1}, *v).item();
    }
    if (const std::int64_t* i = arg.integer()) return at::Scalar(*i);
    if (const double* d = std::get_if<double>(&arg.data)) return at::Scalar(*d);
    if (const bool* b = std::get_if<bool>(&arg.data)) return at::Scalar(*b);
    return std::nullopt;
}

at::Tensor Caller::addScaled(const ir::Op& op, const at::Tensor& table, const at::Tensor& product) const
{
    const auto factor = [&](const char* name) {
        const ir::Arg* const arg = ir::argument(op, name);
        return arg ? arg->number().value_or(1) : 1;
    };
    return table * factor("beta") + product * factor("alpha");
}

at::Tensor Caller::fill(const ir::Op& op, const at::Scalar& value, const CallContext& context) const
{
    const auto dtype = loader::scalarType(m_analysis.program.value(op.outputs.at(0)).dtype);
    const auto shape = shapeOf(m_analysis, op.outputs.at(0), context.localSizes);
    return at::scalar_tensor(value, at::TensorOptions().dtype(dtype).device(context.device)).expand(shape);
}

std::optional<at::Tensor> Caller::shaped(const ir::Op& op, const CallContext& context) const
{
    if (op.outputs.size() != 1) return std::nullopt;
    const ir::ValueId out = op.outputs[0];
    if (!m_analysis.knownShape(out) || m_analysis.info(out).sparse) return std::nullopt;
    if (const auto value = fillValue(op, context)) return fill(op, *value, context);
    const bool expands = operators::expands(op.name);
    if (!expands && !operators::reshapes(op.name)) return std::nullopt;
    const at::Tensor in = context.operand({0, -1}, *op.args.at(0).value());
    const auto shape = shapeOf(m_analysis, out, context.localSizes);
    return expands ? in.expand(shape) : in.reshape(shape);
}

}  // namespace hopscope::executor
