#include "loader/exported/graph.h"

#include <torch/csrc/jit/ir/named_value.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "loader/custom_ops.h"
#include "loader/exported/composed.h"
#include "loader/registry.h"

namespace hopscope::loader::exported {

namespace {

using torch::jit::Node;

constexpr std::string_view operatorPrefix = "torch.ops.";

// Ranges of numbers, which _assert_scalar repeats, and types, which follow from those of the inputs.
bool saysNothing(const std::string& name)
{
    static const std::set<std::string> names{"aten::sym_constrain_range", "aten::sym_constrain_range_for_size",
                                             "aten::_assert_tensor_metadata"};
    return names.contains(name);
}

// The position of the graph among the arguments of a higher-order operator that calls it once and changes no number:
// torch.no_grad and torch.enable_grad, and torch.autocast where it is disabled.
std::optional<std::size_t> transparentGraph(const std::string& name, const std::vector<json::Reader>& arguments)
{
    if (name == "wrap_with_set_grad_enabled") return 1;
    if (name != "wrap_with_autocast" || arguments.size() < 5) return std::nullopt;
    const Union enabled = unionOf(arguments[2]);
    const bool off = enabled.kind == "as_bool" && !enabled.value.as<bool>();
    return off ? std::optional<std::size_t>(4) : std::nullopt;
}

// torch.full makes booleans of a boolean, which TorchScript takes for a number.
bool makesBooleans(const c10::FunctionSchema& schema, const c10::Argument& argument, const json::Reader& fill)
{
    return schema.name() == "aten::full" && argument.name() == "dtype" && unionOf(fill).kind == "as_bool";
}

std::string nameOf(const Union& value)
{
    if (value.kind == "as_tensor") return text(value.value, "name");
    return value.kind.starts_with("as_sym_") ? textOr(value.value, "as_name") : std::string();
}

}  // namespace

void GraphBuilder::add(const json::Reader& node)
{
    const std::string target = text(node, "target");
    enter(node, target);
    if (target.starts_with(higherOrder)) return addGraph(node, target.substr(higherOrder.size()));
    Node* const last = m_graph.block()->return_node()->prev();
    if (target.starts_with(operatorPrefix)) addOperator(node, target.substr(operatorPrefix.size()));
    else addSymbolic(node, target);
    mark(last, child(node, "metadata"));
}

void GraphBuilder::enter(const json::Reader& node, const std::string& target)
{
    const json::Reader metadata = child(node, "metadata");
    m_place.node = textOr(node, "name");
    if (m_place.node.empty()) m_place.node = node.pointer();
    m_place.op = {};
    m_place.op.name = target;
    m_place.op.source = sourceIn(textOr(metadata, "stack_trace"));
}

// Gives all nodes behind `last` their modules and source line.
void GraphBuilder::mark(Node* last, const json::Reader& metadata)
{
    const torch::jit::ScopePtr scope = m_scopes.of(textOr(metadata, "nn_module_stack"));
    const bool hasSource = m_place.op.source.kind != ir::SourceKind::None;
    const torch::jit::SourceRange range = hasSource ? rangeOf(m_place.op.source) : torch::jit::SourceRange();
    for (Node* node = last->next(); node != m_graph.block()->return_node(); node = node->next()) {
        node->setScope(scope);
        if (hasSource) node->setSourceRange(range);
    }
}

// "aten.scatter_add_.default"
void GraphBuilder::addOperator(const json::Reader& node, const std::string& target)
{
    const std::size_t first = target.find('.'), last = target.rfind('.');
    const std::string space = target.substr(0, first);
    if (first == std::string::npos || first == last) m_place.damaged(target + " is not the name of an operator");
    const std::string name = space + "::" + target.substr(first + 1, last - first - 1);
    const std::string overload = target.substr(last + 1);
    m_place.op.name = name;
    if (!saysNothing(name) && !addSpecial(node, name)) addCall(node, name, overload == "default" ? "" : overload);
}

// Its nodes become nodes of the program, with the modules and lines that they have.
void GraphBuilder::addGraph(const json::Reader& node, const std::string& name)
{
    const Place place = m_place;
    std::vector<json::Reader> given;
    for (const Named& argument : arguments(node)) given.push_back(argument.value);
    const std::optional<std::size_t> at = transparentGraph(name, given);
    if (!at)
        m_place.refuse("the higher-order operator " + name + " calls graphs of its own, which Hopscope does not split",
                       "write the model without this operator, or save it with torch.jit.script");
    const Union graph = given.size() > *at ? unionOf(given[*at]) : Union{"", node};
    if (graph.kind != "as_graph") m_place.damaged("the graph of " + name + " is missing");
    std::vector<Value*> operands, results;
    for (std::size_t i = *at + 1; i < given.size(); ++i) operands.push_back(m_values.argument(given[i]));
    inlineGraph(child(graph.value, "graph"), operands, results);
    m_place = place;
    const std::vector<json::Reader> names = items(node, "outputs");
    if (names.size() != results.size())
        m_place.damaged("the graph has " + base::counted(std::ssize(results), "result") + ", not " +
                        std::to_string(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) define(unionOf(names[i]), results[i]);
}

void GraphBuilder::inlineGraph(const json::Reader& graph, const std::vector<Value*>& operands,
                               std::vector<Value*>& results)
{
    const std::vector<json::Reader> parameters = items(graph, "inputs");
    if (parameters.size() != operands.size())
        m_place.damaged("the graph takes " + base::counted(std::ssize(parameters), "value") + ", and gets " +
                        std::to_string(operands.size()));
    Values::Names around = m_values.exchange({});
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (const std::string name = nameOf(unionOf(parameters[i])); !name.empty()) m_values.define(name, operands[i]);
    for (const json::Reader& inner : items(graph, "nodes")) add(inner);
    for (const json::Reader& output : items(graph, "outputs")) results.push_back(m_values.argument(output));
    m_values.exchange(std::move(around));
}

void GraphBuilder::addSymbolic(const json::Reader& node, const std::string& function)
{
    std::vector<Value*> operands;
    for (const Named& given : arguments(node)) operands.push_back(m_values.argument(given.value));
    defineNumber(node, m_symbols.compute(function, operands, resultKind(node)));
}

// Operators that give numbers, and assertions about these.
bool GraphBuilder::addSpecial(const json::Reader& node, const std::string& name)
{
    if (name == "aten::sym_size" || name == "aten::sym_numel") {
        std::vector<torch::jit::NamedValue> operands;
        for (const Named& given : arguments(node)) operands.emplace_back(m_values.argument(given.value));
        const c10::Symbol symbol = name == "aten::sym_size" ? c10::aten::size : c10::aten::numel;
        defineNumber(node, m_symbols.size(m_graph.insert(symbol, operands)));
    } else if (name == "aten::item" || name == "aten::_local_scalar_dense") {
        defineNumber(node, m_symbols.item(first(node), resultKind(node)));
    } else if (name == "aten::_assert_scalar") {
        const std::vector<Named> given = arguments(node);
        const auto message = given.size() == 2 ? given[1].value.maybe<std::string>("as_string") : std::nullopt;
        m_symbols.assertThat(first(node), message.value_or("an assertion of the exported program"));
    } else {
        return false;
    }
    return true;
}

void GraphBuilder::addCall(const json::Reader& node, const std::string& name, const std::string& overload)
{
    const RegisteredOperator found = RegisteredOperator::find(name, overload);
    if (!found) {
        const MissingOperator missing = missingOperator(name);
        m_place.refuse("the operator " + name + (overload.empty() ? "" : "." + overload) + " is not part of " +
                           missing.from,
                       missing.hint);
    }
    const std::vector<Named> given = arguments(node);
    const c10::Symbol symbol = c10::Symbol::fromQualString(name);
    if (tryCall(found.schema(), given, node)) return;
    // Python passes numbers where this overload takes tensors: "mul.Tensor" of a number is "mul.Scalar".
    for (const auto& other : torch::jit::getAllOperatorsFor(symbol))
        if (other->schema().overload_name() != overload && tryCall(other->schema(), given, node)) return;
    m_place.damaged("the arguments of " + name + " do not fit its declaration");
}

// False if the arguments are not those of this overload; the graph then has constants that nothing uses.
bool GraphBuilder::tryCall(const c10::FunctionSchema& schema, const std::vector<Named>& given, const json::Reader& node)
{
    const std::optional<std::vector<Value*>> operands = operandsFor(schema, given);
    if (!operands) return false;
    if (const auto results = composed(m_graph, schema, *operands)) {
        defineResults(*results, node);
        return true;
    }
    Node* const call = m_graph.create(c10::Symbol::fromQualString(schema.name()), *operands, schema.returns().size());
    for (std::size_t i = 0; i < schema.returns().size(); ++i) call->output(i)->setType(schema.returns()[i].type());
    m_graph.insertNode(call);
    const c10::FunctionSchema* const read = call->maybeSchema();
    if (read == nullptr || read->overload_name() != schema.overload_name()) {
        call->destroy();
        return false;
    }
    defineResults(call->outputs().vec(), node);
    return true;
}

std::optional<std::vector<torch::jit::Value*>> GraphBuilder::operandsFor(const c10::FunctionSchema& schema,
                                                                         const std::vector<Named>& given)
{
    std::vector<Value*> operands;
    std::size_t used = 0;
    for (const c10::Argument& expected : schema.arguments()) {
        const auto named = std::ranges::find(given, expected.name(), &Named::name);
        if (named == given.end() && !expected.default_value()) return std::nullopt;
        used += named != given.end() ? 1 : 0;
        if (named != given.end()) operands.push_back(m_values.argument(named->value, expected));
        else if (given.size() > 1 && makesBooleans(schema, expected, given[1].value))
            operands.push_back(m_values.constant(static_cast<std::int64_t>(c10::ScalarType::Bool)));
        else operands.push_back(m_values.constant(*expected.default_value()));
        if (!operands.back()->type()->isSubtypeOf(*expected.type())) return std::nullopt;
    }
    if (used != given.size()) return std::nullopt;
    return operands;
}

std::vector<GraphBuilder::Named> GraphBuilder::arguments(const json::Reader& node) const
{
    std::vector<Named> given;
    for (const json::Reader& argument : items(node, "inputs"))
        given.push_back({textOr(argument, "name"), child(argument, "arg")});
    return given;
}

torch::jit::Value* GraphBuilder::first(const json::Reader& node)
{
    const std::vector<Named> given = arguments(node);
    if (given.empty()) m_place.damaged("an argument is missing");
    return m_values.argument(given.front().value);
}

void GraphBuilder::defineResults(const std::vector<Value*>& values, const json::Reader& node)
{
    const std::vector<json::Reader> results = items(node, "outputs");
    const bool nothing = results.size() == 1 && values.empty() && unionOf(results[0]).kind == "as_none";
    if (results.size() != values.size() && !nothing)
        m_place.damaged("the operator has " + base::counted(std::ssize(values), "result") + ", not " +
                        std::to_string(results.size()));
    for (std::size_t i = 0; i < values.size(); ++i) define(unionOf(results[i]), values[i]);
}

void GraphBuilder::define(const Union& result, Value* value)
{
    if (result.kind == "as_tensor") m_values.define(text(result.value, "name"), value);
    else if (result.kind == "as_tensors") defineList(value, result.value);
    else if (result.kind.starts_with("as_sym_")) m_values.define(text(result.value, "as_name"), value);
    else if (result.kind != "as_none" && result.kind != "as_optional_tensor")
        m_place.refuse("results of the kind " + result.kind + " are not supported", "return tensors");
}

void GraphBuilder::defineList(Value* list, const json::Reader& tensors)
{
    const std::vector<json::Reader> names = items(tensors);
    if (list->type()->kind() != c10::TypeKind::ListType) m_place.damaged("the result is not a list");
    Node* const unpack = m_graph.insertNode(m_graph.createListUnpack(list, names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) m_values.define(text(names[i], "name"), unpack->output(i));
}

std::string GraphBuilder::resultKind(const json::Reader& node) const
{
    const std::vector<json::Reader> results = items(node, "outputs");
    const std::string kind = results.empty() ? "" : unionOf(results.front()).kind;
    if (!kind.starts_with("as_sym_")) m_place.damaged("the result is not a number");
    return kind;
}

void GraphBuilder::defineNumber(const json::Reader& node, Value* number)
{
    static_cast<void>(resultKind(node));
    m_values.define(text(unionOf(items(node, "outputs").front()).value, "as_name"), number);
}

}  // namespace hopscope::loader::exported
