#pragma once

// The reference for everything that transforms programs: runs an ir::Program operator by operator with LibTorch, exactly
// as written (in-place operators write, views alias), on any inputs. Slow and simple on purpose.

#include <torch/csrc/jit/runtime/operator.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "loader/torch_model.h"

namespace hopscope::test {

class Interpreter {
public:
    Interpreter(const ir::Program& program, const loader::Walk::Tensors& tensors)
        : m_program(program),
          m_tensors(tensors)
    {}

    // The outputs by name. Numbers come back as 0-dim tensors. Throws what LibTorch throws.
    std::map<std::string, at::Tensor> run(const base::TensorMap& inputs)
    {
        const at::NoGradGuard noGrad;
        m_values.assign(m_program.values.size(), {});
        for (const ir::Value& value : m_program.values) m_values[value.id.at()] = initial(value, inputs);
        for (const ir::Op& op : m_program.ops) step(op);
        std::map<std::string, at::Tensor> out;
        for (const ir::NamedValue& output : m_program.outputs) out[output.name] = asTensor(m_values[output.value.at()]);
        return out;
    }

    // Guards that come out otherwise than on the sample, after run().
    [[nodiscard]] int brokenGuards() const
    {
        int broken = 0;
        for (const ir::Guard& guard : m_program.guards) broken += number(m_values[guard.condition.at()]) != guard.taken;
        return broken;
    }

    [[nodiscard]] const c10::IValue& value(ir::ValueId id) const { return m_values[id.at()]; }

private:
    using IValue = c10::IValue;

    static double number(const IValue& v)
    {
        if (v.isBool()) return v.toBool();
        return v.isInt() ? static_cast<double>(v.toInt()) : v.toDouble();
    }

    static at::Tensor asTensor(const IValue& v)
    {
        return v.isTensor() ? v.toTensor() : at::scalar_tensor(v.toScalar(), loader::scalarOptions(v));
    }

    static IValue ofKind(ir::ValueKind kind, double v)
    {
        if (kind == ir::ValueKind::Int) return static_cast<std::int64_t>(v);
        if (kind == ir::ValueKind::Bool) return v != 0;
        return v;
    }

    // "x" is a key; "adj.coo_size.1" is element 1 of the key "adj.coo_size".
    static at::Tensor find(const std::string& name, const base::TensorMap& inputs)
    {
        if (const auto it = inputs.find(name); it != inputs.end()) return loader::toTensor(it->second);
        const std::size_t dot = name.rfind('.');
        const auto it = dot == std::string::npos ? inputs.end() : inputs.find(name.substr(0, dot));
        if (it == inputs.end()) throw std::runtime_error("no input " + name);
        return loader::toTensor(it->second)[std::stoll(name.substr(dot + 1))];
    }

    IValue initial(const ir::Value& value, const base::TensorMap& inputs) const
    {
        if (value.origin == ir::Origin::Op) return {};
        if (value.origin == ir::Origin::Input) {
            const at::Tensor given = find(value.name, inputs);
            return value.kind == ir::ValueKind::Tensor ? IValue(given.clone())
                                                       : ofKind(value.kind, given.item().toDouble());
        }
        if (value.kind != ir::ValueKind::Tensor) return ofKind(value.kind, value.number);
        return m_tensors.byValue.at(value.id.index).clone();
    }

    static IValue list(const std::vector<IValue>& items, const c10::TypePtr& type)
    {
        c10::impl::GenericList out(type->expectRef<c10::ListType>().getElementType());
        for (const IValue& item : items) out.push_back(item);
        return out;
    }

    IValue fromArg(const ir::Arg& arg, const c10::TypePtr& type) const
    {
        const auto optional = type->cast<c10::OptionalType>();
        const c10::TypePtr inner = optional ? optional->getElementType() : type;
        if (const auto* v = arg.value()) return m_values[v->at()];
        if (const auto* l = arg.list()) {
            std::vector<IValue> items;
            const auto listType = inner->cast<c10::ListType>();
            for (const ir::Arg& item : *l) items.push_back(fromArg(item, listType->getElementType()));
            return list(items, inner);
        }
        if (const auto* i = arg.integer()) return *i;
        if (const auto* d = std::get_if<double>(&arg.data)) return *d;
        if (const auto* b = std::get_if<bool>(&arg.data)) return *b;
        if (const auto* s = std::get_if<std::string>(&arg.data)) return *s;
        if (std::holds_alternative<ir::DeviceArg>(arg.data)) return c10::Device(c10::kCPU);
        return {};
    }

