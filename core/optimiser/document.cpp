#include "optimiser/document.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "optimiser/evaluate.h"
#include "optimiser/graph.h"
#include "json/names.h"
#include "json/pin.h"

namespace hopscope::optimiser {

namespace {

using json::Reader;

const std::set<std::string, std::less<>> documentKeys{"format", "conventions", "cases", "random_cases"};
const std::set<std::string, std::less<>> caseKeys{"id",
                                                  "title",
                                                  "seed_figure",
                                                  "S",
                                                  "allow_stage0",
                                                  "stage_cost",
                                                  "types",
                                                  "pins",
                                                  "structure_cost",
                                                  "nodes",
                                                  "host_budget",
                                                  "outputs",
                                                  "expect",
                                                  "baselines",
                                                  "depth",
                                                  "why",
                                                  "required_reads",
                                                  "literal_colouring",
                                                  "reduced_candidates"};
const std::set<std::string, std::less<>> nodeKeys{"id",          "kind", "type", "rows", "src", "loc",  "w",
                                                  "rD",          "rF",   "cD",   "cF",   "rel", "size", "no_checkpoint",
                                                  "no_recompute"};
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

template <class Tag>
base::Id<Tag> indexOf(const std::vector<std::string>& names, const std::string& name)
{
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? base::Id<Tag>() : base::Id<Tag>(static_cast<std::size_t>(found - names.begin()));
}

// One case, field by field; the reader keeps the first refusal.
class CaseReader {
public:
    explicit CaseReader(const Reader& root) : m_root(root) {}

    Instance read()
    {
        m_root.only(caseKeys);
        m_in.name = m_root.maybe<std::string>("id").value_or("");
        m_in.allowStage0 = m_root.maybe<bool>("allow_stage0").value_or(true);
        m_in.stages = m_root.maybe<int>("S").value_or(0);
        m_in.stageCost = m_root.maybe<double>("stage_cost").value_or(0);
        m_in.hostBudget = m_root.maybe<double>("host_budget");
        m_in.types = m_root.maybe<std::vector<std::string>>("types").value_or(std::vector<std::string>());
        const std::vector<Reader> nodes = m_root.items("nodes");
        if (nodes.size() > 200000) m_root.refuse("has more than 200,000 nodes");
        collectNames(nodes);
        for (const Reader& node : nodes) m_in.nodes.push_back(readNode(node));
        for (const Reader& output : m_root.items("outputs")) m_in.outputs.push_back(nodeId(output));
        readEdges();
        if (m_root.has("pins"))
            for (const Reader& pin : m_root.items("pins")) m_in.pins.push_back(readPin(pin));
        return std::move(m_in);
    }

private:
    void collectNames(const std::vector<Reader>& nodes)
    {
        const bool given = !m_in.types.empty();
        if (m_root.has("structure_cost"))
            for (const auto& [name, cost] : m_root.child("structure_cost").members()) relation(name, cost.as<double>());
        for (const Reader& node : nodes) {
            m_names.push_back(node.get<std::string>("id"));
            if (!m_index.emplace(m_names.back(), m_names.size() - 1).second)
                node.refuse("has the same name as another node: '" + m_names.back() + "'");
            const std::string type = node.maybe<std::string>("type").value_or("node");
            if (!given && !indexOf<TypeTag>(m_in.types, type).valid()) m_in.types.push_back(type);
            if (const auto name = node.maybe<std::string>("rel")) relation(*name, 0);
        }
    }

    void relation(const std::string& name, double cost)
    {
        if (std::ranges::find(m_in.relations, name, &Relation::name) == m_in.relations.end())
            m_in.relations.push_back({name, cost});
    }

    [[nodiscard]] NodeId nodeId(const Reader& reader) const
    {
        const auto name = reader.as<std::string>();
        const auto found = m_index.find(name);
        if (found != m_index.end()) return NodeId(found->second);
        if (reader.ok()) reader.refuse("is not a node: '" + name + "'");
        return NodeId(std::size_t{0});
    }

