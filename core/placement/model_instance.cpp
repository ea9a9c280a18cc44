#include "placement/model_instance.h"

#include <algorithm>
#include <deque>
#include <iterator>

#include "analysis/naming/value_names.h"
#include "analysis/rows/classes.h"
#include "optimiser/check_pins.h"
#include "placement/dep_table.h"
#include "placement/instance_pins.h"
#include "placement/numbered_values.h"
#include "placement/pins.h"

namespace hopscope::placement {

// An instance without pins, and the tables for looking up pins.
struct UnpinnedInstance {
    ModelInstance model;
    DepTable table;
    std::set<ir::ValueId> shared;  // sharedViews() of the pins that it was made for
    std::set<ir::ValueId>
        ownViews;  // with a node per consumer unless they are shared; other views may be shared or not
    InstancePins::NodesOfValues nodes = InstancePins::nodesOf(model);
};

namespace {

using analysis::Analysis;
using analysis::OperandRows;
using analysis::OpKind;
using analysis::Use;
using ir::OpId;
using ir::RowClass;
using ir::RowKind;
using ir::SpaceId;
using ir::ValueId;
using optimiser::Node;
using optimiser::NodeId;
using optimiser::NodeKind;
using optimiser::RelationId;
using optimiser::TypeId;

class Builder {
public:
    Builder(const Analysis& a, const CostModel& costs, StoredOn on)
        : m_a(a),
          m_costs(costs),
          m_names(a),
          m_table(a, [&a](ValueId v) { return isStorable(a, v); })
    {
        m_model.storedOn = on;
    }

    base::Result<UnpinnedInstance> build(std::set<ValueId> shared)
    {
        m_shared = std::move(shared);
        addTypes();
        for (const ir::NamedValue& o : m_a.program.outputs) addOutput(o.value);
        while (!m_open.empty() && m_error.empty()) {
            const NodeId next = m_open.front();
            m_open.pop_front();
            expand(next);
        }
        if (!m_error.empty()) return base::fail(base::ErrorCode::Unsupported, m_error);
        if (m_costs.residency().inPlace()) numberByValue(m_model, m_a, m_costs.residency());
        const SpaceId loop = instance().outputs.empty() ? SpaceId() : origin(instance().outputs.front()).loop;
        instance().stageCost = m_costs.stage(loop);
        instance().stages = optimiser::neededStages(instance());
        if (const base::Status ok = optimiser::check(instance()); !ok) return base::forward(ok);
        return UnpinnedInstance{.model = std::move(m_model),
                                .table = std::move(m_table),
                                .shared = std::move(m_shared),
                                .ownViews = std::move(m_ownViews)};
    }

private:
    using Key = std::tuple<ValueId, RowClass, NodeId>;  // with the consumer, for nodes that belong to one

    optimiser::Instance& instance() { return m_model.instance; }
    Node& node(NodeId id) { return instance().nodes[id.at()]; }
    ModelInstance::Origin& origin(NodeId id) { return m_model.origins[id.at()]; }

    void addTypes()
    {
        for (std::size_t i = 0; i < m_a.tables.spaces.size(); ++i) {
            if (m_a.tables.spaces[i].kind != analysis::SpaceKind::Node) continue;
            m_model.types.emplace_back(static_cast<std::int32_t>(i));
            instance().types.push_back(m_a.tables.spaceName(m_model.types.back()) + "#" + std::to_string(i));
        }
    }

    TypeId typeOf(SpaceId space) const
    {
        const auto it = std::ranges::find(m_model.types, space);
        return TypeId(static_cast<std::int32_t>(it - m_model.types.begin()));
    }

    void addOutput(ValueId v)
    {
        if (m_a.available(v) || m_a.program.value(v).kind != ir::ValueKind::Tensor) return;
        if (!m_a.hasRows(v)) {
            for (const NodeId r : reductionsBehind(v)) addResult(r);
            return;
        }
        const DepTable::Home home = m_table.home(v);
        if (home.stage >= DepTable::never) return refuse(v);
        const NodeId id = nodeOf(v, home.rows, {});
        node(id).noCheckpoint = false;
        addResult(id);
    }

