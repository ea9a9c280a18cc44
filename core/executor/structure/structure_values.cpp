// Structure: inputs, weights and the values of the prologue.

#include <set>
#include <utility>

#include <ATen/ATen.h>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "executor/memory.h"
#include "executor/program/loop_program.h"
#include "executor/structure.h"
#include "executor/structure/owned_rows.h"
#include "loader/tensors.h"

namespace hopscope::executor {

using base::ErrorCode;

namespace {

bool isMade(const analysis::Analysis& analysis, ir::ValueId id)
{
    return analysis.program.value(id).origin == ir::Origin::Op;
}

}  // namespace

Structure::Structure(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                     const std::string& scratchFolder, int threads, std::stop_token stop)
    : m_analysis(analysis),
      m_scratch(scratchFolder),
      m_threads(threads),
      m_stop(std::move(stop)),
      m_same(analysis),
      m_numbers(analysis, [this](ir::ValueId id) { return value(id); }),
      m_caller(analysis, m_numbers),
      m_columns(
          analysis, m_scratch, [this](ir::ValueId id) { return value(id); }, sizes()),
      m_adjacencies(
          analysis.tables, m_scratch, m_columns, sizes(), [this] { checkStop(); }, threads)
{
    bindLeaves(walk);
    bindInputs(walk, inputs);
}

void Structure::checkStop() const
{
    if (m_stop.stop_requested()) raise(ErrorCode::Cancelled, "cancelled");
}

namespace {

at::Tensor fromLiteral(const ir::Value& value)
{
    const at::Tensor t = at::tensor(value.literal, at::TensorOptions().dtype(at::kDouble));
    return t.to(loader::scalarType(value.dtype)).reshape(value.shape);
}

// The ones that the operator adds to a table of zeros; nullopt if it does something else.
std::optional<ir::ValueId> sumOfOnes(const analysis::Analysis& analysis, const ir::Op& op)
{
    const bool adds = op.name == "aten::scatter_add" || op.name == "aten::index_add";
    if (!adds || analysis.info(op.id).kind != analysis::OpKind::Aggregate || op.args.size() < 4) return std::nullopt;
    const ir::ValueId *const table = op.args[0].value(), *const message = op.args[3].value();
    const auto isVector = [&](const ir::ValueId* v) { return v && analysis.program.value(*v).shape.size() == 1; };
    if (!isVector(table) || !isVector(op.args[2].value()) || !isVector(message)) return std::nullopt;
    if (fillNumber(analysis.program, *table) != 0.0 || fillNumber(analysis.program, *message) != 1.0)
        return std::nullopt;
    const std::int64_t* const scale = op.args.size() > 4 ? op.args[4].integer() : nullptr;
    if (op.args.size() > 4 && !op.args[4].none() && (!scale || *scale != 1)) return std::nullopt;
    return *message;
}

// "adj.coo_size.1" is element 1 of the key "adj.coo_size".
at::Tensor elementOf(const base::TensorMap& inputs, const std::string& name)
{
    const auto dot = name.rfind('.');
    const auto whole = inputs.find(name.substr(0, dot));
    const std::string element = dot == std::string::npos ? "" : name.substr(dot + 1);
    if (whole == inputs.end() || (element != "0" && element != "1")) raise(ErrorCode::Input, "the data has no " + name);
    return loader::toTensor(whole->second).select(0, element == "1" ? 1 : 0);
}

}  // namespace

// Weights and large constants lie in the walk under their ids in the raw program; small constants are literals.
void Structure::bindLeaves(const loader::Walk& walk)
{
    for (const ir::Value& v : m_analysis.program.values) {
        if (v.kind != ir::ValueKind::Tensor || v.origin == ir::Origin::Input || v.origin == ir::Origin::Op) continue;
        const auto it = walk.tensors->byValue.find(v.raw.index);
        if (it == walk.tensors->byValue.end() && v.literal.empty())
            raise(ErrorCode::Internal, "the walk has no tensor for " + analysis::nameOfValue(m_analysis, v.id));
        m_values[v.id] = it != walk.tensors->byValue.end() ? it->second : fromLiteral(v);
        takeSizes(v.id, m_values[v.id]);
    }
}

void Structure::bindInputs(const loader::Walk&, const base::TensorMap& inputs)
{
    for (const ir::NamedValue& in : m_analysis.program.inputs) {
        const auto it = inputs.find(in.name);
        const ir::Value& value = m_analysis.program.value(in.value);
        if (it == inputs.end() && value.kind != ir::ValueKind::Tensor) {
            m_values[in.value] = elementOf(inputs, in.name);
            continue;
        }
        if (it == inputs.end()) raise(ErrorCode::Input, "the data has no " + in.name);
        if (value.kind != ir::ValueKind::Tensor) {
            m_values[in.value] = loader::toTensor(it->second);
            continue;
        }
        if (it->second.dtype != value.dtype)
            raise(ErrorCode::Input,
                  in.name + " is " + base::dtypeName(it->second.dtype) + " but was " + base::dtypeName(value.dtype) +
                      " on the sample",
                  {}, it->second.origin);
        at::Tensor tensor = loader::toTensor(it->second);
        takeSizes(in.value, tensor);
        m_values[in.value] = std::move(tensor);
    }
}

// Labelled dimensions give their tables' sizes; two that disagree are an error of the data.
void Structure::takeSizes(ir::ValueId id, const at::Tensor& tensor)
{
    const analysis::ValueInfo& info = m_analysis.info(id);
    const ir::Value& value = m_analysis.program.value(id);
    const std::string name = value.name.empty() ? analysis::nameOfValue(m_analysis, id) : value.name;
    if (tensor.dim() != static_cast<std::int64_t>(value.shape.size()))
        raise(ErrorCode::Input, name + " is " + std::to_string(tensor.dim()) + "-dimensional, not " +
                                    std::to_string(value.shape.size()) + "-dimensional");
    // Offsets have one number more than there are destinations.
    if (info.compressed && info.compressed->part == analysis::OffsetsPart::All)
        return takeSize(info.compressed->rows.target, tensor.size(0) - 1, name);
    for (std::size_t d = 0; d < info.dims.size(); ++d) {
        const std::int64_t n = tensor.size(static_cast<std::int64_t>(d));
        if (info.dims[d].valid()) takeSize(info.dims[d], n, name);
        else if (n != value.shape[d])
            raise(ErrorCode::Input, name + " has size " + std::to_string(n) + " in dimension " + std::to_string(d) +
                                        ", not " + std::to_string(value.shape[d]));
    }
}

void Structure::takeSize(ir::SpaceId table, std::int64_t rows, const std::string& name)
{
    const auto [it, fresh] = m_sizes.try_emplace(table, rows);
    if (fresh || it->second == rows) return;
    raise(ErrorCode::Input, name + " gives " + analysis::tableLabel(m_analysis.tables, table) +
                                " this number of rows: " + std::to_string(rows) + ", but another tensor gives " +
                                std::to_string(it->second));
}

at::Tensor Structure::value(ir::ValueId wanted)
{
    const std::lock_guard lock(m_mutex);
    const ir::ValueId id = m_same.first(wanted);
    if (const auto it = m_values.find(id); it != m_values.end()) return it->second;
    const ir::Value& value = m_analysis.program.value(id);
    if (value.origin != ir::Origin::Op || (!m_features && !m_analysis.available(id)))
        raise(ErrorCode::Internal,
              analysis::nameOfValue(m_analysis, id) + " is needed before the first stage, but depends on features", {},
              analysis::placeOfValue(m_analysis, id));
    evaluate(m_analysis.program.op(value.producer), id);
    return m_values.at(id);
}

bool Structure::has(ir::ValueId value)
{
    const std::lock_guard lock(m_mutex);
    return m_values.contains(m_same.first(value));
}

// Called without the lock, since other threads request sizes.
at::Tensor Structure::ownedValue(ir::ValueId value, const ir::RowClass& rows)
{
    const std::pair wanted{m_same.first(value), rows};
    {
        const std::lock_guard lock(m_mutex);
        const auto it = m_ownedValues.find(wanted);
        if (it != m_ownedValues.end()) return it->second;
    }
    checkStop();
    at::Tensor made = OwnedRows(*this, m_analysis, m_caller, rows).compute(wanted.first);
    const std::lock_guard lock(m_mutex);
    return m_ownedValues.emplace(wanted, std::move(made)).first->second;
}

at::Tensor Structure::dummy(ir::ValueId id)
{
    const auto dtype = loader::scalarType(m_analysis.program.value(id).dtype);
    return at::zeros({}, at::TensorOptions().dtype(dtype)).expand(shapeOf(m_analysis, id, sizes()));
}

void Structure::evaluate(const ir::Op& op, ir::ValueId wanted)
{
    checkStop();
    const analysis::OpInfo& info = m_analysis.info(op.id);
    CallContext context;
    context.localSizes = context.globalSizes = sizes();
    context.operand = [&](ir::Slot slot, ir::ValueId v) {
        return info.use(slot).use == analysis::Use::Shape && !m_values.contains(m_same.first(v)) &&
                       m_analysis.knownShape(v)
                   ? dummy(v)
                   : value(v);
    };
    if (op.name == "scalar::tensor") {
        const Number n = m_numbers.evaluate(op.outputs[0], sizes());
        m_values[op.outputs[0]] = at::scalar_tensor(
            n.scalar(), at::TensorOptions().dtype(loader::scalarType(m_analysis.program.value(op.outputs[0]).dtype)));
        return;
    }
    if (auto counted = degrees(op)) {
        m_values[op.outputs[0]] = std::move(*counted);
    } else {
        std::vector<at::Tensor> results = m_caller.call(op, context);
        for (std::size_t i = 0; i < results.size(); ++i) m_values[op.outputs[i]] = std::move(results[i]);
    }
    release(op, wanted);
}

// A sum of ones is the number of rows, which an adjacency knows.
std::optional<at::Tensor> Structure::degrees(const ir::Op& op)
{
    const analysis::OpInfo& info = m_analysis.info(op.id);
    const auto message = sumOfOnes(m_analysis, op);
    const graph::Adjacency* const known = message ? m_adjacencies.known(info.role.space, info.role.key) : nullptr;
    if (!known) return std::nullopt;
    const auto numbers = [](const std::int64_t* from, std::int64_t count) {
        return at::from_blob(const_cast<std::int64_t*>(from), {count}, at::TensorOptions().dtype(at::kLong));
    };
    at::Tensor counts = at::diff(numbers(known->offsets(), known->targets() + 1));
    if (const std::int64_t* const places = placeOf(m_analysis.tables.target(info.role.space, info.role.key)))
        counts = counts.index_select(0, numbers(places, counts.numel()));
    return counts.to(loader::scalarType(m_analysis.program.value(op.outputs[0]).dtype));
}

namespace {

// Finds the single numbers that the prologue reads from tensors.
std::vector<ir::ValueId> numbersRead(const analysis::Analysis& analysis)
{
    std::vector<ir::ValueId> found;
    for (const ir::Op& op : analysis.program.ops) {
        if (op.name != "scalar::item" || op.outputs.empty()) continue;
        const ir::ValueId from = *op.args.at(0).value();
        if (analysis.info(from).structureOnly) found.push_back(from);
    }
    return found;
}

// Sizes and single numbers are requested only when they are needed, by which time inputs that they follow from may be
// gone.
void findNumbers(Structure& structure, const analysis::Analysis& analysis)
{
    for (const ir::Op& op : analysis.program.ops) {
        if (!ir::isScalarOp(op) || op.outputs.empty()) continue;
        const auto& size = analysis.info(op.outputs[0]).size;
        for (const auto& [table, factor] : size ? size->sizes : std::map<ir::SpaceId, std::int64_t>{})
            (void)structure.size(table);
    }
    for (const ir::ValueId v : numbersRead(analysis)) (void)structure.value(v);
}

}  // namespace

std::vector<ir::ValueId> definingValues(const analysis::Analysis& analysis)
{
    std::vector<ir::ValueId> values;
    for (const analysis::Space& s : analysis.tables.spaces) {
        values.insert(values.end(), {s.selector, s.index});
        values.insert(values.end(), std::begin(s.columns), std::end(s.columns));
    }
    for (const analysis::Key& k : analysis.tables.keys) values.push_back(k.column);
    return values;
}

void Structure::keep(const std::unordered_set<ir::ValueId>& values, const std::unordered_set<ir::ValueId>& owned)
{
    const auto keepOne = [this](ir::ValueId v) {
        if (v.valid()) m_kept.insert(m_same.first(v));
    };
    for (const ir::ValueId v : values) keepOne(v);
    for (const ir::ValueId v : definingValues(m_analysis)) keepOne(v);
    std::unordered_set<ir::OpId> seen;
    for (ir::ValueId v : m_kept) countConsumers(v, seen);
    for (ir::ValueId v : owned) countConsumers(m_same.first(v), seen);
    for (const ir::ValueId v : numbersRead(m_analysis)) countConsumers(m_same.first(v), seen);
}

void Structure::dropOthers()
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_values, [this](const auto& value) {
        return isMade(m_analysis, value.first) && m_analysis.hasRows(value.first) && !m_kept.contains(value.first);
    });
}

