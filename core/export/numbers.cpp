#include "export/numbers.h"

#include <array>
#include <map>
#include <optional>

#include "executor/failure.h"

namespace hopscope::exporter {

using ir::ValueKind;

NumberText integerText(std::int64_t number) { return {ValueKind::Int, std::to_string(number)}; }
NumberText realNumberText(double number) { return {ValueKind::Float, realText(number)}; }
NumberText boolText(bool truth) { return {ValueKind::Bool, truth ? "True" : "False"}; }

namespace {

bool real(const NumberText& n) { return n.kind == ValueKind::Float; }

ValueKind wider(const NumberText& a, const NumberText& b)
{
    return real(a) || real(b) ? ValueKind::Float : ValueKind::Int;
}

NumberText infix(const NumberText& a, const char* sign, const NumberText& b, ValueKind kind)
{
    return {kind, Text("(") + a.text + " " + sign + " " + b.text + ")"};
}

// TorchScript has the functions of Python's math module under the names of operators.
NumberText applied(const char* function, const NumberText& a, ValueKind kind)
{
    const Text argument = real(a) ? a.text : Text("float(") + a.text + ")";
    const Text name{std::string("math.") + function, std::string("torch.") + function};
    return {kind, name + "(" + argument + ")"};
}

NumberText converted(const char* type, const NumberText& a, ValueKind kind)
{
    return a.kind == kind ? a : NumberText{kind, Text(type) + "(" + a.text + ")"};
}

struct Sign {
    const char* name;
    const char* sign;
    std::optional<ValueKind> kind;  // none: Float if an operand is
};

constexpr std::array<Sign, 14> signs{{{"add", "+", {}},
                                      {"sub", "-", {}},
                                      {"mul", "*", {}},
                                      {"floordiv", "//", {}},
                                      {"mod", "%", {}},
                                      {"truediv", "/", ValueKind::Float},
                                      {"eq", "==", ValueKind::Bool},
                                      {"ne", "!=", ValueKind::Bool},
                                      {"lt", "<", ValueKind::Bool},
                                      {"le", "<=", ValueKind::Bool},
                                      {"gt", ">", ValueKind::Bool},
                                      {"ge", ">=", ValueKind::Bool},
                                      {"and", "and", ValueKind::Bool},
                                      {"or", "or", ValueKind::Bool}}};

NumberText binary(const std::string& name, const NumberText& a, const NumberText& b)
{
    for (const Sign& s : signs)
        if (name == s.name) return infix(a, s.sign, b, s.kind.value_or(wider(a, b)));
    if (name == "pow") return infix(converted("float", a, ValueKind::Float), "**", b, ValueKind::Float);
    if (name == "min" || name == "max") return {wider(a, b), Text(name) + "(" + a.text + ", " + b.text + ")"};
    executor::raise(base::ErrorCode::Unsupported, "export does not support the arithmetic " + name + " on numbers");
}

NumberText unary(const std::string& name, const NumberText& a)
{
    if (name == "neg") return {real(a) ? ValueKind::Float : ValueKind::Int, Text("(-") + a.text + ")"};
    if (name == "abs") return {real(a) ? ValueKind::Float : ValueKind::Int, Text("abs(") + a.text + ")"};
    if (name == "int") return converted("int", a, ValueKind::Int);
    if (name == "float") return converted("float", a, ValueKind::Float);
    if (name == "bool") return converted("bool", a, ValueKind::Bool);
    if (name == "not") return {ValueKind::Bool, Text("(not ") + a.text + ")"};
    if (name == "round") return {ValueKind::Int, Text("int(round(") + a.text + "))"};
    if (name == "ceil" || name == "floor") return applied(name.c_str(), a, ValueKind::Int);
    if (name == "sqrt" || name == "log" || name == "exp") return applied(name.c_str(), a, ValueKind::Float);
    executor::raise(base::ErrorCode::Unsupported, "export does not support the function " + name + " of a number");
}

}  // namespace

NumberText computed(const std::string& name, const std::vector<NumberText>& operands)
{
    return operands.size() > 1 ? binary(name, operands[0], operands[1]) : unary(name, operands.at(0));
}

NumberText Numbers::element(ir::ValueId id) const
{
    const base::DType dtype = m_analysis.program.value(id).dtype;
    const ValueKind own = m_analysis.program.value(id).kind;
    const bool truth = own == ValueKind::Tensor ? dtype == base::DType::Bool : own == ValueKind::Bool;
    const bool floating = own == ValueKind::Tensor ? base::isFloating(dtype) : own == ValueKind::Float;
    const char* const type = truth ? "bool" : floating ? "float" : "int";
    const ValueKind kind = truth ? ValueKind::Bool : floating ? ValueKind::Float : ValueKind::Int;
    return {kind, Text(type) + "(" + m_item(id) + ")"};
}

NumberText Numbers::value(ir::ValueId id, const SizeText& sizes) const
{
    const ir::Value& value = m_analysis.program.value(id);
    const auto& size = m_analysis.info(id).size;
    if (size && (value.kind == ValueKind::Int || (value.kind == ValueKind::Tensor && base::isIntegral(value.dtype))))
        return linear(*size, sizes);
    return direct(id, sizes);
}

NumberText Numbers::direct(ir::ValueId id, const SizeText& sizes) const
{
    const ir::Value& value = m_analysis.program.value(id);
    if (value.origin == ir::Origin::Op) return fromOp(m_analysis.program.op(value.producer), sizes);
    if (value.origin == ir::Origin::Input || value.kind == ValueKind::Tensor) return element(id);
    if (value.kind == ValueKind::Float) return realNumberText(value.number);
    if (value.kind == ValueKind::Bool) return boolText(value.number != 0);
    return integerText(static_cast<std::int64_t>(value.number));
}

NumberText Numbers::linear(const analysis::Linear& linear, const SizeText& sizes) const
{
    Text sum;
    const auto add = [&sum](const Text& term, std::int64_t factor) {
        if (!sum.python.empty()) sum += " + ";
        sum += factor == 1 ? term : Text(std::to_string(factor) + " * ") + term;
    };
    for (const auto& [space, factor] : linear.sizes) add(sizes(space), factor);
    for (const auto& [atom, factor] : linear.atoms)
        add(converted("int", direct(atom, sizes), ValueKind::Int).text, factor);
    const bool several = linear.sizes.size() + linear.atoms.size() + (linear.constant != 0 ? 1 : 0) > 1;
    if (linear.constant != 0 || sum.python.empty()) add(std::to_string(linear.constant), 1);
    return {ValueKind::Int, several ? Text("(") + sum + ")" : sum};
}

NumberText Numbers::argument(const ir::Arg& arg, const SizeText& sizes) const
{
    if (const ir::ValueId* v = arg.value()) return value(*v, sizes);
    if (const std::int64_t* i = arg.integer()) return integerText(*i);
    if (const double* d = std::get_if<double>(&arg.data)) return realNumberText(*d);
    if (const bool* b = std::get_if<bool>(&arg.data)) return boolText(*b);
    return integerText(0);
}

NumberText Numbers::fromOp(const ir::Op& op, const SizeText& sizes) const
{
    const std::string name = op.name.substr(op.name.find("::") + 2);
    if (!ir::isScalarOp(op)) return element(op.outputs.at(0));
    if (name == "size") {
        const std::vector<Text> all = shape(*op.args.at(0).value(), sizes);
        const std::int64_t dim = *op.args.at(1).integer();
        return {ValueKind::Int,
                all.at(static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(all.size()) : dim))};
    }
    if (name == "numel") {
        Text product = "(1";
        for (const Text& n : shape(*op.args.at(0).value(), sizes)) product += Text(" * ") + n;
        return {ValueKind::Int, product + ")"};
    }
    if (name == "tensor") return argument(op.args.at(0), sizes);
    if (name == "item") {
        const ir::ValueId v = *op.args.at(0).value();
        return m_analysis.info(v).size ? value(v, sizes) : element(v);
    }
    std::vector<NumberText> operands{argument(op.args.at(0), sizes)};
    if (op.args.size() > 1) operands.push_back(argument(op.args[1], sizes));
    return computed(name, operands);
}

std::vector<Text> Numbers::shape(ir::ValueId value, const SizeText& sizes) const
{
    std::vector<Text> texts;
    const auto& dims = m_analysis.info(value).dims;
    const auto& shape = m_analysis.program.value(value).shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
        texts.push_back(d < dims.size() && dims[d].valid() ? sizes(dims[d]) : Text(std::to_string(shape[d])));
    return texts;
}

}  // namespace hopscope::exporter
