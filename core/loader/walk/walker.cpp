#include "loader/walk/walker.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

namespace hopscope::loader {

namespace {

using c10::IValue;
using torch::jit::Block;

constexpr const char* returnsHint = "return tensors, numbers, and tuples, lists or dictionaries of them";
constexpr const char* stepsHint = "compute with whole tensors instead of a loop over rows";
constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::size_t kDeepestCall = 200;
constexpr std::chrono::seconds kLongest{120};

bool isSame(const Item& a, const Item& b)
{
    if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
    if (a.box || b.box) return a.box == b.box;
    return a.concrete.is(b.concrete);
}

}  // namespace

const std::unordered_map<c10::Symbol, Walker::Handler>& Walker::handlers()
{
    const auto symbol = [](const char* name) { return c10::Symbol::fromQualString(name); };
    static const std::unordered_map<c10::Symbol, Handler> table = {
        {symbol("prim::If"), &Walker::branch},
        {symbol("prim::Loop"), &Walker::loop},
        {symbol("prim::CallMethod"), &Walker::callMethod},
        {symbol("prim::CallFunction"), &Walker::callFreeFunction},
        {symbol("prim::RaiseException"), &Walker::raise},
        {symbol("prim::Constant"), &Walker::constant},
        {symbol("prim::isinstance"), &Walker::testType},
        {symbol("aten::__is__"), &Walker::testIdentity},
        {symbol("aten::__isnot__"), &Walker::testIdentity},
        {symbol("prim::unchecked_cast"), &Walker::passOn},
        {symbol("prim::unchecked_unwrap_optional"), &Walker::passOn},
        {symbol("aten::_unwrap_optional"), &Walker::passOn},
        {symbol("prim::Enter"), &Walker::passOn},
        {symbol("prim::Exit"), &Walker::ignore},
        {symbol("prim::Uninitialized"), &Walker::ignore},
        {symbol("prim::Print"), &Walker::print},
        {symbol("aten::warn"), &Walker::ignore},
    };
    return table;
}

Walk Walker::run(const torch::jit::Module& module, const std::vector<IValue>& inputs, const base::TensorMap& given)
{
    const auto forward = module.get_method("forward");
    const auto& arguments = forward.function().getSchema().arguments();
    Items items{Item(IValue(module._ivalue()))};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = arguments[i + 1].name();
        const bool ownDefault = inputs[i].isScalar() && !given.contains(name);
        items.push_back(ownDefault ? Item(inputs[i]) : m_wrapper.wrap(inputs[i], name, Leaf::Input));
    }
    const Item result = callFunction(forward.function(), std::move(items), "");
    m_location.leaveModel();
    recordOutputs(result, "out");
    if (m_recorder.program().outputs.empty())
        m_location.refuse("forward returns neither tensors nor numbers", returnsHint);
    Walk walk = m_recorder.finish();
    walk.prints = m_prints;
    walk.firstPrint = std::move(m_firstPrint);
    return walk;
}

void Walker::recordOutputs(const Item& item, const std::string& name)
{
    if (item.box) {
        const bool dict = isKind(item, c10::TypeKind::DictType);
        for (std::size_t i = 0; i < item.box->items.size(); ++i)
            recordOutputs(item.box->items[i], name + "." + (dict ? keyText(item.box->keys[i]) : std::to_string(i)));
    } else if (item.value.valid()) {
        m_recorder.output(name, item.value);
    } else if (item.concrete.isScalar()) {
        m_recorder.output(name, m_recorder.constantNumber(item.concrete));
    } else if (!item.concrete.isNone()) {
        m_location.refuse("forward returns " + item.concrete.tagKind() + " at '" + name +
                              "', which is neither a tensor nor a number",
                          returnsHint);
    }
}

void Walker::runBlock(const Block& block)
{
    for (const Node* node : block.nodes()) step(*node);
}

void Walker::step(const Node& node)
{
    m_location.moveTo(node);
    checkBudget();
    Items results = evaluate(node);
    for (std::size_t i = 0; i < results.size() && i < node.outputs().size(); ++i)
        set(node.outputs()[i], std::move(results[i]));
}

void Walker::checkBudget()
{
    if (++m_steps > kMostSteps) m_location.refuse("forward exceeds a million steps", stepsHint);
    if (std::chrono::steady_clock::now() - m_start > kLongest)
        m_location.refuse("forward exceeds two minutes", stepsHint);
}

Walker::Items Walker::evaluate(const Node& node)
{
    const Items args = lookupAll(node.inputs());
    if (const auto handler = handlers().find(node.kind()); handler != handlers().end())
        return (this->*handler->second)(node, args);
    if (std::string_view(node.kind().toQualString()).starts_with("profiler::")) return ignore(node, args);
    if (auto results = m_attributes.evaluateInstruction(node, args)) return std::move(*results);
    if (auto results = m_sequences.evaluateInstruction(node, args)) return std::move(*results);
    if (auto result = m_dictionaries.evaluateInstruction(node, args)) return {std::move(*result)};
    if (!node.maybeSchema())
        m_location.refuse(std::string("the instruction ") + node.kind().toQualString() + " is not supported");
    return evaluateOperator(node, args);
}

