#include "loader/walk/recorder.h"

#include "loader/walk/sharing.h"
#include "operators/operators.h"

namespace hopscope::loader {

namespace {

using ir::Origin;
using ir::ValueId;
using ir::ValueKind;

constexpr std::int64_t kLiteralElements = 64;

ValueKind kindOf(const c10::IValue& leaf)
{
    if (leaf.isInt()) return ValueKind::Int;
    if (leaf.isDouble()) return ValueKind::Float;
    return leaf.isBool() ? ValueKind::Bool : ValueKind::Tensor;
}

double numberOf(const c10::IValue& leaf)
{
    if (leaf.isInt()) return static_cast<double>(leaf.toInt());
    if (leaf.isDouble()) return leaf.toDouble();
    return leaf.isBool() && leaf.toBool() ? 1 : 0;
}

std::vector<double> literalOf(const at::Tensor& tensor)
{
    if (tensor.layout() != at::kStrided || tensor.numel() > kLiteralElements || tensor.is_complex()) return {};
    const at::Tensor flat = tensor.to(at::kDouble).contiguous();
    return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

void remap(ir::Arg& arg, const std::vector<ValueId>& ids)
{
    if (auto* v = std::get_if<ValueId>(&arg.data)) *v = ids[v->at()];
    if (auto* list = std::get_if<ir::ArgList>(&arg.data))
        for (ir::Arg& item : *list) remap(item, ids);
}

}  // namespace

int Recorder::memoryOf(const at::Tensor& tensor)
{
    const void* storage = storageOf(tensor);
    if (!storage) return -1;
    const auto [it, isNew] = m_memories.try_emplace(storage);
    if (isNew) {
        it->second.number = static_cast<int>(m_memories.size()) - 1;
        it->second.weak = tensor.storage().getWeakStorageImpl();
    }
    return it->second.number;
}

ir::Value Recorder::describe(const c10::IValue& leaf, Origin origin)
{
    ir::Value value;
    value.kind = kindOf(leaf);
    value.origin = origin;
    value.number = numberOf(leaf);
    if (!leaf.isTensor() || !leaf.toTensor().defined()) return value;
    const at::Tensor& tensor = leaf.toTensor();
    auto dtype = dtypeOf(tensor.scalar_type());
    if (!dtype) throw Refused{dtype.error()};
    value.dtype = *dtype;
    value.shape = tensor.sizes().vec();
    value.layoutSparse = tensor.layout() != at::kStrided;
    value.memory = memoryOf(tensor);
    return value;
}

ValueId Recorder::add(ir::Value value, State state)
{
    value.id = ValueId(m_program.values.size());
    m_program.values.push_back(std::move(value));
    m_states.push_back(std::move(state));
    return m_program.values.back().id;
}

ValueId Recorder::input(const std::string& name, const c10::IValue& leaf)
{
    ir::Value value = describe(leaf, Origin::Input);
    value.name = name;
    const at::Tensor tensor = leaf.isTensor() ? leaf.toTensor() : at::Tensor();
    const bool strided = storageOf(tensor) && !tensor.is_contiguous();
    const ValueId id = add(
        std::move(value),
        {.tensor = {}, .storage = storageOf(tensor), .fromInput = true, .literal = false, .layout = {strided, false}});
    m_program.inputs.push_back({name, id});
    return id;
}

ValueId Recorder::parameter(const std::string& name, const at::Tensor& tensor)
{
    if (const auto it = m_known.find(tensor.unsafeGetTensorImpl()); it != m_known.end()) return it->second;
    ir::Value value = describe(tensor, Origin::Parameter);
    value.name = name;
    return m_known[tensor.unsafeGetTensorImpl()] = add(
               std::move(value),
               {.tensor = tensor, .storage = storageOf(tensor), .fromInput = false, .literal = false, .layout = {}});
}

ValueId Recorder::constant(const at::Tensor& tensor)
{
    if (const auto it = m_known.find(tensor.unsafeGetTensorImpl()); it != m_known.end()) return it->second;
    const State state{
        .tensor = tensor, .storage = storageOf(tensor), .fromInput = false, .literal = true, .layout = {}};
    return m_known[tensor.unsafeGetTensorImpl()] = add(describe(tensor, Origin::Constant), state);
}

ValueId Recorder::constantNumber(const c10::IValue& number)
{
    return add(describe(number, Origin::Constant),
               {.tensor = {}, .storage = nullptr, .fromInput = false, .literal = true, .layout = {}});
}

Layout Recorder::layoutAfter(const ir::Op& op) const
{
    const operators::Operator& known = operators::of(op.name);
    Layout layout{false, op.name == "scalar::item" || known.traits.countsContent};
    bool masks = false;
    ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
        const Layout& own = m_states[v.at()].layout;
        layout.strided = layout.strided || own.strided;
        masks = masks || m_program.value(v).dtype == base::DType::Bool;
    });
    if (known.rule == operators::Rule::Index) layout.counted = masks;  // row numbers count nothing
    ir::forEachOperand(op, [&](ir::Slot, ValueId v) { layout.counted |= m_states[v.at()].layout.counted; });
    return layout;
}

