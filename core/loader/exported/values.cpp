#include "loader/exported/values.h"

#include <set>

#include "loader/exported/weights.h"

namespace hopscope::loader::exported {

namespace {

using base::ErrorCode;
using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

TypePtr withoutOptional(const TypePtr& type)
{
    return type->kind() == TypeKind::OptionalType ? type->expectRef<c10::OptionalType>().getElementType() : type;
}

template <class T>
c10::List<T> listOf(const json::Reader& list)
{
    c10::List<T> out;
    for (const json::Reader& item : items(list)) {
        if constexpr (std::is_same_v<T, double>) out.push_back(real(item));
        else out.push_back(item.as<T>());
        check(item);
    }
    return out;
}

c10::Device deviceOf(const json::Reader& device)
{
    const std::string type = text(device, "type");
    return c10::Device(device.has("index") ? type + ":" + std::to_string(number(device, "index")) : type);
}

c10::complex<double> complexOf(const json::Reader& value)
{
    return {real(child(value, "real")), real(child(value, "imag"))};
}

// Lists whose elements may be values: "as_sym_ints" has numbers and names of numbers.
bool isMixedList(const std::string& kind)
{
    static const std::set<std::string> kinds{"as_tensors", "as_optional_tensors", "as_sym_ints", "as_sym_floats",
                                             "as_sym_bools"};
    return kinds.contains(kind);
}

TypePtr elementOf(const std::string& kind)
{
    if (kind == "as_sym_ints") return c10::IntType::get();
    if (kind == "as_sym_floats") return c10::FloatType::get();
    if (kind == "as_sym_bools") return c10::BoolType::get();
    return kind == "as_tensors" ? TypePtr(c10::TensorType::get()) : c10::OptionalType::ofTensor();
}

}  // namespace

void Place::refuse(const std::string& message, const std::string& hint, ErrorCode code) const
{
    const std::string in = node.empty() ? "" : " (node " + node + ")";
    exported::refuse(code, file + ": " + message + in, hint, node.empty() ? file : ir::describeOp(op));
}

void Place::damaged(const std::string& message) const
{
    refuse(message, "the file is damaged, or was written by an unsupported version of PyTorch", ErrorCode::Input);
}

void Values::define(const std::string& name, Value* value)
{
    if (!m_values.emplace(name, value).second) m_place.damaged("the value '" + name + "' is computed twice");
}

torch::jit::Value* Values::named(const std::string& name) const
{
    const auto it = m_values.find(name);
    if (it == m_values.end()) m_place.damaged("the value '" + name + "' is used but never computed");
    if (it->second == nullptr)
        m_place.refuse("the statistic '" + name + "', which is made for the backward pass, is not supported",
                       "return the result of the layer alone, or export without run_decompositions()");
    return it->second;
}

torch::jit::Value* Values::argument(const json::Reader& argument, const c10::Argument& expected)
{
    const Union given = unionOf(argument);
    const TypePtr type = withoutOptional(expected.type());
    const bool toList = type->kind() == TypeKind::ListType;
    if (isMixedList(given.kind)) {
        const bool tensors = given.kind == "as_tensors" && toList;
        return list(given, tensors ? type->expectRef<c10::ListType>().getElementType() : elementOf(given.kind));
    }
    if (const auto value = literal(given)) return constant(fitting(*value, expected));
    Value* const value = plain(given);
    const bool single = toList && value->type()->kind() == TypeKind::IntType;
    if (!single) return value;
    const std::vector<Value*> repeated(static_cast<std::size_t>(expected.N().value_or(1)), value);
    return m_graph.insertNode(m_graph.createList(c10::IntType::get(), repeated))->output();
}

torch::jit::Value* Values::argument(const json::Reader& argument)
{
    const Union given = unionOf(argument);
    if (isMixedList(given.kind)) return list(given, elementOf(given.kind));
    if (const auto value = literal(given)) return constant(*value);
    return plain(given);
}

torch::jit::Value* Values::list(const Union& given, const TypePtr& element)
{
    std::vector<Value*> values;
    const bool tensors = given.kind == "as_tensors";
    for (const json::Reader& item : items(given.value))
        values.push_back(tensors ? named(text(item, "name")) : this->element(item));
    return m_graph.insertNode(m_graph.createList(element, values))->output();
}

torch::jit::Value* Values::element(const json::Reader& item)
{
    const Union given = unionOf(item);
    if (given.kind == "as_name") {
        const auto name = given.value.as<std::string>();
        check(given.value);
        return named(name);
    }
    if (const auto value = literal(given)) return constant(*value);
    return plain(given);
}

torch::jit::Value* Values::plain(const Union& given)
{
    if (given.kind == "as_tensor") return named(text(given.value, "name"));
    static const std::set<std::string> nested{"as_sym_int", "as_sym_float", "as_sym_bool", "as_optional_tensor"};
    if (nested.contains(given.kind)) return element(given.value);
    m_place.refuse("arguments of the kind " + given.kind + " are not supported",
                   "write this line with tensors and numbers alone");
}

std::optional<IValue> Values::literal(const Union& given)
{
    using Reader = json::Reader;
    using Read = IValue (*)(const Reader&);
    static const std::unordered_map<std::string, Read> kinds = {
        {"as_none", [](const Reader&) { return IValue(); }},
        {"as_int", [](const Reader& r) { return IValue(r.as<std::int64_t>()); }},
        {"as_ints", [](const Reader& r) { return IValue(listOf<std::int64_t>(r)); }},
        {"as_float", [](const Reader& r) { return IValue(real(r)); }},
        {"as_floats", [](const Reader& r) { return IValue(listOf<double>(r)); }},
        {"as_bool", [](const Reader& r) { return IValue(r.as<bool>()); }},
        {"as_bools", [](const Reader& r) { return IValue(listOf<bool>(r)); }},
        {"as_string", [](const Reader& r) { return IValue(r.as<std::string>()); }},
        {"as_strings", [](const Reader& r) { return IValue(listOf<std::string>(r)); }},
        {"as_complex", [](const Reader& r) { return IValue(complexOf(r)); }},
        {"as_device", [](const Reader& r) { return IValue(deviceOf(r)); }},
        {"as_scalar_type", [](const Reader& r) { return IValue(static_cast<std::int64_t>(scalarTypeOf(r))); }},
        {"as_layout", [](const Reader& r) { return IValue(static_cast<std::int64_t>(layoutOf(r))); }},
        {"as_memory_format", [](const Reader& r) { return IValue(static_cast<std::int64_t>(memoryFormatOf(r))); }},
    };
    const auto kind = kinds.find(given.kind);
    if (kind == kinds.end()) return std::nullopt;
    IValue value = kind->second(given.value);
    check(given.value);
    return value;
}

// Python passes an int where an operator takes a float, a bool or a list, and a bool as the number that fills a tensor.
IValue Values::fitting(IValue value, const c10::Argument& expected) const
{
    const TypePtr type = withoutOptional(expected.type());
    if (value.isInt() && type->kind() == TypeKind::BoolType) return value.toInt() != 0;
    if (value.isInt() && type->kind() == TypeKind::FloatType) return static_cast<double>(value.toInt());
    const bool fills = expected.name() == "fill_value" || expected.name() == "value";
    if (value.isBool() && fills && type->kind() == TypeKind::NumberType) return std::int64_t{value.toBool()};
    if (type->kind() != TypeKind::ListType || !(value.isInt() || value.isDouble())) return value;
    const auto count = static_cast<std::size_t>(expected.N().value_or(1));
    const bool whole = type->expectRef<c10::ListType>().getElementType()->kind() == TypeKind::IntType;
    if (whole && value.isInt()) return c10::List<std::int64_t>(std::vector<std::int64_t>(count, value.toInt()));
    return c10::List<double>(std::vector<double>(count, value.toScalar().toDouble()));
}

}  // namespace hopscope::loader::exported
