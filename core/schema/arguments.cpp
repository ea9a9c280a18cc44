#include "schema/arguments.h"

#include <cmath>
#include <map>

#include "base/tensor.h"

namespace hopscope::schema {

namespace {

using base::DType;
using json::Value;

// The number is that of PyTorch.
Value dtypeText(std::int64_t number)
{
    static const std::map<std::int64_t, DType> known{
        {0, DType::UInt8},   {1, DType::Int8},      {2, DType::Int16},   {3, DType::Int32},     {4, DType::Int64},
        {5, DType::Float16}, {6, DType::Float32},   {7, DType::Float64}, {9, DType::Complex64}, {10, DType::Complex128},
        {11, DType::Bool},   {15, DType::BFloat16}, {27, DType::UInt16}, {28, DType::UInt32},   {29, DType::UInt64}};
    const auto found = known.find(number);
    return found == known.end() ? Value(number) : Value(base::dtypeName(found->second));
}

Value nameIn(const std::vector<const char*>& names, std::int64_t number)
{
    const bool known = number >= 0 && number < static_cast<std::int64_t>(names.size());
    return known ? Value(names[static_cast<std::size_t>(number)]) : Value(number);
}

Value integerValue(const std::string& argument, std::int64_t number)
{
    if (argument == "dtype") return dtypeText(number);
    if (argument == "layout") return nameIn({"strided", "sparse_coo", "sparse_csr"}, number);
    if (argument == "memory_format")
        return nameIn({"contiguous", "preserve", "channels_last", "channels_last_3d"}, number);
    return number;
}

Value realValue(double number)
{
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    return number;
}

bool isTensor(const ir::Program& program, const ir::Arg& arg)
{
    return arg.value() != nullptr && program.value(*arg.value()).kind == ir::ValueKind::Tensor;
}

// Nothing for numbers that follow from the inputs.
std::optional<Value> constantValue(const ir::Value& value)
{
    if (value.kind == ir::ValueKind::Tensor || value.origin != ir::Origin::Constant) return std::nullopt;
    if (value.kind == ir::ValueKind::Bool) return Value(value.number != 0);
    if (value.kind == ir::ValueKind::Int) return Value(static_cast<std::int64_t>(value.number));
    return realValue(value.number);
}

std::optional<Value> literal(const ir::Program& program, const std::string& name, const ir::Arg& arg);

std::optional<Value> literalList(const ir::Program& program, const std::string& name, const ir::ArgList& list)
{
    Value items = Value::array();
    for (const ir::Arg& item : list) {
        if (isTensor(program, item)) return std::nullopt;
        const std::optional<Value> known = literal(program, name, item);
        if (!known && item.value() == nullptr) return std::nullopt;
        items.push(known ? *known : Value(ir::valueName(*item.value())));
    }
    return items;
}

std::optional<Value> literal(const ir::Program& program, const std::string& name, const ir::Arg& arg)
{
    if (arg.none()) return Value();
    if (const ir::ValueId* const value = arg.value()) return constantValue(program.value(*value));
    if (const std::int64_t* const number = arg.integer()) return integerValue(name, *number);
    if (const double* const number = std::get_if<double>(&arg.data)) return realValue(*number);
    if (const bool* const truth = std::get_if<bool>(&arg.data)) return Value(*truth);
    if (const std::string* const text = std::get_if<std::string>(&arg.data)) return Value(*text);
    if (const ir::ArgList* const list = arg.list()) return literalList(program, name, *list);
    return std::nullopt;  // the device that computes
}

}  // namespace

std::vector<InspectedArgument> argumentsOf(const ir::Program& program, const ir::Op& op)
{
    std::vector<InspectedArgument> arguments;
    for (std::size_t i = 0; i < op.args.size(); ++i) {
        const std::string name = i < op.argInfo.size() ? op.argInfo[i].name : std::string();
        if (name.empty() || isTensor(program, op.args[i])) continue;
        std::optional<Value> value = literal(program, name, op.args[i]);
        if (value) arguments.push_back({name, std::move(*value)});
    }
    return arguments;
}

}  // namespace hopscope::schema
