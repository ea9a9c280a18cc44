#include "loader/walk/code_reader.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "loader/torch_model.h"

namespace hopscope::loader {

namespace {

using c10::IValue;
using c10::TypeKind;

constexpr int kMostSteps = 200'000;
constexpr std::size_t kDeepestCall = 100;
constexpr std::size_t kMostOperands = 64;  // of one value that is made of several

bool holdsTensor(const c10::Type& type)
{
    if (type.kind() == TypeKind::TensorType) return true;
    if (type.kind() == TypeKind::ClassType) return false;  // may hold itself
    return std::ranges::any_of(type.containedTypes(), [](const auto& part) { return holdsTensor(*part); });
}

// Operators that handle lists and dictionaries: only the elements are shown.
bool handlesContainer(std::string_view name)
{
    static const std::set<std::string_view> names{
        "aten::__getitem__", "aten::append", "aten::insert", "aten::extend", "aten::_set_item", "aten::pop",
        "aten::get",         "aten::items",  "aten::keys",   "aten::values", "aten::list",      "aten::dict",
        "aten::copy",        "aten::slice",  "aten::add",    "aten::update", "aten::setdefault"};
    return names.contains(name);
}

bool isContainer(const c10::Type& type)
{
    return type.kind() == TypeKind::ListType || type.kind() == TypeKind::DictType || type.kind() == TypeKind::TupleType;
}

void unite(std::vector<ir::ValueId>& all, const std::vector<ir::ValueId>& more)
{
    for (ir::ValueId id : more)
        if (all.size() < kMostOperands && std::ranges::find(all, id) == all.end()) all.push_back(id);
}

bool writesInPlace(std::string_view name) { return name.ends_with('_') && !name.ends_with("__"); }

void describeTensor(ir::Value& value, const base::TensorMap& sample)
{
    const auto it = sample.find(value.name);
    if (it == sample.end()) return;
    value.dtype = it->second.dtype;
    value.shape = it->second.shape;
}

ir::Arg argumentOf(const std::vector<ir::ValueId>& values)
{
    if (values.empty()) return {};
    if (values.size() == 1) return ir::Arg{values.front()};
    ir::ArgList list;
    for (ir::ValueId id : values) list.push_back(ir::Arg{id});
    return ir::Arg{std::move(list)};
}

}  // namespace

void CodeReader::read(const torch::jit::Module& module, const base::TensorMap& sample)
{
    if (module.find_method("forward")) return readMethod(module, module.get_method("forward"), sample, "out");
    for (const torch::jit::Method& method : module.get_methods())
        if (!method.name().starts_with("_")) readMethod(module, method, sample, method.name());
}

void CodeReader::readMethod(const torch::jit::Module& module, const torch::jit::Method& method,
                            const base::TensorMap& sample, const std::string& out)
{
    std::vector<Known> arguments{{.values = {}, .concrete = IValue(module._ivalue()), .path = {}}};
    const auto& declared = method.function().getSchema().arguments();
    for (std::size_t i = 1; i < declared.size(); ++i) arguments.push_back(argument(declared[i], sample));
    const Known result = call(&method.function(), std::move(arguments), {});
    for (std::size_t i = 0; i < result.values.size(); ++i)
        m_program.outputs.push_back(
            {result.values.size() == 1 ? out : out + "." + std::to_string(i), result.values[i]});
}

// The data keys that belong to an argument of forward, or the argument itself where no data is there. One that holds no
// tensor, or that is left out, has no value.
CodeReader::Known CodeReader::argument(const c10::Argument& argument, const base::TensorMap& sample)
{
    Known result;
    std::vector<std::string> keys;
    for (const auto& [key, tensor] : sample)
        if (key == argument.name() || key.starts_with(argument.name() + ".")) keys.push_back(key);
    const bool optional = argument.default_value() || argument.type()->kind() == TypeKind::OptionalType;
    if (sample.empty() && !optional) keys.push_back(argument.name());
    if (keys.empty() && !sample.empty()) result.concrete = argument.default_value().value_or(IValue());
    if (!holdsTensor(*argument.type())) return result;
    for (const std::string& key : keys) {
        // Methods may take arguments of the same name.
        if (const auto same = std::ranges::find(m_program.inputs, key, &ir::NamedValue::name);
            same != m_program.inputs.end()) {
            result.values.push_back(same->value);
            continue;
        }
        ir::Value value;
        value.origin = ir::Origin::Input;
        value.name = key;
        describeTensor(value, sample);
        result.values.push_back(addValue(std::move(value)));
        m_program.inputs.push_back({key, result.values.back()});
    }
    return result;
}

ir::ValueId CodeReader::addValue(ir::Value value)
{
    value.id = ir::ValueId(m_program.values.size());
    m_program.values.push_back(std::move(value));
    return m_program.values.back().id;
}

const CodeReader::Known& CodeReader::known(const torch::jit::Value* value) const
{
    static const Known nothing;
    const auto it = m_frames.back().known.find(value);
    return it == m_frames.back().known.end() ? nothing : it->second;
}

void CodeReader::readBlock(const torch::jit::Block& block)
{
    for (const Node* node : block.nodes()) {
        if (++m_steps > kMostSteps) return;
        m_location.moveTo(*node);
        readNode(*node);
    }
}

void CodeReader::readNode(const Node& node)
{
    const bool refused = inTheWay(node);
    readInstruction(node);
    if (refused && m_program.ops.empty()) return addOperator(node);
    if (refused && ir::describeOp(m_program.ops.back()) != m_where) addOperator(node);
    if (refused) m_where.clear();
}

bool CodeReader::inTheWay(const Node& node)
{
    return !m_where.empty() && m_where.starts_with(node.kind().toQualString()) &&
           ir::describeOp(m_location.newOp(node.kind().toQualString(), {})) == m_where;
}

void CodeReader::readInstruction(const Node& node)
{
    using Handler = void (CodeReader::*)(const Node&);
    static const std::unordered_map<std::string_view, Handler> handlers = {
        {"prim::If", &CodeReader::branch},
        {"prim::Loop", &CodeReader::loop},
        {"prim::CallMethod", &CodeReader::callMethod},
        {"prim::CallFunction", &CodeReader::callFunction},
        {"prim::GetAttr", &CodeReader::attribute},
        {"prim::SetAttr", &CodeReader::setAttribute},
        {"prim::Constant", &CodeReader::constant},
    };
    const std::string_view name = node.kind().toQualString();
    if (const auto it = handlers.find(name); it != handlers.end()) return (this->*it->second)(node);
    const bool container = !node.inputs().empty() && isContainer(*node.inputs()[0]->type()) && handlesContainer(name);
    if (name.starts_with("prim::") || container) return passOn(node);
    readOperator(node);
}

CodeReader::Known CodeReader::call(torch::jit::Function* function, std::vector<Known> arguments,
                                   const std::string& self)
{
    torch::jit::GraphFunction* code = function ? torch::jit::tryToGraphFunction(*function) : nullptr;
    if (code == nullptr || m_frames.size() >= kDeepestCall) return {};
    code->ensure_defined();
    const torch::jit::Graph& graph = *code->graph();
    m_frames.push_back({self, {}});
    for (std::size_t i = 0; i < std::min(arguments.size(), graph.inputs().size()); ++i)
        set(graph.inputs()[i], std::move(arguments[i]));
    readBlock(*graph.block());
    Known result = graph.outputs().empty() ? Known{} : known(graph.outputs()[0]);
    m_frames.pop_back();
    return result;
}

void CodeReader::callMethod(const Node& node)
{
    std::vector<Known> arguments;
    for (const torch::jit::Value* input : node.inputs()) arguments.push_back(known(input));
    const Known object = arguments.front();
    const bool given = object.concrete && object.concrete->isObject();
    const c10::ClassTypePtr type =
        given ? object.concrete->toObject()->type() : node.inputs()[0]->type()->cast<c10::ClassType>();
    torch::jit::Function* method = type ? type->findMethod(node.s(c10::attr::name)) : nullptr;
    const std::string caller = m_frames.back().self;
    const std::string callee = given && type->is_module() ? object.path : caller;
    const std::size_t depth = m_location.enter(caller, callee);
    Known result = call(method, std::move(arguments), callee);
    m_location.leave(depth);
    m_location.moveTo(node);
    set(node.output(), std::move(result));
}

void CodeReader::callFunction(const Node& node)
{
    std::vector<Known> arguments;
    for (const torch::jit::Value* input : node.inputs().slice(1)) arguments.push_back(known(input));
    torch::jit::Function* function = node.inputs()[0]->type()->expectRef<c10::FunctionType>().function();
    Known result = call(function, std::move(arguments), m_frames.back().self);
    m_location.moveTo(node);
    set(node.output(), std::move(result));
}

// A branch that a constant decides (self.training, an argument that is None) is read on its own side alone.
void CodeReader::branch(const Node& node)
{
    const std::optional<IValue> condition = known(node.inputs()[0]).concrete;
    const bool settled = condition && condition->isBool();
    std::vector<Known> results(node.outputs().size());
    for (std::size_t side = 0; side < 2; ++side) {
        if (settled && condition->toBool() != (side == 0)) continue;
        const torch::jit::Block& block = *node.blocks()[side];
        readBlock(block);
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Known& result = known(block.outputs()[i]);
            unite(results[i].values, result.values);
            if (settled) results[i] = result;
        }
    }
    for (std::size_t i = 0; i < results.size(); ++i) set(node.outputs()[i], std::move(results[i]));
}