std::vector<ValueId> Recorder::append(ir::Op op, const std::vector<c10::IValue>& results)
{
    const Layout layout = layoutAfter(op);
    bool fromInput = false, literal = op.mutatedArg < 0;
    ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
        const State& state = m_states[v.at()];
        fromInput = fromInput || state.fromInput || m_tainted.contains(state.storage);
        literal = literal && state.literal;
    });
    op.id = ir::OpId(m_program.ops.size());
    for (const c10::IValue& result : results) {
        ir::Value value = describe(result, Origin::Op);
        value.producer = op.id;
        value.output = static_cast<int>(op.outputs.size());
        const at::Tensor tensor = result.isTensor() ? result.toTensor() : at::Tensor();
        op.outputs.push_back(add(std::move(value), {.tensor = literal ? tensor : at::Tensor(),
                                                    .storage = storageOf(tensor),
                                                    .fromInput = fromInput,
                                                    .literal = literal,
                                                    .layout = layout}));
    }
    m_program.ops.push_back(std::move(op));
    return m_program.ops.back().outputs;
}

void Recorder::beforeWrite(const at::Tensor& tensor)
{
    const void* storage = storageOf(tensor);
    if (m_written.contains(storage)) return;
    for (const State& state : m_states) {
        if (state.storage != storage || !state.tensor.defined()) continue;
        m_backups.push_back({state.tensor, state.tensor.clone()});
    }
}

void Recorder::afterWrite(const at::Tensor& tensor, bool fromInput)
{
    const void* storage = storageOf(tensor);
    if (!storage) return;
    m_written.emplace(storage, tensor.storage());
    if (fromInput) m_tainted.insert(storage);
}

bool Recorder::fromInput(const Item& item) const
{
    return anyLeaf(item, [&](const Item& leaf) {
        if (!leaf.value.valid()) return false;
        const State& state = m_states[leaf.value.at()];
        return state.fromInput || m_tainted.contains(state.storage);
    });
}

bool Recorder::written(const at::Tensor& tensor) const { return m_written.contains(storageOf(tensor)); }

void Recorder::restore()
{
    const at::NoGradGuard noGrad;
    for (const Backup& backup : m_backups) at::Tensor(backup.tensor).copy_(backup.copy);
    m_backups.clear();
}

bool Recorder::foldable(const ir::Op& op, const std::vector<bool>& folded) const
{
    if (op.mutatedArg >= 0) return false;
    bool constant = true;
    ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
        const ir::Value& value = m_program.value(v);
        const bool known =
            value.origin == Origin::Constant || (value.origin == Origin::Op && folded[value.producer.at()]);
        constant = constant && known && !m_written.contains(m_states[v.at()].storage);
    });
    for (const ValueId v : op.outputs) {
        const State& state = m_states[v.at()];
        constant = constant && !m_written.contains(state.storage) &&
                   (state.tensor.defined() || m_program.value(v).kind != ValueKind::Tensor);
    }
    return constant;
}

// The operator that fills the tensor into which this one aggregates: the size of the tensor can be that of a table.
std::optional<ir::OpId> Recorder::filledBefore(const ir::Op& op) const
{
    const operators::Rule rule = operators::of(op.name).rule;
    const bool aggregates = rule == operators::Rule::Scatter || rule == operators::Rule::IndexPut;
    const ValueId* const into = aggregates && !op.args.empty() ? op.args.front().value() : nullptr;
    if (into == nullptr || m_program.value(*into).origin != Origin::Op) return std::nullopt;
    const ir::OpId producer = m_program.value(*into).producer;
    const bool fills = operators::of(m_program.op(producer).name).rule == operators::Rule::Fill;
    return fills ? std::optional(producer) : std::nullopt;
}

