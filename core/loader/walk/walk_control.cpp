#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir_views.h>

#include "loader/walk/walker.h"

namespace hopscope::loader {

namespace {

using c10::IValue;
using torch::jit::Block;

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::size_t kDeepestCall = 200;
constexpr std::chrono::seconds kLongest{120};

}  // namespace

const std::unordered_map<c10::Symbol, Walker::Handler>& Walker::handlers()
{
    const auto symbol = [](const char* name) { return c10::Symbol::fromQualString(name); };
    static const std::unordered_map<c10::Symbol, Handler> table = {
        {symbol("prim::Constant"), &Walker::constantNode},
        {symbol("prim::GetAttr"), &Walker::getAttr},
        {symbol("prim::SetAttr"), &Walker::setAttr},
        {symbol("prim::If"), &Walker::ifNode},
        {symbol("prim::Loop"), &Walker::loopNode},
        {symbol("prim::CallMethod"), &Walker::callMethod},
        {symbol("prim::CallFunction"), &Walker::callFunctionNode},
        {symbol("prim::CreateObject"), &Walker::createObject},
        {symbol("prim::RaiseException"), &Walker::raiseException},
        {symbol("prim::isinstance"), &Walker::isInstance},
        {symbol("prim::unchecked_cast"), &Walker::passOn},
        {symbol("prim::unchecked_unwrap_optional"), &Walker::passOn},
        {symbol("aten::_unwrap_optional"), &Walker::passOn},
        {symbol("prim::Enter"), &Walker::passOn},
        {symbol("prim::Exit"), &Walker::ignore},
        {symbol("prim::Uninitialized"), &Walker::ignore},
        {symbol("prim::Print"), &Walker::ignore},
        {symbol("aten::warn"), &Walker::ignore},
        {symbol("aten::__is__"), &Walker::isNode},
        {symbol("aten::__isnot__"), &Walker::isNode},
        {symbol("prim::TupleConstruct"), &Walker::construct},
        {symbol("prim::ListConstruct"), &Walker::construct},
        {symbol("prim::DictConstruct"), &Walker::constructDict},
        {symbol("prim::TupleUnpack"), &Walker::unpack},
        {symbol("prim::ListUnpack"), &Walker::unpack},
        {symbol("prim::TupleIndex"), &Walker::tupleIndex},
        {symbol("prim::TupleSlice"), &Walker::tupleSlice},
    };
    return table;
}

Item& Walker::lookup(const torch::jit::Value* value)
{
    const auto it = m_frames.back().items.find(value);
    if (it == m_frames.back().items.end()) refuse("the TorchScript code reads a value that was never set");
    return it->second;
}

std::vector<Item> Walker::inputsOf(const Node& node)
{
    std::vector<Item> out;
    for (const torch::jit::Value* value : node.inputs()) out.push_back(lookup(value));
    return out;
}

Item Walker::callGraph(const torch::jit::Graph& graph, std::vector<Item> arguments, const std::string& self)
{
    if (m_frames.size() >= kDeepestCall) refuse("calls are nested too deeply");
    if (graph.inputs().size() != arguments.size()) refuse("a call has the wrong number of arguments");
    m_frames.push_back({self, {}});
    for (std::size_t i = 0; i < arguments.size(); ++i)
        m_frames.back().items[graph.inputs()[i]] = std::move(arguments[i]);
    runBlock(*graph.block());
    Item result = lookup(graph.outputs()[0]);
    m_frames.pop_back();
    return result;
}

Item Walker::callFunction(torch::jit::Function& function, std::vector<Item> arguments, const std::string& self)
{
    torch::jit::GraphFunction* graphFunction = torch::jit::tryToGraphFunction(function);
    if (!graphFunction)
        refuse("the function " + function.qualname().qualifiedName() + " is not TorchScript",
               "custom classes are not supported");
    graphFunction->ensure_defined();
    return callGraph(*graphFunction->graph(), std::move(arguments), self);
}

void Walker::runBlock(const Block& block)
{
    for (const Node* node : block.nodes()) step(*node);
}

void Walker::step(const Node& node)
{
    m_node = &node;
    if (++m_steps > kMostSteps) refuse("forward exceeds a million steps on the sample", "use a smaller sample");
    if (m_steps % 1024 == 0 && std::chrono::steady_clock::now() - m_start > kLongest)
        refuse("forward exceeds two minutes on the sample", "use a smaller sample");
    const auto handler = handlers().find(node.kind());
    if (handler != handlers().end()) return (this->*handler->second)(node);
    if (std::string_view(node.kind().toQualString()).starts_with("profiler::")) return ignore(node);
    std::vector<Item> args = inputsOf(node);
    if (!node.maybeSchema()) refuse(std::string("the instruction ") + node.kind().toQualString() + " is not supported");
    if (containerOp(node, args) || staticFact(node, args) || tensorToNumber(node, args) || numberToTensor(node, args) ||
        numberOp(node, args))
        return;
    tensorOp(node, args);
}

void Walker::guard(const Item& item)
{
    if (!m_recorder.fromInput(item)) return;
    const IValue& v = item.concrete;
    const double taken = v.isBool() ? v.toBool() : v.isInt() ? static_cast<double>(v.toInt()) : v.toDouble();
    m_recorder.guard({item.value, taken, m_modules, currentSource()});
}

std::int64_t Walker::fixedInt(const Item& item)
{
    guard(item);
    return item.concrete.toInt();
}

bool Walker::fixedBool(const Item& item)
{
    guard(item);
    return item.concrete.toBool();
}

void Walker::constantNode(const Node& node)
{
    const auto value = torch::jit::toIValue(node.output());
    set(node, value ? wrap(*value, "", Leaf::Literal) : Item());
}

void Walker::getAttr(const Node& node)
{
    const Item object = in(node, 0);
    if (!object.concrete.isObject()) refuse("an attribute is read from an object without attributes");
    const auto instance = object.concrete.toObject();
    const std::string& name = node.s(c10::attr::name);
    const auto key = std::make_pair(static_cast<const void*>(instance.get()), name);
    if (const auto it = m_attributes.find(key); it != m_attributes.end()) return set(node, it->second);
    const IValue value = instance->getAttr(name);
    Item item = wrap(value, object.path.empty() ? name : object.path + "." + name, Leaf::Attribute);
    if (value.isObject() && value.toObject()->type()->name())
        m_moduleTypes[item.path] = value.toObject()->type()->name()->name();
    if (item.box) m_attributes[key] = item;
    set(node, std::move(item));
}

void Walker::setAttr(const Node& node)
{
    const Item object = in(node, 0);
    if (!object.concrete.isObject()) refuse("an attribute is set on an object without attributes");
    m_attributes[{object.concrete.toObject().get(), node.s(c10::attr::name)}] = in(node, 1);
}

void Walker::ifNode(const Node& node)
{
    const Block* block = node.blocks()[fixedBool(in(node, 0)) ? 0 : 1];
    runBlock(*block);
    for (std::size_t i = 0; i < node.outputs().size(); ++i)
        m_frames.back().items[node.outputs()[i]] = Item(lookup(block->outputs()[i]));
}

void Walker::loopNode(const Node& node)
{
    const Block& body = *node.blocks()[0];
    const std::int64_t count = fixedInt(in(node, 0));
    bool more = fixedBool(in(node, 1));
    std::vector<Item> carried;
    for (std::size_t i = 2; i < node.inputs().size(); ++i) carried.push_back(in(node, i));
    for (std::int64_t trip = 0; trip < count && more; ++trip) {
        m_frames.back().items[body.inputs()[0]] = Item(IValue(trip));
        for (std::size_t i = 0; i < carried.size(); ++i) m_frames.back().items[body.inputs()[i + 1]] = carried[i];
        runBlock(body);
        m_node = &node;
        more = fixedBool(lookup(body.outputs()[0]));
        for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = lookup(body.outputs()[i + 1]);
    }
    for (std::size_t i = 0; i < carried.size(); ++i) m_frames.back().items[node.outputs()[i]] = carried[i];
}

// One frame per attribute step from the caller's module. Containers on the way are not called: they count with the
// caller's call.
std::vector<ir::ModuleFrame> Walker::framesFor(const std::string& caller, const std::string& callee)
{
    if (callee == caller || callee.empty()) return {};
    const bool inside = caller.empty() || callee.starts_with(caller + ".");
    std::string path = inside ? caller : std::string();
    std::vector<ir::ModuleFrame> frames;
    for (std::size_t at = path.empty() ? 0 : path.size() + 1; at <= callee.size();) {
        const std::size_t end = std::min(callee.find('.', at), callee.size());
        path = callee.substr(0, end);
        const auto type = m_moduleTypes.find(path);
        frames.push_back({callee.substr(at, end - at), type == m_moduleTypes.end() ? "" : type->second,
                          m_modules.empty() ? 0 : m_modules.back().call});
        at = end + 1;
    }
    frames.back().call = ++m_calls;
    return frames;
}

void Walker::callMethod(const Node& node)
{
    const Item object = in(node, 0);
    if (!object.concrete.isObject()) refuse("a method is called on an object without methods");
    const auto instance = object.concrete.toObject();
    const bool module = instance->type()->is_module();
    const std::string caller = m_frames.back().self;
    const std::string callee = module ? object.path : caller;
    const std::size_t depth = m_modules.size();
    for (ir::ModuleFrame& frame : framesFor(caller, callee)) m_modules.push_back(std::move(frame));
    Item result = callFunction(instance->type()->getMethod(node.s(c10::attr::name)), inputsOf(node), callee);
    m_modules.resize(depth);
    m_node = &node;
    set(node, std::move(result));
}

void Walker::callFunctionNode(const Node& node)
{
    std::vector<Item> args = inputsOf(node);
    args.erase(args.begin());
    torch::jit::Function* function = node.inputs()[0]->type()->expectRef<c10::FunctionType>().function();
    Item result = callFunction(*function, std::move(args), m_frames.back().self);
    m_node = &node;
    set(node, std::move(result));
}

void Walker::createObject(const Node& node)
{
    const auto type = node.output()->type()->expect<c10::ClassType>();
    const IValue object(c10::ivalue::Object::create(type, type->numAttributes()));
    m_created.push_back(object);
    set(node, Item(object));
}

void Walker::raiseException(const Node& node)
{
    const IValue message = concreteOf(in(node, 0));
    refuse("forward raises an exception on the sample: " +
           (message.isString() ? message.toStringRef() : std::string("(no message)")));
}

void Walker::isInstance(const Node& node)
{
    const c10::TypePtr type = typeOf(in(node, 0));
    bool result = false;
    for (const c10::TypePtr& wanted : node.tys(c10::attr::types)) result = result || type->isSubtypeOf(*wanted);
    set(node, Item(IValue(result)));
}

void Walker::passOn(const Node& node)
{
    if (!node.outputs().empty()) set(node, Item(in(node, 0)));
}

void Walker::ignore(const Node& node)
{
    for (const torch::jit::Value* value : node.outputs()) m_frames.back().items[value] = Item();
}

void Walker::isNode(const Node& node)
{
    const Item &a = in(node, 0), &b = in(node, 1);
    bool same = false;
    if (a.isNone() || b.isNone()) same = a.isNone() && b.isNone();
    else if (a.box || b.box) same = a.box == b.box;
    else same = a.concrete.is(b.concrete);
    const bool wanted = node.kind() == c10::Symbol::fromQualString("aten::__is__");
    set(node, Item(IValue(same == wanted)));
}

}  // namespace hopscope::loader