void Structure::forgetInput(ir::ValueId input)
{
    const std::lock_guard lock(m_mutex);
    const analysis::ValueInfo& info = m_analysis.info(input);
    if (info.role) (void)size(info.role->target);
    for (const analysis::Role& role : info.pairRoles) (void)size(role.target);
    if (!std::exchange(m_numbersFound, true)) findNumbers(*this, m_analysis);  // while all inputs exist
    m_values.erase(input);
}

void Structure::countConsumers(ir::ValueId id, std::unordered_set<ir::OpId>& seen)
{
    std::vector<ir::ValueId> open{id};
    while (!open.empty()) {
        const ir::Value& value = m_analysis.program.value(open.back());
        open.pop_back();
        if (value.origin != ir::Origin::Op || !seen.insert(value.producer).second) continue;
        ir::forEachOperand(m_analysis.program.op(value.producer), [&](ir::Slot, ir::ValueId operand) {
            const ir::ValueId v = m_same.first(operand);
            ++m_consumers[v];
            open.push_back(v);
        });
    }
}

// Drops operands that no later operator of the prologue and no stage needs, and unused ones of several results; keeps
// single numbers, from which sizes may follow.
void Structure::release(const ir::Op& op, ir::ValueId wanted)
{
    if (m_kept.empty()) return;
    ir::forEachOperand(op, [&](ir::Slot, ir::ValueId operand) {
        const ir::ValueId v = m_same.first(operand);
        if (--m_consumers[v] > 0 || m_kept.contains(v)) return;
        if (isMade(m_analysis, v) && !m_analysis.program.value(v).shape.empty()) m_values.erase(v);
    });
    for (ir::ValueId v : op.outputs)
        if (m_consumers[v] <= 0 && !m_kept.contains(v) && v != wanted) m_values.erase(v);
}