    void addResult(NodeId id)
    {
        if (std::ranges::find(instance().outputs, id) == instance().outputs.end()) instance().outputs.push_back(id);
    }

    void refuse(ValueId v)
    {
        const ir::Value& value = m_a.program.value(v);
        const std::string place = value.producer.valid() ? ir::describeOp(m_a.program.op(value.producer)) : value.name;
        if (m_error.empty()) m_error = place + ": the placement problem cannot express where its rows are needed";
    }

    // ---- nodes

    // The name in errors: "convs.1 output (aten::relu in convs.1 (model.py:17))", numbered per node.
    std::string nameOf(ValueId v) const
    {
        const std::string place = analysis::placeOfValue(m_a, v);
        return m_names[v] + (place.empty() ? "" : " (" + place + ")") + "#" + std::to_string(m_model.origins.size());
    }

    NodeId add(const ModelInstance::Origin& from, NodeKind kind)
    {
        Node n;
        n.name = nameOf(from.value);
        n.kind = kind;
        n.type = typeOf(from.loop);
        n.rows = from.rows.kind == RowKind::Batch ? optimiser::RowKind::Node : optimiser::RowKind::Edge;
        instance().nodes.push_back(std::move(n));
        m_model.origins.push_back(from);
        return NodeId(static_cast<std::int32_t>(instance().nodes.size() - 1));
    }

    bool isInput(ValueId v) const { return m_a.available(v); }

    NodeId nodeOf(ValueId v, const RowClass& rows, NodeId consumer)
    {
        const Key key(v, rows, consumer);
        if (const auto it = m_nodes.find(key); it != m_nodes.end()) return it->second;
        const NodeId id = fresh(v, rows, consumer);
        m_nodes.emplace(key, id);
        return id;
    }

    NodeId fresh(ValueId v, const RowClass& rows, NodeId consumer)
    {
        const NodeId id = add({.value = v, .rows = rows, .loop = analysis::loopOf(m_a, rows)},
                              isInput(v) ? NodeKind::Input : NodeKind::Op);
        m_consumers.push_back(consumer);
        price(id);
        if (!isInput(v)) m_open.push_back(id);
        return id;
    }

    static RowClass frontierOf(const RowClass& rows) { return {RowKind::Frontier, rows.table, {}}; }

    void price(NodeId id)
    {
        const ModelInstance::Origin from = origin(id);
        Node& n = node(id);
        n.size = isInput(from.value) ? 0 : m_costs.bytes(from.value);
        n.readD = m_costs.read(from.value, from.rows, from.loop);
        if (from.rows.kind == RowKind::Batch)
            for (const SpaceId t : m_model.types) n.readF.push_back(m_costs.read(from.value, frontierOf(from.rows), t));
        raiseOwn(n.readF, n, n.readD);
        if (isInput(from.value)) return;
        n.write = m_costs.write(from.value, from.rows, from.loop);
        n.noCheckpoint = !maybeStored(from.value, from.rows);
        priceWork(n, from, m_consumers[id.at()]);
    }

    // The own frontier contains the own rows and costs no less, whatever the measured rates are.
    static void raiseOwn(std::vector<double>& frontier, const Node& n, double onOwnRows)
    {
        if (n.type.at() >= frontier.size()) return;  // on other rows, or of a type that check() refuses
        double& own = frontier[n.type.at()];
        own = std::max(own, onOwnRows);
    }

    // Where a value is complete, it can be stored unless it belongs to its consumers. Gathers that give rows of nodes
    // do not belong to them: frontiers cannot get these rows in any other way.
    bool maybeStored(ValueId v, const RowClass& rows)
    {
        const bool picksNodes = opInfo(v).kind == OpKind::Gather && rows.kind == RowKind::Batch;
        if (!whyNotStorable(m_a, v).empty() || (isFree(v) && !picksNodes)) return false;
        const bool complete = m_table.home(v).rows == rows;
        m_model.confined = m_model.confined || !complete;
        return complete || m_model.storedOn == StoredOn::AnyRows;
    }

    const analysis::OpInfo& opInfo(ValueId v) const { return m_a.info(m_a.program.value(v).producer); }
    bool isFree(ValueId v) const { return opInfo(v).view; }