void CodeReader::loop(const Node& node)
{
    const torch::jit::Block& body = *node.blocks()[0];
    for (std::size_t i = 2; i < node.inputs().size(); ++i)
        set(body.inputs()[i - 1], {known(node.inputs()[i]).values, {}, {}});
    readBlock(body);
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
        Known result{known(body.outputs()[i + 1]).values, {}, {}};
        unite(result.values, known(node.inputs()[i + 2]).values);
        set(node.outputs()[i], std::move(result));
    }
}

void CodeReader::attribute(const Node& node)
{
    const Known object = known(node.inputs()[0]);
    const std::string& name = node.s(c10::attr::name);
    if (!object.concrete || !object.concrete->isObject() || !object.concrete->toObject()->type()->hasAttribute(name))
        return set(node.output(), {object.values, {}, {}});
    const std::string path = object.path.empty() ? name : object.path + "." + name;
    Known result{{}, object.concrete->toObject()->getAttr(name), path};
    if (result.concrete->isObject() && result.concrete->toObject()->type()->name())
        m_location.setModuleClass(path, result.concrete->toObject()->type()->name()->name());
    if (result.concrete->isTensor() && result.concrete->toTensor().defined()) {
        const at::Tensor tensor = result.concrete->toTensor();
        const auto [it, isNew] = m_parameters.try_emplace(tensor.unsafeGetTensorImpl());
        ir::Value value;
        value.origin = ir::Origin::Parameter;
        value.name = path;
        value.dtype = dtypeOf(tensor.scalar_type()).value_or(base::DType::Float32);
        value.shape = tensor.sizes().vec();
        if (isNew) it->second = addValue(std::move(value));
        result.values = {it->second};
    }
    set(node.output(), std::move(result));
}

