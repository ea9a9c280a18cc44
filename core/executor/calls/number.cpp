#include "executor/calls/number.h"

#include <cmath>
#include <map>

#include <ATen/ATen.h>

#include "executor/failure.h"

namespace hopscope::executor {

namespace {

using ir::ValueKind;

bool isReal(const Number& n) { return n.kind == ValueKind::Float; }

template <class F>
Number arithmetic(const Number& a, const Number& b, F&& f)
{
    if (isReal(a) || isReal(b)) return realNumber(f(a.asReal(), b.asReal()));
    return integerNumber(f(a.integer, b.integer));
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    if (b == 0) raise(base::ErrorCode::Input, "division by zero in the model's size arithmetic");
    const std::int64_t q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

Number floorDivision(const Number& a, const Number& b)
{
    if (isReal(a) || isReal(b)) return realNumber(std::floor(a.asReal() / b.asReal()));
    return integerNumber(floorDivide(a.integer, b.integer));
}

Number modulo(const Number& a, const Number& b)
{
    if (isReal(a) || isReal(b)) return realNumber(a.asReal() - b.asReal() * std::floor(a.asReal() / b.asReal()));
    return integerNumber(a.integer - b.integer * floorDivide(a.integer, b.integer));
}

Number power(const Number& a, const Number& b)
{
    if (isReal(a) || isReal(b) || b.integer < 0) return realNumber(std::pow(a.asReal(), b.asReal()));
    std::int64_t result = 1;
    for (std::int64_t i = 0; i < b.integer; ++i) result *= a.integer;
    return integerNumber(result);
}

Number truth(bool b) { return boolNumber(b); }
bool isTrue(const Number& n) { return n.asReal() != 0; }
Number rounded(double d) { return integerNumber(static_cast<std::int64_t>(d)); }

Number element(const at::Tensor& t)
{
    if (t.scalar_type() == at::kBool) return boolNumber(t.item<bool>());
    return t.is_floating_point() ? realNumber(t.item<double>()) : integerNumber(t.item<std::int64_t>());
}

using Scalar = Number (*)(const Number&, const Number&);

const std::map<std::string, Scalar>& scalarTable()
{
    using N = const Number&;
    static const std::map<std::string, Scalar> table{
        {"add", [](N a, N b) { return arithmetic(a, b, [](auto x, auto y) { return x + y; }); }},
        {"sub", [](N a, N b) { return arithmetic(a, b, [](auto x, auto y) { return x - y; }); }},
        {"mul", [](N a, N b) { return arithmetic(a, b, [](auto x, auto y) { return x * y; }); }},
        {"min", [](N a, N b) { return arithmetic(a, b, [](auto x, auto y) { return std::min(x, y); }); }},
        {"max", [](N a, N b) { return arithmetic(a, b, [](auto x, auto y) { return std::max(x, y); }); }},
        {"floordiv", [](N a, N b) { return floorDivision(a, b); }},
        {"truediv", [](N a, N b) { return realNumber(a.asReal() / b.asReal()); }},
        {"mod", [](N a, N b) { return modulo(a, b); }},
        {"pow", [](N a, N b) { return power(a, b); }},
        {"neg", [](N a, N) { return isReal(a) ? realNumber(-a.real) : integerNumber(-a.integer); }},
        {"abs", [](N a, N) { return isReal(a) ? realNumber(std::abs(a.real)) : integerNumber(std::abs(a.integer)); }},
        {"sqrt", [](N a, N) { return realNumber(std::sqrt(a.asReal())); }},
        {"log", [](N a, N) { return realNumber(std::log(a.asReal())); }},
        {"exp", [](N a, N) { return realNumber(std::exp(a.asReal())); }},
        {"ceil", [](N a, N) { return rounded(std::ceil(a.asReal())); }},
        {"floor", [](N a, N) { return rounded(std::floor(a.asReal())); }},
        {"round", [](N a, N) { return rounded(std::nearbyint(a.asReal())); }},
        {"int", [](N a, N) { return rounded(std::trunc(a.asReal())); }},
        {"float", [](N a, N) { return realNumber(a.asReal()); }},
        {"bool", [](N a, N) { return truth(isTrue(a)); }},
        {"eq", [](N a, N b) { return truth(a.asReal() == b.asReal()); }},
        {"ne", [](N a, N b) { return truth(a.asReal() != b.asReal()); }},
        {"lt", [](N a, N b) { return truth(a.asReal() < b.asReal()); }},
        {"le", [](N a, N b) { return truth(a.asReal() <= b.asReal()); }},
        {"gt", [](N a, N b) { return truth(a.asReal() > b.asReal()); }},
        {"ge", [](N a, N b) { return truth(a.asReal() >= b.asReal()); }},
        {"and", [](N a, N b) { return isTrue(a) ? b : a; }},
        {"or", [](N a, N b) { return isTrue(a) ? a : b; }},
        {"not", [](N a, N) { return truth(!isTrue(a)); }},
    };
    return table;
}

}  // namespace

at::Tensor tensorOf(const Number& number)
{
    const bool real = number.kind == ValueKind::Float;
    const at::ScalarType type = real ? at::kDouble : number.kind == ValueKind::Bool ? at::kBool : at::kLong;
    return at::scalar_tensor(number.scalar(), at::TensorOptions(type));
}

Number integerNumber(std::int64_t i) { return {.kind = ValueKind::Int, .integer = i, .real = 0}; }
Number realNumber(double d) { return {.kind = ValueKind::Float, .integer = 0, .real = d}; }
Number boolNumber(bool b) { return {.kind = ValueKind::Bool, .integer = b ? 1 : 0, .real = 0}; }

c10::IValue Number::value() const
{
    if (kind == ValueKind::Float) return real;
    return kind == ValueKind::Bool ? c10::IValue(integer != 0) : c10::IValue(integer);
}

at::Scalar Number::scalar() const { return value().toScalar(); }

Number applyScalar(const std::string& name, const Number& a, const Number& b)
{
    const auto it = scalarTable().find(name);
    if (it == scalarTable().end()) raise(base::ErrorCode::Internal, "scalar operator " + name + " is unknown");
    return it->second(a, b);
}

Number NumberEvaluator::evaluate(ir::ValueId id, const SizeOf& sizes) const
{
    const ir::Value& value = m_analysis.program.value(id);
    const auto& size = m_analysis.info(id).size;
    if (size && (value.kind == ValueKind::Int || (value.kind == ValueKind::Tensor && base::isIntegral(value.dtype))))
        return integerNumber(evaluate(*size, sizes));
    return direct(id, sizes);
}

// Not through the linear form, which is for integers and may name the value itself as an atom.
Number NumberEvaluator::direct(ir::ValueId id, const SizeOf& sizes) const
{
    const ir::Value& value = m_analysis.program.value(id);
    if (value.origin == ir::Origin::Op) return fromOp(m_analysis.program.op(value.producer), sizes);
    if (value.origin == ir::Origin::Input || value.kind == ValueKind::Tensor) return element(m_item(id));
    if (value.kind == ValueKind::Float) return realNumber(value.number);
    if (value.kind == ValueKind::Bool) return boolNumber(value.number != 0);
    return integerNumber(static_cast<std::int64_t>(value.number));
}

std::int64_t NumberEvaluator::evaluate(const analysis::Linear& linear, const SizeOf& sizes) const
{
    std::int64_t sum = linear.constant;
    for (const auto& [space, factor] : linear.sizes) sum += factor * sizes(space);
    for (const auto& [atom, factor] : linear.atoms) sum += factor * direct(atom, sizes).integer;
    return sum;
}

Number NumberEvaluator::argument(const ir::Arg& arg, const SizeOf& sizes) const
{
    if (const ir::ValueId* v = arg.value()) return evaluate(*v, sizes);
    if (const std::int64_t* i = arg.integer()) return integerNumber(*i);
    if (const double* d = std::get_if<double>(&arg.data)) return realNumber(*d);
    if (const bool* b = std::get_if<bool>(&arg.data)) return boolNumber(*b);
    return integerNumber(0);
}

Number NumberEvaluator::dimension(ir::ValueId tensor, std::int64_t dim, const SizeOf& sizes) const
{
    const ir::SpaceId rows = m_analysis.rowSpace(tensor);
    const bool unknown = rows.valid() && m_analysis.tables.space(rows).kind == analysis::SpaceKind::Opaque;
    if (unknown) return integerNumber(m_item(tensor).size(dim));  // of the prologue: only its numbers tell
    const auto shape = shapeOf(m_analysis, tensor, sizes);
    const auto rank = static_cast<std::int64_t>(shape.size());
    return integerNumber(shape.at(static_cast<std::size_t>(dim < 0 ? dim + rank : dim)));
}

Number NumberEvaluator::fromOp(const ir::Op& op, const SizeOf& sizes) const
{
    const std::string name = op.name.substr(op.name.find("::") + 2);
    if (!ir::isScalarOp(op)) return element(m_item(op.outputs.at(0)));
    if (name == "size") return dimension(*op.args.at(0).value(), *op.args.at(1).integer(), sizes);
    if (name == "numel") {
        std::int64_t product = 1;
        for (std::int64_t n : shapeOf(m_analysis, *op.args.at(0).value(), sizes)) product *= n;
        return integerNumber(product);
    }
    if (name == "tensor") return argument(op.args.at(0), sizes);
    if (name == "item") {
        const ir::ValueId v = *op.args.at(0).value();
        return m_analysis.info(v).size ? evaluate(v, sizes) : element(m_item(v));
    }
    const Number a = argument(op.args.at(0), sizes);
    return applyScalar(name, a, op.args.size() > 1 ? argument(op.args[1], sizes) : Number{});
}

std::vector<std::int64_t> shapeOf(const analysis::Analysis& analysis, ir::ValueId value, const SizeOf& sizes)
{
    std::vector<std::int64_t> shape = analysis.program.value(value).shape;
    const auto& dims = analysis.info(value).dims;
    for (std::size_t i = 0; i < dims.size() && i < shape.size(); ++i)
        if (dims[i].valid()) shape[i] = sizes(dims[i]);
    return shape;
}

std::int64_t wholeBytes(const analysis::Analysis& analysis, ir::ValueId value, const SizeOf& sizes)
{
    auto bytes = static_cast<std::int64_t>(base::itemSize(analysis.program.value(value).dtype));
    for (const std::int64_t n : shapeOf(analysis, value, sizes)) bytes *= n;
    return bytes;
}

std::int64_t rowBytes(const analysis::Analysis& analysis, ir::ValueId value, const SizeOf& sizes)
{
    const int rowDim = analysis.rowDim(value);
    auto bytes = static_cast<std::int64_t>(base::itemSize(analysis.program.value(value).dtype));
    const std::vector<std::int64_t> shape = shapeOf(analysis, value, sizes);
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (static_cast<int>(d) != rowDim) bytes *= shape[d];
    return bytes;
}

}  // namespace hopscope::executor
