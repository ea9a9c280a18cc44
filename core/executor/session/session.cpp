#include "executor/session/session.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <ATen/Parallel.h>

#include "analysis/naming/value_names.h"
#include "analysis/stored.h"
#include "graph/file.h"
#include "loader/tensors.h"

namespace hopscope::executor {

namespace {

std::int64_t bytesOf(base::DType type, const std::vector<std::int64_t>& shape)
{
    return c10::multiply_integers(shape) * static_cast<std::int64_t>(base::itemSize(type));
}

}  // namespace

double steadySeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Session::Session(Structure& graph, const analysis::Analysis& a, const plan::Plan& p, const Options& o,
                 Observer& listener, std::stop_token stopToken)
    : analysis(a),
      plan(p),
      options(o),
      observer(listener),
      stop(stopToken),
      gpus(devicesOf(o.device).size()),
      device(devicesOf(o.device).front()),
      m_shared(std::make_shared<Shared>()),
      structure(graph),
      caller(a, structure.numbers()),
      choice(a, p, graph.same(), device.gpu(), o.journal != nullptr),
      residents(*this, choice),
      stores(m_shared->stores),
      spares(o.folder),
      reducers(m_shared->reducers),
      report(m_shared->report),
      m_mutex(m_shared->mutex),
      m_began(steadySeconds())
{}

Session::Session(Session& first, const std::string& gpu)
    : analysis(first.analysis),
      plan(first.plan),
      options(first.options),
      observer(first.observer),
      stop(first.stop),
      gpus(first.gpus),
      device(gpu),
      m_shared(first.m_shared),
      structure(first.structure),
      caller(analysis, structure.numbers()),
      choice(first.choice),
      residents(*this, choice),
      stores(m_shared->stores),
      spares(options.folder),
      reducers(m_shared->reducers),
      report(m_shared->report),
      m_mutex(m_shared->mutex),
      m_began(first.m_began)
{}

void Session::noteOnce(const std::string& sentence)
{
    const std::lock_guard lock(m_mutex);
    if (std::ranges::find(report.notes, sentence) != report.notes.end()) return;
    report.notes.push_back(sentence);
    observer.note(sentence);
}

double Session::seconds() const { return steadySeconds() - m_began; }

void Session::checkStop() const
{
    if (stop.stop_requested()) raise(base::ErrorCode::Cancelled, "cancelled");
}

bool Session::standsIn(ir::ValueId id) const
{
    const bool mask = analysis.program.value(id).dtype == base::DType::Bool && analysis.info(id).structureOnly;
    return standIn && !mask;
}

Table Session::table(ir::ValueId id)
{
    const auto it = stores.find(id);
    if (it != stores.end()) return {it->second->tensor(), numbers(id)};
    const at::Tensor given = standsIn(id) ? standIn(id) : at::Tensor();
    return {given.defined() ? given : structure.value(id)};
}

Table Session::table(ir::ValueId id, const LoopProgram& program)
{
    const auto base = program.reshaped.find(id);
    if (base == program.reshaped.end()) return table(id);
    Table found = table(base->second);
    found.rows = found.rows.view(shapeOf(analysis, id, structure.sizes()));
    return found;
}

at::Tensor Session::inputTable(ir::ValueId id)
{
    Table found = table(id);
    require(found.numbers == Numbers::Input,
            "rows are read in the order of the input, but are stored in a different one");
    return std::move(found.rows);
}

Numbers Session::numbers(ir::ValueId id) const
{
    const bool stored = analysis.hasRows(id) && !analysis.available(id);
    return stored && !options.journal && !device.gpu() && structure.nodeAt(analysis.rowSpace(id)) ? Numbers::Places
                                                                                                  : Numbers::Input;
}

Numbers Session::numbers(ir::ValueId id, const LoopProgram& program) const
{
    const auto base = program.reshaped.find(id);
    return numbers(base == program.reshaped.end() ? id : base->second);
}

at::Tensor Session::ownedValue(ir::ValueId id, const ir::RowClass& rows)
{
    const at::Tensor given = standsIn(id) ? standIn(id) : at::Tensor();
    return given.defined() ? given : structure.ownedValue(id, rows);
}

at::Tensor Session::whole(ir::ValueId id)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_whole.find(id);
    if (it != m_whole.end()) return it->second;
    if (const at::Tensor given = standsIn(id) ? standIn(id) : at::Tensor(); given.defined())
        return m_whole[id] = given.to(device.device());
    at::Tensor t = analysis.available(id) ? structure.value(id).to(device.device())
                                          : evaluateWhole(analysis.program.op(analysis.program.value(id).producer), id);
    return m_whole[id] = std::move(t);
}

std::map<ir::ValueId, std::int64_t> Session::wholeBytes() const
{
    std::map<ir::ValueId, std::int64_t> bytes;
    for (const auto& [value, tensor] : m_whole) bytes[value] = 0;
    std::set<const void*> counted;
    for (auto& [value, size] : bytes) {
        const at::Tensor& t = m_whole.at(value);
        if (!t.has_storage() || !counted.insert(t.storage().unsafeGetStorageImpl()).second) continue;
        size = countedOnGpu(static_cast<std::int64_t>(t.storage().nbytes()));
    }
    return bytes;
}