void CodeReader::setAttribute(const Node& node)
{
    Known object = known(node.inputs()[0]);
    unite(object.values, known(node.inputs()[1]).values);
    set(node.inputs()[0], std::move(object));
}

void CodeReader::constant(const Node& node)
{
    Known result;
    if (const auto value = torch::jit::toIValue(node.output())) result.concrete = *value;
    set(node.output(), std::move(result));
}

void CodeReader::passOn(const Node& node)
{
    Known all;
    for (const torch::jit::Value* input : node.inputs()) unite(all.values, known(input).values);
    if (node.inputs().size() == 1) all.concrete = known(node.inputs()[0]).concrete;
    if (!node.inputs().empty() && isContainer(*node.inputs()[0]->type())) {
        Known changed = all;  // by append and the like
        changed.concrete.reset();
        set(node.inputs()[0], std::move(changed));
    }
    for (const torch::jit::Value* output : node.outputs())
        set(output,
            holdsTensor(*output->type()) || output->type()->cast<c10::ClassType>() ? all : Known{{}, all.concrete, {}});
}

// Numbers are left out, and what tensors are made of them: sizes, for the most part.
void CodeReader::readOperator(const Node& node)
{
    if (const auto answer = decided(node)) return set(node.output(), {{}, IValue(*answer), {}});
    const bool tensors =
        std::ranges::any_of(node.outputs(), [](const auto* value) { return holdsTensor(*value->type()); });
    if (tensors && !fromNumbers(node)) addOperator(node);
}

std::optional<bool> CodeReader::decided(const Node& node) const
{
    const std::string_view name = node.kind().toQualString();
    if (name == "aten::__not__") {
        const std::optional<IValue>& operand = known(node.inputs()[0]).concrete;
        return operand && operand->isBool() ? std::optional(!operand->toBool()) : std::nullopt;
    }
    const bool is = name == "aten::__is__";
    if (!is && name != "aten::__isnot__") return std::nullopt;
    const Known &left = known(node.inputs()[0]), &right = known(node.inputs()[1]);
    const bool againstNone = right.concrete && right.concrete->isNone();
    if (!againstNone || (!left.concrete && left.values.empty())) return std::nullopt;
    return (left.values.empty() && left.concrete->isNone()) == is;
}

bool CodeReader::fromNumbers(const Node& node) const
{
    bool takesTensors = false;
    for (const torch::jit::Value* input : node.inputs()) {
        if (!known(input).values.empty()) return false;
        takesTensors = takesTensors || holdsTensor(*input->type());
    }
    return takesTensors;
}

void CodeReader::addOperator(const Node& node)
{
    const c10::FunctionSchema* schema = node.maybeSchema();
    ir::Op op = m_location.newOp(node.kind().toQualString(), schema ? schema->overload_name() : std::string());
    op.id = ir::OpId(m_program.ops.size());
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
        op.args.push_back(argumentOf(known(node.inputs()[i]).values));
        op.argInfo.push_back({schema && i < schema->arguments().size() ? schema->arguments()[i].name() : "", {}});
    }
    for (std::size_t i = 0; i < std::max<std::size_t>(node.outputs().size(), 1); ++i) {
        ir::Value value;
        value.producer = op.id;
        value.output = static_cast<int>(i);
        op.outputs.push_back(addValue(std::move(value)));
        if (i < node.outputs().size()) set(node.outputs()[i], {{op.outputs.back()}, {}, {}});
    }
    if (writesInPlace(op.name) && !node.inputs().empty()) set(node.inputs()[0], {{op.outputs.front()}, {}, {}});
    m_program.ops.push_back(std::move(op));
}

ir::Program readCode(const Model& model, const base::TensorMap& sample, const std::string& where)
{
    CodeReader reader(where);
    try {
        reader.read(model.impl().module, sample);
    } catch (const std::exception&) {
        // The operators read so far are shown; the reason why the model cannot be used is already known.
    }
    return std::move(reader.program());
}

}  // namespace hopscope::loader