    [[nodiscard]] TypeId typeId(const Reader& reader, const std::string& name) const
    {
        const TypeId id = indexOf<TypeTag>(m_in.types, name);
        if (!id.valid()) reader.refuse("is not a type: '" + name + "'");
        return id.valid() ? id : TypeId(0);
    }

    static RowKind readRows(const Reader& node)
    {
        const std::string text = node.maybe<std::string>("rows").value_or("N");
        if (text != "N" && text != "E") node.child("rows").refuse("must be N or E");
        return text == "E" ? RowKind::Edge : RowKind::Node;
    }

    [[nodiscard]] std::vector<NodeId> operands(const Reader& node, const char* key) const
    {
        std::vector<NodeId> ids;
        if (!node.has(key)) return ids;
        for (const Reader& item : node.items(key)) ids.push_back(nodeId(item));
        return ids;
    }

    // A number for all types, or an object by type. Costs that are left out are marked for check().
    [[nodiscard]] std::vector<double> frontierCosts(const Reader& node, const char* key) const
    {
        std::vector<double> costs(m_in.types.size(), missing);
        if (!node.has(key)) return costs;
        const Reader value = node.child(key);
        if (!value.value().isObject()) std::ranges::fill(costs, value.as<double>());
        else
            for (const auto& [name, cost] : value.members()) costs[typeId(cost, name).at()] = cost.as<double>();
        return costs;
    }

    [[nodiscard]] Node readNode(const Reader& reader) const
    {
        reader.only(nodeKeys);
        Node node;
        node.name = reader.get<std::string>("id");
        node.kind = json::named<NodeKind>(reader, "kind");
        node.rows = readRows(reader);
        node.type = typeId(reader, reader.maybe<std::string>("type").value_or("node"));
        node.src = operands(reader, "src");
        node.loc = operands(reader, "loc");
        readCosts(reader, node);
        if (const auto name = reader.maybe<std::string>("rel"))
            node.relation = RelationId(static_cast<std::size_t>(
                std::ranges::find(m_in.relations, *name, &Relation::name) - m_in.relations.begin()));
        node.noCheckpoint = reader.maybe<bool>("no_checkpoint").value_or(false);
        node.noRecompute = reader.maybe<bool>("no_recompute").value_or(false);
        return node;
    }

    void readCosts(const Reader& reader, Node& node) const
    {
        if (node.kind != NodeKind::Input) node.write = reader.get<double>("w");
        node.readD = reader.get<double>("rD");
        node.readF = frontierCosts(reader, "rF");
        node.computeD = node.kind == NodeKind::Op ? reader.get<double>("cD") : reader.maybe<double>("cD").value_or(0);
        node.computeF = frontierCosts(reader, "cF");
        node.size = reader.maybe<double>("size").value_or(node.readD);
    }

    void readEdges()
    {
        if (!m_root.has("required_reads")) return;
        for (const Reader& edge : m_root.items("required_reads")) {
            const std::vector<Reader> ends = edge.items();
            if (ends.size() == 2) m_in.requiredReads.push_back({nodeId(ends[0]), nodeId(ends[1])});
            else edge.refuse("must be a pair of nodes");
        }
    }

    [[nodiscard]] Pin readPin(const Reader& reader) const
    {
        const std::optional<json::PinParts> parts = json::readPin(reader);
        if (!parts) return {};
        Pin pin{.kind = parts->kind, .node = nodeId(parts->value), .consumer = {}, .stage = 0};
        if (base::thirdOf(pin.kind) == base::PinThird::Consumer) pin.consumer = nodeId(*parts->third);
        if (base::thirdOf(pin.kind) == base::PinThird::Stage) pin.stage = parts->third->as<int>();
        return pin;
    }