at::Tensor Session::evaluateWhole(const ir::Op& op, ir::ValueId id)
{
    const analysis::OpInfo& info = analysis.info(op.id);
    require(info.kind != analysis::OpKind::Reduce, "a reduction is used before its stage has finished",
            ir::describeOp(op));
    if (analysis.hasRows(id))
        raise(base::ErrorCode::Internal, "all rows of " + analysis::nameOfValue(analysis, id) + " are needed at once",
              {}, ir::describeOp(op));
    CallContext context;
    context.localSizes = context.globalSizes = structure.sizes();
    context.device = device.device();
    context.operand = [&](ir::Slot slot, ir::ValueId v) {
        if (info.use(slot).use != analysis::Use::Shape) return whole(v);
        const auto like =
            at::TensorOptions().dtype(loader::scalarType(analysis.program.value(v).dtype)).device(device.device());
        return at::zeros({}, like).expand(shapeOf(analysis, v, structure.sizes()));
    };
    std::vector<at::Tensor> results = caller.call(op, context);
    for (std::size_t i = 0; i < results.size(); ++i) m_whole[op.outputs[i]] = std::move(results[i]);
    return m_whole.at(id);
}

Reducer& Session::reducer(ir::OpId op)
{
    const std::lock_guard lock(m_mutex);
    return reducers.try_emplace(op, analysis, op).first->second;
}

void Session::adopt(ir::ValueId id, const at::Tensor& host)
{
    const std::lock_guard lock(m_mutex);
    m_whole[id] = host.to(device.device());
}

void Session::finishReduction(ir::OpId op)
{
    const auto it = reducers.find(op);
    const ir::Op& o = analysis.program.op(op);
    require(it != reducers.end(), "a reduction was never started", ir::describeOp(o));
    it->second.moveTo(device.device());
    at::Tensor initial;
    if (const auto slot = it->second.initialSlot())
        initial = whole(*o.args.at(static_cast<std::size_t>(slot->arg)).value());
    m_whole[o.outputs.at(0)] = it->second.finish(initial, device.device());
    reducers.erase(it);
}

// Outputs are named as results, other stored values after their value.
std::string Session::storeName(ir::ValueId id) const
{
    for (const ir::NamedValue& o : analysis.program.outputs)
        if (o.value == id) return o.name;
    return ir::valueName(id);
}

bool Session::isOutput(ir::ValueId id) const
{
    return std::ranges::any_of(analysis.program.outputs, [id](const auto& o) { return o.value == id; });
}

graph::Lasting Session::lasting() const
{
    if (others()) return graph::Lasting::Shared;
    return options.journal ? graph::Lasting::Yes : graph::Lasting::No;
}

bool Session::staysInMemory(ir::ValueId id) const { return !options.journal && !isPublished(id); }

std::int64_t Session::storeBytes(ir::ValueId id) const
{
    return bytesOf(analysis::storedType(analysis, id, storeType()), shapeOf(analysis, id, structure.sizes()));
}

std::shared_ptr<Store> Session::newStore(ir::ValueId id)
{
    if (std::shared_ptr<Store> made = ready.take(id)) return made;
    std::shared_ptr<std::byte> memory;
    if (const at::Tensor pinned = residents.pinned(id); pinned.defined())
        memory = {static_cast<std::byte*>(pinned.mutable_data_ptr()), [pinned](std::byte*) {}};
    else if (staysInMemory(id)) memory = graph::readyScratch(storeBytes(id) + Store::bytesAhead, at::get_num_threads());
    if (!memory) return storeInSpareFile(id);
    return std::make_shared<Store>(std::move(memory), analysis::nameOfValue(analysis, id),
                                   analysis::storedType(analysis, id, storeType()),
                                   shapeOf(analysis, id, structure.sizes()), analysis.rowDim(id), structure.scratch());
}

std::shared_ptr<Store> Session::storeInFile(ir::ValueId id, std::optional<graph::NewFile> spare) const
{
    return std::make_shared<Store>(options.folder, storeName(id), analysis::nameOfValue(analysis, id),
                                   analysis::storedType(analysis, id, storeType()),
                                   shapeOf(analysis, id, structure.sizes()), analysis.rowDim(id), structure.scratch(),
                                   lasting(), std::move(spare));
}

std::shared_ptr<Store> Session::storeInSpareFile(ir::ValueId id)
{
    std::shared_ptr<Store> made = storeInFile(id, spares.take(storeBytes(id)));
    spares.shorten(made);
    return made;
}

Store& Session::createStore(ir::ValueId id)
{
    const auto it = stores.find(id);
    if (it != stores.end()) return *it->second;
    std::shared_ptr<Store> made = newStore(id);
    if (isPublished(id) && lasting() == graph::Lasting::No) made->flushBehind();
    return *stores.emplace(id, std::move(made)).first->second;
}

std::shared_ptr<Store> Session::inInputOrder(ir::ValueId id)
{
    std::shared_ptr<Store> found = stores.at(id);
    if (numbers(id) == Numbers::Input) return found;
    auto made = storeInSpareFile(id);
    if (isOutput(id)) made->flushBehind();
    made->writePicked(found->tensor(), structure.placeOf(analysis.rowSpace(id)));
    return made;
}

}  // namespace hopscope::executor
