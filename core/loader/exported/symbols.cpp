#include "loader/exported/symbols.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/named_value.h>

#include <algorithm>

namespace hopscope::loader::exported {

namespace {

using c10::TypeKind;

struct Function {
    const char* name;
    std::size_t operands;
};

// TorchScript's operators on numbers.
const Function* functionOf(const std::string& name)
{
    static const std::unordered_map<std::string, Function> table = {
        {"_operator.add", {"aten::add", 2}},
        {"_operator.sub", {"aten::sub", 2}},
        {"_operator.mul", {"aten::mul", 2}},
        {"_operator.floordiv", {"aten::floordiv", 2}},
        {"_operator.truediv", {"aten::div", 2}},
        {"_operator.mod", {"aten::remainder", 2}},
        {"_operator.pow", {"aten::pow", 2}},
        {"_operator.neg", {"aten::neg", 1}},
        {"_operator.eq", {"aten::eq", 2}},
        {"_operator.ne", {"aten::ne", 2}},
        {"_operator.lt", {"aten::lt", 2}},
        {"_operator.le", {"aten::le", 2}},
        {"_operator.gt", {"aten::gt", 2}},
        {"_operator.ge", {"aten::ge", 2}},
        {"_operator.and_", {"aten::__and__", 2}},
        {"_operator.or_", {"aten::__or__", 2}},
        {"_operator.lshift", {"aten::__lshift__", 2}},
        {"_operator.rshift", {"aten::__rshift__", 2}},
        {"torch.sym_max", {"prim::max", 2}},
        {"torch.sym_min", {"prim::min", 2}},
        {"torch.sym_not", {"aten::__not__", 1}},
        {"torch.sym_sqrt", {"aten::sqrt", 1}},
        {"torch._sym_sqrt", {"aten::sqrt", 1}},
        {"math.trunc", {"aten::Int", 1}},
        {"math.floor", {"aten::floor", 1}},
        {"math.ceil", {"aten::ceil", 1}},
        {"torch.sym_int", {"aten::Int", 1}},
        {"torch.sym_float", {"aten::Float", 1}},
    };
    const auto it = table.find(name);
    return it == table.end() ? nullptr : &it->second;
}

TypeKind typeOf(const std::string& kind)
{
    if (kind == "as_sym_bool") return TypeKind::BoolType;
    return kind == "as_sym_float" ? TypeKind::FloatType : TypeKind::IntType;
}

const char* castTo(const std::string& kind)
{
    if (kind == "as_sym_bool") return "aten::Bool";
    return kind == "as_sym_float" ? "aten::Float" : "aten::Int";
}

}  // namespace

torch::jit::Value* Symbols::compute(const std::string& name, const std::vector<Value*>& operands,
                                    const std::string& kind)
{
    Value* result = nullptr;
    if (name == "torch.sym_ite" && operands.size() == 3) result = select(operands);
    else if (name == "_operator.pos" && operands.size() == 1) result = operands[0];
    else if (const Function* const function = functionOf(name); function && function->operands == operands.size()) {
        const bool same = operands.size() == 1 && operands[0]->type()->kind() == typeOf(kind) &&
                          (name == "torch.sym_int" || name == "torch.sym_float" || name == "math.trunc");
        result = same ? operands[0] : insert(function->name, operands);
    } else {
        m_place.refuse("the function " + name + " of sizes is not supported", "write this line with other arithmetic");
    }
    result = cast(result, kind);
    learn(name, operands, result);
    return result;
}

torch::jit::Value* Symbols::item(Value* tensor, const std::string& kind) { return insert(castTo(kind), {tensor}); }

torch::jit::Value* Symbols::size(Value* number)
{
    m_counts.insert(number);
    return number;
}

void Symbols::assertThat(Value* condition, const std::string& message)
{
    const auto known = torch::jit::toIValue(condition);
    if (m_true.contains(condition) || (known && known->isBool() && known->toBool())) return;
    torch::jit::Node* const branch = m_graph.insertNode(m_graph.create(c10::prim::If, {condition}, 0));
    branch->addBlock();
    const torch::jit::WithInsertPoint inside(branch->addBlock());
    Value* const text = m_graph.insertConstant(message);
    Value* const none = m_graph.insertConstant(c10::IValue());
    m_graph.insertNode(m_graph.create(c10::prim::RaiseException, {text, none}, 0));
}

torch::jit::Value* Symbols::insert(const char* name, const std::vector<Value*>& operands)
{
    std::vector<torch::jit::NamedValue> arguments(operands.begin(), operands.end());
    return m_graph.insert(c10::Symbol::fromQualString(name), arguments);
}

torch::jit::Value* Symbols::select(const std::vector<Value*>& operands)
{
    torch::jit::Node* const branch = m_graph.insertNode(m_graph.create(c10::prim::If, {operands[0]}, 1));
    for (const std::size_t side : {1, 2}) branch->addBlock()->registerOutput(operands[side]);
    branch->output()->setType(operands[1]->type());
    return branch->output();
}

torch::jit::Value* Symbols::cast(Value* number, const std::string& kind)
{
    const bool fits = number->type()->kind() == typeOf(kind) || kind.empty();
    return fits ? number : insert(castTo(kind), {number});
}

bool Symbols::isCount(Value* number) const
{
    const auto known = torch::jit::toIValue(number);
    return m_counts.contains(number) || (known && known->isInt() && known->toInt() >= 0);
}

// Sums, products and the like of counts are counts, and those are never less than 0.
void Symbols::learn(const std::string& name, const std::vector<Value*>& operands, Value* result)
{
    static const std::set<std::string> closed{"_operator.add", "_operator.mul", "_operator.floordiv",
                                              "torch.sym_max", "torch.sym_min", "_operator.pos"};
    const bool counts = std::ranges::all_of(operands, [&](Value* operand) { return isCount(operand); });
    if (closed.contains(name) && counts) m_counts.insert(result);
    const bool least = name == "_operator.ge", most = name == "_operator.le";
    if (!least && !most) return;
    const auto bound = torch::jit::toIValue(operands[least ? 1 : 0]);
    if (bound && bound->isInt() && bound->toInt() <= 0 && isCount(operands[least ? 0 : 1])) m_true.insert(result);
}

}  // namespace hopscope::loader::exported