std::vector<bool> Recorder::foldedOps() const
{
    std::vector<bool> folded(m_program.ops.size());
    for (const ir::Op& op : m_program.ops) folded[op.id.at()] = foldable(op, folded);
    for (const ir::Op& op : m_program.ops)
        if (const auto fill = folded[op.id.at()] ? std::nullopt : filledBefore(op)) folded[fill->at()] = false;
    return folded;
}

std::vector<bool> Recorder::liveOps(const std::vector<bool>& folded) const
{
    std::vector<bool> needed(m_program.values.size()), live(m_program.ops.size());
    for (const ir::NamedValue& output : m_program.outputs) needed[output.value.at()] = true;
    for (const ir::Guard& guard : m_program.guards) needed[guard.condition.at()] = true;
    for (std::size_t i = m_program.ops.size(); i-- > 0;) {
        const ir::Op& op = m_program.ops[i];
        bool used = op.mutatedArg >= 0;
        for (const ValueId v : op.outputs) used = used || needed[v.at()];
        live[i] = used && !folded[i];
        if (live[i]) ir::forEachOperand(op, [&](ir::Slot, ValueId v) { needed[v.at()] = true; });
    }
    return live;
}

void Recorder::makeConstant(ir::Value& value) const
{
    value.origin = Origin::Constant;
    value.producer = {};
    value.output = 0;
    const at::Tensor& tensor = m_states[value.id.at()].tensor;
    if (tensor.defined()) value.literal = literalOf(tensor);
}

std::vector<bool> Recorder::usedValues(const std::vector<bool>& live) const
{
    std::vector<bool> used(m_program.values.size());
    for (const ir::NamedValue& v : m_program.inputs) used[v.value.at()] = true;
    for (const ir::NamedValue& v : m_program.outputs) used[v.value.at()] = true;
    for (const ir::Op& op : m_program.ops) {
        if (!live[op.id.at()]) continue;
        ir::forEachOperand(op, [&](ir::Slot, ValueId v) { used[v.at()] = true; });
        for (const ValueId v : op.outputs) used[v.at()] = true;
    }
    return used;
}

std::vector<ir::OpId> Recorder::takeOps(const std::vector<bool>& live, ir::Program& out)
{
    std::vector<ir::OpId> ids(m_program.ops.size());
    for (std::size_t old = 0; old < m_program.ops.size(); ++old) {
        if (!live[old]) continue;
        ids[old] = ir::OpId(out.ops.size());
        out.ops.push_back(std::move(m_program.ops[old]));
        out.ops.back().id = ids[old];
    }
    return ids;
}

Walk Recorder::finish()
{
    restore();
    const std::vector<bool> folded = foldedOps(), live = liveOps(folded), used = usedValues(live);
    Walk walk;
    auto tensors = std::make_shared<Walk::Tensors>();
    const std::vector<ir::OpId> opIds = takeOps(live, walk.program);
    std::vector<ValueId> ids(m_program.values.size());
    for (ir::Value& value : m_program.values) {
        const std::size_t old = value.id.at();
        if (!used[old]) continue;
        const bool made = value.origin == Origin::Op;
        if (value.origin == Origin::Constant || (made && folded[value.producer.at()])) makeConstant(value);
        else if (made) value.producer = opIds[value.producer.at()];
        value.id = ids[old] = ValueId(walk.program.values.size());
        const at::Tensor& tensor = m_states[old].tensor;
        const bool stands = value.origin == Origin::Constant || value.origin == Origin::Parameter;
        if (stands && tensor.defined()) tensors->byValue[value.id.index] = tensor.detach();
        walk.program.values.push_back(std::move(value));
    }
    renumber(walk.program, ids);
    walk.tensors = std::move(tensors);
    return walk;
}

// Puts the new ids into operators, and takes over what names values.
void Recorder::renumber(ir::Program& out, const std::vector<ValueId>& ids) const
{
    for (ir::Op& op : out.ops) {
        for (ir::Arg& arg : op.args) remap(arg, ids);
        for (ValueId& v : op.outputs) v = ids[v.at()];
    }
    out.inputs = m_program.inputs;
    out.outputs = m_program.outputs;
    out.guards = m_program.guards;
    for (ir::NamedValue& v : out.inputs) v.value = ids[v.value.at()];
    for (ir::NamedValue& v : out.outputs) v.value = ids[v.value.at()];
    for (ir::Guard& guard : out.guards) guard.condition = ids[guard.condition.at()];
}

}  // namespace hopscope::loader