    void priceWork(Node& n, const ModelInstance::Origin& from, NodeId consumer)
    {
        const ir::Value& value = m_a.program.value(from.value);
        const ValueId first = m_a.program.op(value.producer).outputs.at(0);
        if (value.output != 0 && m_nodes.contains({first, from.rows, consumer})) return;
        n.computeD = m_costs.compute(value.producer, from.rows, from.loop);
        if (from.rows.kind != RowKind::Batch) return;
        for (const SpaceId t : m_model.types)
            n.computeF.push_back(m_costs.compute(value.producer, frontierOf(from.rows), t));
        raiseOwn(n.computeF, n, n.computeD);
    }

    // ---- operands

    void expand(NodeId id)
    {
        if (origin(id).reduction) return expandReduction(id);
        const ModelInstance::Origin from = origin(id);
        const OpId op = m_a.program.value(from.value).producer;
        const auto operands = analysis::operandRows(m_a, op, from.rows);
        if (!operands) return refuse(from.value);
        for (const OperandRows& o : *operands) connect(id, o);
        if (node(id).kind == NodeKind::Op && !frontierPossible(id, op)) node(id).kind = NodeKind::Hop;
    }

    // Whether it can be computed on frontiers, as an op of the instance must where it has node rows and node operands.
    bool frontierPossible(NodeId id, OpId op)
    {
        if (node(id).rows == optimiser::RowKind::Edge) return true;
        const bool byEdges =
            std::ranges::any_of(node(id).loc, [&](NodeId u) { return node(u).rows == optimiser::RowKind::Edge; });
        return byEdges || analysis::operandRows(m_a, op, frontierOf(origin(id).rows)).has_value();
    }

    void connect(NodeId id, const OperandRows& o)
    {
        if (m_a.program.value(o.value).kind != ir::ValueKind::Tensor) return;
        const analysis::ValueInfo& info = m_a.info(o.value);
        if (o.rows.kind == RowKind::All) {
            if (!m_a.available(o.value))
                for (const NodeId r : reductionsBehind(o.value)) require(r, id);
            return;
        }
        if (m_a.available(o.value) && (info.uniform || info.sparse || !m_a.hasRows(o.value))) return;
        if (fromNoRows(o)) return;
        if (o.rows.kind != RowKind::Frontier) return local(id, o.value, o.rows);
        gather(id, o);
    }

    // Rows of an expanded weight, or values derived from rows that are all the same, such as the first state of a
    // recurrence: they are computed wherever they are needed.
    bool fromNoRows(const OperandRows& o) const
    {
        if (m_a.available(o.value)) return false;
        const auto operands = analysis::operandRows(m_a, m_a.program.value(o.value).producer, o.rows);
        return operands && std::ranges::all_of(*operands, [&](const OperandRows& operand) {
                   const bool tensor = m_a.program.value(operand.value).kind == ir::ValueKind::Tensor;
                   const bool same = operand.rows.kind == RowKind::All || m_a.info(operand.value).uniform;
                   return !tensor || (m_a.available(operand.value) ? same : fromNoRows(operand));
               });
    }

    // A value on edges that is never stored exists only in the stages of its gathers, and each gather runs once: the
    // value is made again for each consumer, at no cost.
    void local(NodeId id, ValueId v, const RowClass& rows)
    {
        const bool ownView = rows.kind == RowKind::Owned && !isInput(v) && isFree(v);
        if (ownView) m_ownViews.insert(v);
        const bool own = ownView && !m_shared.contains(v);
        const NodeId consumer = m_consumers[id.at()].valid() ? m_consumers[id.at()] : id;
        const NodeId operand = nodeOf(v, rows, own ? consumer : NodeId());
        if (std::ranges::find(node(id).loc, operand) == node(id).loc.end()) node(id).loc.push_back(operand);
    }

    void gather(NodeId id, const OperandRows& o)
    {
        const NodeId operand = nodeOf(o.value, RowClass{RowKind::Batch, o.rows.table, {}}, {});
        node(id).kind = NodeKind::Hop;
        if (std::ranges::find(node(id).src, operand) == node(id).src.end()) node(id).src.push_back(operand);
        node(id).relation = relationOf(o, origin(id).loop);
    }

