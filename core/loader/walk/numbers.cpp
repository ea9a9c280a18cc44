#include "loader/walk/numbers.h"

#include <optional>
#include <string_view>

namespace hopscope::loader {

namespace {

using c10::IValue;

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

}  // namespace

void Numbers::guard(const Item& number)
{
    if (!m_recorder.fromInput(number)) return;
    const IValue& v = number.concrete;
    const double taken = v.isBool() ? v.toBool() : v.isInt() ? static_cast<double>(v.toInt()) : v.toDouble();
    m_recorder.guard(
        {.condition = number.value, .taken = taken, .modules = m_location.modules(), .source = m_location.source()});
}

std::int64_t Numbers::fixedInt(const Item& number)
{
    guard(number);
    return number.concrete.toInt();
}

bool Numbers::fixedBool(const Item& number)
{
    guard(number);
    return number.concrete.toBool();
}

Item Numbers::scalar(const char* name, const std::vector<Item>& args, const IValue& result)
{
    if (!m_recorder.fromInput(boxed(c10::NoneType::get(), args))) return Item(result);
    ir::Op op = m_location.newOp(name, "");
    for (const Item& arg : args) {
        op.args.push_back(m_calls.toArg(arg));
        op.argInfo.push_back({"", arg.isTensor() ? ir::ArgType::Tensor : ir::ArgType::Number});
    }
    return {result, m_recorder.append(std::move(op), {result})[0]};
}

Item Numbers::arithmetic(const char* name, const Item& a, const Item& b)
{
    const IValue &x = a.concrete, &y = b.concrete;
    if (!x.isScalar() || !y.isScalar()) m_location.refuse("arithmetic on an object that is not a number");
    const auto result =
        whole(x) && whole(y) ? compute(name, wholeOf(x), wholeOf(y)) : compute(name, realOf(x), realOf(y));
    return scalar(name, {a, b}, *result);
}

Item Numbers::sizeOf(const Item& tensor, std::int64_t dim)
{
    const at::Tensor& concrete = tensor.concrete.toTensor();
    if (dim < 0) dim += concrete.dim();
    if (dim < 0 || dim >= concrete.dim()) m_location.refuse("forward fails on the sample: size of a missing dimension");
    const IValue size(concrete.size(dim));
    if (!m_recorder.shapeFromInput(tensor.value)) return Item(size);
    if (const Item* given = m_sparse.size(tensor.value, dim)) return *given;
    const auto [it, isNew] = m_sizes.try_emplace({tensor.value, dim});
    if (isNew) it->second = scalar("scalar::size", {tensor, Item(IValue(dim))}, size);
    return it->second;
}

Item Numbers::elementOf(const Item& tensor, const IValue& result)
{
    const auto known = m_madeFrom.find(tensor.value);
    const bool fresh = known != m_madeFrom.end() && !m_recorder.written(tensor.concrete.toTensor());
    if (!fresh) return scalar("scalar::item", {tensor}, result);
    const Item& number = known->second;
    if (number.concrete.tagKind() == result.tagKind()) return number;
    const char* name = result.isInt() ? "scalar::int" : result.isBool() ? "scalar::bool" : "scalar::float";
    return scalar(name, {number}, result);
}

Item Numbers::tensorOf(const Item& number, const at::Tensor& result)
{
    ir::Op op = m_location.newOp("scalar::tensor", "");
    op.args = {m_calls.toArg(number), ir::Arg{static_cast<std::int64_t>(result.scalar_type())}};
    op.argInfo = {{"number", ir::ArgType::Number}, {"dtype", ir::ArgType::Other}};
    const Item out(result, m_recorder.append(std::move(op), {result})[0]);
    const bool sameKind =
        number.concrete.isInt() ? result.scalar_type() == at::kLong : result.scalar_type() == at::kDouble;
    if (sameKind && !number.concrete.isBool()) m_madeFrom[out.value] = number;
    return out;
}

}  // namespace hopscope::loader