    const Reader& m_root;
    Instance m_in;
    std::vector<std::string> m_names;
    std::map<std::string, std::size_t> m_index;
};

void dropMarks(std::vector<double>& costs)
{
    for (double& cost : costs)
        if (std::isnan(cost)) cost = 0;
}

base::Status finish(Instance& instance, const Reader& reader)
{
    if (!reader.ok()) return reader.status();
    const bool given = instance.stages != 0;
    if (!given) instance.stages = 1;
    base::Status status = check(instance);
    if (!status)
        return base::fail(base::ErrorCode::Input, instance.name + ": " + status.error().message, status.error().hint,
                          reader.pointer());
    for (Node& node : instance.nodes) dropMarks(node.readF), dropMarks(node.computeF);
    if (!given) instance.stages = neededStages(instance);
    return {};
}

base::Result<Instance> readCase(const Reader& reader)
{
    Instance instance = CaseReader(reader).read();
    if (const base::Status status = finish(instance, reader); !status) return base::forward(status);
    return instance;
}

// "value" or "value@type".
OnFrontier frontierEntry(const Instance& in, const Reader& reader, const std::map<std::string, std::size_t>& names)
{
    const auto text = reader.as<std::string>();
    if (const auto found = names.find(text); found != names.end())
        return {NodeId(found->second), in.nodes[found->second].type};
    const std::size_t at = text.rfind('@');
    const auto found = at == std::string::npos ? names.end() : names.find(text.substr(0, at));
    const TypeId type = found == names.end() ? TypeId() : indexOf<TypeTag>(in.types, text.substr(at + 1));
    if (type.valid()) return {NodeId(found->second), type};
    reader.refuse("is neither a VALUE nor a VALUE@TYPE of the instance: '" + text + "'");
    return {NodeId(0), TypeId(0)};
}

std::vector<NodeId> entries(const Reader& stage, const char* key, const std::map<std::string, std::size_t>& names)
{
    std::vector<NodeId> ids;
    for (const Reader& item : stage.items(key)) {
        const auto found = names.find(item.as<std::string>());
        if (found != names.end()) ids.emplace_back(found->second);
        else item.refuse("is not a node");
    }
    return ids;
}

}  // namespace

base::Result<std::vector<Instance>> readInstances(const json::Value& document, const std::string& file)
{
    const Reader root(document, file);
    std::vector<Reader> cases;
    if (root.has("nodes")) cases.push_back(root);
    else {
        root.only(documentKeys);
        if (root.get<std::string>("format") != "placement-cases/1" && root.ok())
            root.child("format").refuse("is not placement-cases/1");
        cases = root.items("cases");
        if (root.has("random_cases"))
            for (const Reader& item : root.items("random_cases")) cases.push_back(item);
    }
    std::vector<Instance> instances;
    for (const Reader& item : cases) {
        base::Result<Instance> instance = readCase(item);
        if (!instance) return base::forward(instance);
        instances.push_back(std::move(*instance));
    }
    if (!root.ok()) return base::forward(root.status());
    return instances;
}

base::Result<Placement> readPlacement(const Instance& instance, const json::Value& plan, const std::string& file)
{
    const Reader root(plan, file);
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < instance.nodes.size(); ++i) names.emplace(instance.nodes[i].name, i);
    Placement placement;
    for (const Reader& item : root.items()) {
        item.only({"stage", "hops", "compute_D", "compute_F", "read_D", "read_F", "write"});
        StagePlacement& s = placement.stages.emplace_back();
        s.stage = item.get<int>("stage");
        s.hops = entries(item, "hops", names);
        s.computeD = entries(item, "compute_D", names);
        s.readD = entries(item, "read_D", names);
        s.written = entries(item, "write", names);
        for (const Reader& e : item.items("compute_F")) s.computeF.push_back(frontierEntry(instance, e, names));
        for (const Reader& e : item.items("read_F")) s.readF.push_back(frontierEntry(instance, e, names));
    }
    if (!root.ok()) return base::forward(root.status());
    const base::Result<Cost> cost = evaluate(instance, placement, {false, false});
    if (!cost) return base::forward(cost);
    placement.cost = *cost;
    placement.hostPeak = hostPeak(instance, placement);
    return placement;
}

}  // namespace hopscope::optimiser