std::int64_t Structure::heldBytes() const
{
    std::set<const void*> storages;  // of inputs and weights first: computed values may be views of them
    for (const auto& [v, tensor] : m_values)
        if (!isMade(m_analysis, v) && tensor.has_storage()) storages.insert(tensor.storage().data());
    std::int64_t bytes = 0;
    const auto add = [&](const at::Tensor& tensor) {
        if (!tensor.has_storage()) return;
        const auto size = static_cast<std::int64_t>(tensor.storage().nbytes());
        if (size > 0 && size < spillThreshold && storages.insert(tensor.storage().data()).second)
            bytes += countedBytes(size);
    };
    for (const auto& [v, tensor] : m_values)
        if (isMade(m_analysis, v)) add(tensor);
    for (const auto& [v, tensor] : m_ownedValues) add(tensor);
    return bytes;
}

namespace {

// If edges were not sorted, forward would count places within groups that overlap, and overwrite its own messages.
void checkSorted(const analysis::Analysis& analysis, const ir::Op& op, const analysis::Role& role, const Column& keys)
{
    bool sorted = true;
    keys.with([&](const auto& key) {
        for (std::int64_t row = 1; row < keys.rows && sorted; ++row) sorted = key(row) >= key(row - 1);
    });
    if (sorted || keys.identity()) return;
    raise(ErrorCode::Input,
          "the rows of " + analysis::tableLabel(analysis.tables, role.space) +
              " are not sorted by the node that they belong to, and the model places them one after the other",
          "sort the edges by destination, as torch_geometric.utils.sort_edge_index(edge_index, sort_by_row=False) does",
          ir::describeOp(op));
}

void checkLargest(const analysis::Analysis& analysis, const analysis::MaxIndexGuard& guard, const at::Tensor& index,
                  std::int64_t size)
{
    const std::int64_t rows = index.numel() ? index.max().item<std::int64_t>() + 1 : 0;
    if (rows == size) return;
    raise(ErrorCode::Input,
          "the model derives its number of rows from the largest index into " +
              analysis::tableLabel(analysis.tables, guard.space) + ": " + std::to_string(rows) + ", but there are " +
              std::to_string(size),
          "pass the number of nodes to the model instead", ir::describeOp(analysis.program.op(guard.op)));
}

}  // namespace

void Structure::checkGuards()
{
    for (const ir::Guard& guard : m_analysis.program.guards) {
        const Number now = m_numbers.evaluate(guard.condition, sizes());
        if (now.asReal() == guard.taken) continue;
        const std::string place = ir::describeSource(guard.source);
        raise(ErrorCode::Input,
              "a branch or loop of the model took a different path on the real inputs than on the sample",
              "the control flow of the model depends on the graph: provide a sample that takes the same path",
              place.empty() ? ir::modulePath(guard.modules) : place);
    }
    for (const analysis::MaxIndexGuard& guard : m_analysis.maxIndexGuards)
        checkLargest(m_analysis, guard, value(guard.index), size(guard.space));
    for (const ir::Op& op : m_analysis.program.ops)
        if (const auto sorted = analysis::sortedRows(m_analysis, op))
            checkSorted(m_analysis, op, sorted->rows, column(sorted->rows.space, sorted->rows.key));
}

}  // namespace hopscope::executor