    RelationId relationOf(const OperandRows& o, SpaceId loop)
    {
        const std::tuple key(o.gatherSpace, o.gatherOwner, o.gatherKey, loop);
        const auto [it, added] =
            m_relations.emplace(key, RelationId(static_cast<std::int32_t>(instance().relations.size())));
        if (added)
            instance().relations.push_back(
                {m_a.tables.spaceName(o.gatherSpace) + "#" + std::to_string(it->second.index),
                 m_costs.relation(o.gatherSpace, o.gatherOwner, o.rows.table, loop)});
        return it->second;
    }

    // ---- row reductions

    void require(NodeId from, NodeId to)
    {
        std::vector<NodeId>& loc = node(to).loc;
        if (std::ranges::find(loc, from) != loc.end()) return;
        loc.push_back(from);
        instance().requiredReads.push_back({from, to});
    }

    // The reductions that a value without rows follows from.
    std::vector<NodeId> reductionsBehind(ValueId v)
    {
        std::set<OpId> seen;
        std::vector<NodeId> found;
        std::vector<ValueId> open{v};
        while (!open.empty()) {
            const ValueId u = open.back();
            open.pop_back();
            if (m_a.available(u) || m_a.program.value(u).kind != ir::ValueKind::Tensor) continue;
            const OpId op = m_a.program.value(u).producer;
            if (!seen.insert(op).second) continue;
            if (m_a.info(op).kind == OpKind::Reduce) found.push_back(reductionOf(op));
            else forEachUsed(op, [&](ValueId w, Use) { open.push_back(w); });
        }
        return found;
    }

    template <class Fn>
    void forEachUsed(OpId op, Fn&& fn)
    {
        ir::forEachOperand(m_a.program.op(op), [&](ir::Slot s, ValueId w) {
            const Use use = m_a.info(op).use(s).use;
            if (use != Use::Shape) fn(w, use);
        });
    }

    NodeId reductionOf(OpId op)
    {
        if (const auto it = m_reductions.find(op); it != m_reductions.end()) return it->second;
        const DepTable::Home home = m_table.reductionHome(op);
        const ValueId result = m_a.program.op(op).outputs.at(0);
        if (home.stage >= DepTable::never) refuse(result);
        const NodeId id =
            add({.value = result, .rows = home.rows, .loop = analysis::loopOf(m_a, home.rows), .reduction = true},
                NodeKind::Hop);
        // The result is no table: every loop may read it, on any rows.
        node(id).rows = optimiser::RowKind::Node;
        m_consumers.emplace_back();
        m_reductions.emplace(op, id);
        m_open.push_back(id);
        return id;
    }

    void expandReduction(NodeId id)
    {
        const ModelInstance::Origin from = origin(id);
        const OpId op = m_a.program.value(from.value).producer;
        node(id).computeD = m_costs.compute(op, from.rows, from.loop);
        forEachUsed(op, [&](ValueId v, Use use) {
            if (m_a.program.value(v).kind != ir::ValueKind::Tensor) return;
            const bool rows = m_a.hasRows(v);
            connect(id, {.slot = {},
                         .value = v,
                         .use = use,
                         .rows = rows ? from.rows : RowClass{},
                         .gatherSpace = {},
                         .gatherOwner = {},
                         .gatherKey = {}});
        });
        if (node(id).loc.empty() && node(id).src.empty()) readRows(id, op);
    }

    // For a reduction over rows that are made wherever they are needed: the values that give the number of rows.
    void readRows(NodeId id, OpId op)
    {
        forEachUsed(op, [&](ValueId v, Use) {
            const bool rows = m_a.available(v) && m_a.hasRows(v);
            if (rows && node(id).loc.empty()) local(id, v, origin(id).rows);
        });
    }