    void step(const ir::Op& op)
    {
        if (ir::isScalarOp(op)) {
            m_values[op.outputs.at(0).at()] = scalarOp(op);
            return;
        }
        const auto found = torch::jit::findOperatorFor({op.name, op.overload});
        if (!found) throw std::runtime_error("no operator " + op.name + "." + op.overload);
        torch::jit::Stack stack;
        for (std::size_t i = 0; i < op.args.size(); ++i)
            stack.push_back(fromArg(op.args[i], found->schema().arguments()[i].type()));
        found->getOperation()(stack);
        if (op.listOutput) {
            const auto tensors = stack.at(0).toTensorVector();
            stack.assign(tensors.begin(), tensors.end());
        }
        if (stack.size() != op.outputs.size()) throw std::runtime_error("results of " + op.name);
        for (std::size_t i = 0; i < stack.size(); ++i) m_values[op.outputs[i].at()] = stack[i];
    }

    IValue scalarOp(const ir::Op& op) const
    {
        const std::string name = op.name.substr(8);
        const auto arg = [&](std::size_t i) { return fromArg(op.args.at(i), c10::AnyType::get()); };
        if (name == "size") return arg(0).toTensor().size(arg(1).toInt());
        if (name == "numel") return arg(0).toTensor().numel();
        if (name == "item") return ofKind(m_program.value(op.outputs[0]).kind, arg(0).toTensor().item().toDouble());
        if (name == "tensor")
            return at::scalar_tensor(arg(0).toScalar(), at::TensorOptions(static_cast<at::ScalarType>(arg(1).toInt())));
        const double a = number(arg(0)), b = op.args.size() > 1 ? number(arg(1)) : 0;
        return ofKind(m_program.value(op.outputs[0]).kind, arithmetic(name, a, b));
    }

    static double arithmetic(const std::string& name, double a, double b)
    {
        static const std::map<std::string, double (*)(double, double)> table = {
            {"add", [](double x, double y) { return x + y; }},
            {"sub", [](double x, double y) { return x - y; }},
            {"mul", [](double x, double y) { return x * y; }},
            {"truediv", [](double x, double y) { return x / y; }},
            {"floordiv", [](double x, double y) { return std::floor(x / y); }},
            {"mod", [](double x, double y) { return x - y * std::floor(x / y); }},
            {"pow", [](double x, double y) { return std::pow(x, y); }},
            {"neg", [](double x, double) { return -x; }},
            {"min", [](double x, double y) { return std::min(x, y); }},
            {"max", [](double x, double y) { return std::max(x, y); }},
            {"abs", [](double x, double) { return std::abs(x); }},
            {"sqrt", [](double x, double) { return std::sqrt(x); }},
            {"log", [](double x, double) { return std::log(x); }},
            {"exp", [](double x, double) { return std::exp(x); }},
            {"ceil", [](double x, double) { return std::ceil(x); }},
            {"floor", [](double x, double) { return std::floor(x); }},
            {"round", [](double x, double) { return std::nearbyint(x); }},
            {"int", [](double x, double) { return std::trunc(x); }},
            {"float", [](double x, double) { return x; }},
            {"bool", [](double x, double) { return double(x != 0); }},
            {"eq", [](double x, double y) { return double(x == y); }},
            {"ne", [](double x, double y) { return double(x != y); }},
            {"lt", [](double x, double y) { return double(x < y); }},
            {"le", [](double x, double y) { return double(x <= y); }},
            {"gt", [](double x, double y) { return double(x > y); }},
            {"ge", [](double x, double y) { return double(x >= y); }},
            {"and", [](double x, double y) { return double(x != 0 && y != 0); }},
            {"or", [](double x, double y) { return double(x != 0 || y != 0); }},
            {"not", [](double x, double) { return double(x == 0); }},
        };
        const auto it = table.find(name);
        if (it == table.end()) throw std::runtime_error("no scalar operator " + name);
        return it->second(a, b);
    }

    const ir::Program& m_program;
    const loader::Walk::Tensors& m_tensors;
    std::vector<IValue> m_values;
};

}  // namespace hopscope::test