Walker::Items Walker::evaluateOperator(const Node& node, const Items& args)
{
    if (auto results = m_sequences.evaluate(node, args)) return std::move(*results);
    if (auto result = m_dictionaries.evaluate(node, args)) return {std::move(*result)};
    if (auto results = m_numberOperators.evaluate(node, args)) return std::move(*results);
    return m_tensorOperators.evaluate(node, args);
}

const Item& Walker::lookup(const torch::jit::Value* value) const
{
    const auto it = m_frames.back().items.find(value);
    if (it == m_frames.back().items.end()) m_location.refuse("the TorchScript code reads a value that was never set");
    return it->second;
}

Walker::Items Walker::lookupAll(at::ArrayRef<const torch::jit::Value*> values) const
{
    Items out;
    for (const torch::jit::Value* value : values) out.push_back(lookup(value));
    return out;
}

Walker::Items Walker::branch(const Node& node, const Items& args)
{
    const Block& taken = *node.blocks()[m_numbers.fixedBool(args[0]) ? 0 : 1];
    runBlock(taken);
    return lookupAll(taken.outputs());
}

// Inputs: the largest trip count, whether to start, the carried values; the body gives whether to go on, and the
// latter.
Walker::Items Walker::loop(const Node& node, const Items& args)
{
    const Block& body = *node.blocks()[0];
    const std::int64_t count = m_numbers.fixedInt(args[0]);
    bool more = m_numbers.fixedBool(args[1]);
    Items carried(args.begin() + 2, args.end());
    for (std::int64_t trip = 0; trip < count && more; ++trip) {
        set(body.inputs()[0], Item(IValue(trip)));
        for (std::size_t i = 0; i < carried.size(); ++i) set(body.inputs()[i + 1], carried[i]);
        runBlock(body);
        m_location.moveTo(node);
        more = m_numbers.fixedBool(lookup(body.outputs()[0]));
        for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = lookup(body.outputs()[i + 1]);
    }
    return carried;
}

Walker::Items Walker::callMethod(const Node& node, const Items& args)
{
    const Item& object = args[0];
    if (!object.concrete.isObject()) m_location.refuse("a method is called on an object without methods");
    const auto instance = object.concrete.toObject();
    const std::string caller = m_frames.back().self;
    const std::string callee = instance->type()->is_module() ? object.path : caller;
    const std::size_t depth = m_location.enter(caller, callee);
    Item result = callFunction(instance->type()->getMethod(node.s(c10::attr::name)), args, callee);
    m_location.leave(depth);
    m_location.moveTo(node);
    return {std::move(result)};
}

Walker::Items Walker::callFreeFunction(const Node& node, const Items& args)
{
    torch::jit::Function* function = node.inputs()[0]->type()->expectRef<c10::FunctionType>().function();
    Item result = callFunction(*function, Items(args.begin() + 1, args.end()), m_frames.back().self);
    m_location.moveTo(node);
    return {std::move(result)};
}

Item Walker::callFunction(torch::jit::Function& function, Items arguments, const std::string& self)
{
    torch::jit::GraphFunction* graphFunction = torch::jit::tryToGraphFunction(function);
    if (!graphFunction)
        m_location.refuse("the function " + function.qualname().qualifiedName() + " is not TorchScript",
                          "custom classes are not supported");
    graphFunction->ensure_defined();
    return callGraph(*graphFunction->graph(), std::move(arguments), self);
}

Item Walker::callGraph(const torch::jit::Graph& graph, Items arguments, const std::string& self)
{
    if (m_frames.size() >= kDeepestCall) m_location.refuse("calls are nested too deeply");
    if (graph.inputs().size() != arguments.size()) m_location.refuse("a call has the wrong number of arguments");
    m_frames.push_back({self, {}});
    for (std::size_t i = 0; i < arguments.size(); ++i) set(graph.inputs()[i], std::move(arguments[i]));
    runBlock(*graph.block());
    Item result = lookup(graph.outputs()[0]);
    m_frames.pop_back();
    return result;
}

Walker::Items Walker::raise(const Node&, const Items& args)
{
    const IValue message = concreteOf(args[0]);
    m_location.refuse("forward raises an exception on the sample: " +
                      (message.isString() ? message.toStringRef() : std::string("(no message)")));
}

Walker::Items Walker::constant(const Node& node, const Items&)
{
    const auto value = torch::jit::toIValue(node.output());
    return {value ? m_wrapper.literal(*value) : Item()};
}

Walker::Items Walker::testType(const Node& node, const Items& args)
{
    const c10::TypePtr type = typeOf(args[0]);
    bool result = false;
    for (const c10::TypePtr& wanted : node.tys(c10::attr::types)) result = result || type->isSubtypeOf(*wanted);
    return {Item(IValue(result))};
}

Walker::Items Walker::testIdentity(const Node& node, const Items& args)
{
    const bool wanted = node.kind() == c10::Symbol::fromQualString("aten::__is__");
    return {Item(IValue(isSame(args[0], args[1]) == wanted))};
}

Walker::Items Walker::passOn(const Node&, const Items& args) { return {args[0]}; }

Walker::Items Walker::print(const Node& node, const Items& args)
{
    if (++m_prints == 1) m_firstPrint = ir::describeOp(m_location.newOp("print", ""));
    return ignore(node, args);
}

Walker::Items Walker::ignore(const Node& node, const Items&) { return Items(node.outputs().size()); }

}  // namespace hopscope::loader