    const Analysis& m_a;
    const CostModel& m_costs;
    analysis::ValueNames m_names;
    DepTable m_table;
    ModelInstance m_model;
    std::set<ValueId> m_shared, m_ownViews;
    std::map<Key, NodeId> m_nodes;
    std::vector<NodeId> m_consumers;  // by node: the consumer that it belongs to; none if it can be stored or is shared
    std::map<OpId, NodeId> m_reductions;
    std::map<std::tuple<SpaceId, ir::KeyId, ir::KeyId, SpaceId>, RelationId> m_relations;
    std::deque<NodeId> m_open;
    std::string m_error;
};

// The values that pins may store and that would otherwise be one node per consumer. The nodes depend on them.
std::set<ValueId> sharedViews(const Analysis& a, const std::vector<plan::Pin>& pins)
{
    std::set<ValueId> shared = sharedByPins(pins);
    std::erase_if(shared, [&a](ValueId v) {
        const OpId producer = a.program.value(v).producer;
        return !producer.valid() || !a.info(producer).view;
    });
    return shared;
}

// Whether the value can be stored on all rows on which it is complete, whether it is shared or not.
bool isStorable(const UnpinnedInstance& made, ValueId v)
{
    const auto nodes = made.nodes.find(v);
    return nodes != made.nodes.end() && std::ranges::any_of(nodes->second, [&](NodeId n) {
               return made.model.origins[n.at()].rows == made.table.home(v).rows;
           });
}

// Whether the nodes are the same for these pins, which imply `shared`, or the pins are refused whatever is shared.
bool servesPins(const UnpinnedInstance& made, const std::set<ValueId>& shared, const std::vector<plan::Pin>& pins)
{
    std::vector<ValueId> differing;
    std::ranges::set_symmetric_difference(made.shared, shared, std::back_inserter(differing));
    std::erase_if(differing, [&made](ValueId v) { return !made.ownViews.contains(v); });
    const auto refused = [&made](const plan::Pin& pin) {
        return pin.kind == plan::PinKind::Checkpoint && !isStorable(made, pin.value);
    };
    return differing.empty() || std::ranges::any_of(pins, refused);
}

base::Result<ModelInstance> withPins(const Analysis& a, const std::shared_ptr<const UnpinnedInstance>& unpinned,
                                     const std::vector<plan::Pin>& pins)
{
    ModelInstance model = unpinned->model;
    model.unpinned = unpinned;
    InstancePins added(a, unpinned->table, unpinned->nodes, model);
    for (const plan::Pin& pin : pins)
        if (const base::Status ok = added.add(pin); !ok) return base::forward(ok);
    if (const base::Status ok = optimiser::checkPins(model.instance); !ok) return base::forward(ok);
    return model;
}

}  // namespace

base::Result<ModelInstance> makeInstance(const Analysis& analysis, const CostModel& costs,
                                         const std::vector<plan::Pin>& pins, StoredOn on, const ModelInstance* before)
{
    if (analysis.refusal) return tl::unexpected(*analysis.refusal);
    const std::vector<plan::Pin> counting = settled(pins);
    std::set<ValueId> shared = sharedViews(analysis, counting);
    const bool made = before != nullptr && before->unpinned != nullptr;
    if (made && before->storedOn == on && servesPins(*before->unpinned, shared, counting))
        return withPins(analysis, before->unpinned, counting);
    base::Result<UnpinnedInstance> fresh = Builder(analysis, costs, on).build(std::move(shared));
    if (!fresh) return base::forward(fresh);
    return withPins(analysis, std::make_shared<const UnpinnedInstance>(std::move(*fresh)), counting);
}

Decisions decisionsOf(const ModelInstance& model, const optimiser::Placement& placement)
{
    Decisions decisions;
    for (int index = 0; const optimiser::StagePlacement& stage : placement.stages) {
        for (const NodeId n : stage.written) decisions.written.emplace(model.origins[n.at()].value, index);
        for (const NodeId n : stage.readD) {
            const ModelInstance::Origin& from = model.origins[n.at()];
            decisions.reads.insert({.value = from.value, .rows = from.rows, .stage = index, .destination = from.loop});
        }
        for (const auto& [n, type] : stage.readF) {
            const ModelInstance::Origin& from = model.origins[n.at()];
            const SpaceId loop = model.types[type.at()];
            decisions.reads.insert({.value = from.value,
                                    .rows = {RowKind::Frontier, from.rows.table, {}},
                                    .stage = index,
                                    .destination = loop});
            if (from.loop == loop)
                decisions.reads.insert({.value = from.value, .rows = from.rows, .stage = index, .destination = loop});
        }
        ++index;
    }
    return decisions;
}

}  // namespace hopscope::placement
