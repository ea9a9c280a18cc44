#include "verify/structure.h"

#include <algorithm>
#include <thread>

namespace hopscope::verify {

namespace {

using analysis::Analysis;
using analysis::KeyKind;
using analysis::RoleKind;
using analysis::SpaceKind;
using ir::KeyId;
using ir::SpaceId;
using ir::ValueId;

bool declared(SpaceKind kind) { return kind == SpaceKind::Node || kind == SpaceKind::Edge || kind == SpaceKind::Graph; }

std::int64_t declaredRows(const Analysis& analysis, SpaceId table, const analysis::InputSchema& schema)
{
    const auto it = schema.sizes.find(analysis.tables.space(table).name);
    return it == schema.sizes.end() ? 0 : it->second;
}

SpaceId tableNamed(const Analysis& analysis, const std::string& name, bool graph)
{
    for (std::size_t i = 0; i < analysis.tables.spaces.size(); ++i) {
        const analysis::Space& space = analysis.tables.spaces[i];
        const bool kind = space.kind == SpaceKind::Node || (graph && space.kind == SpaceKind::Graph);
        if (kind && space.name == name) return SpaceId(i);
    }
    return {};
}

// The data key that has an end of a relation's edges.
const std::string& endInput(const Analysis& analysis, const analysis::Space& space, int end)
{
    return analysis.program.value(space.givenEnd(end)).name;
}

void addEnds(Structure& structure, const Analysis& analysis, const analysis::InputSchema& schema, SpaceId table,
             const base::TensorMap& inputs)
{
    const analysis::Space& space = analysis.tables.space(table);
    for (int end = 0; end < 2; ++end) {
        const std::string& name = endInput(analysis, space, end);
        const auto input = inputs.find(name);
        const auto role = schema.roles.find(name);
        if (input == inputs.end() || role == schema.roles.end()) continue;
        const analysis::EdgeForm form = role->second.form;
        structure.links.push_back({.table = table,
                                   .target = space.ends[end],
                                   .input = name,
                                   .end = end,
                                   .form = form,
                                   .keys = analysis::endColumn(input->second, form, end, structure.sizes.at(table))});
    }
}

void addPair(Structure& structure, const Analysis& analysis, const std::string& name, const analysis::InputRole& role,
             const base::TensorView& pair)
{
    const SpaceId table = tableNamed(analysis, role.relation, false);
    for (int end = 0; end < 2; ++end) {
        const SpaceId target = tableNamed(analysis, end == 0 ? role.first : role.second, false);
        if (table.valid() && target.valid())
            structure.links.push_back({.table = table,
                                       .target = target,
                                       .input = name,
                                       .end = end,
                                       .form = role.form,
                                       .keys = analysis::endColumn(pair, role.form, end, structure.sizes.at(table))});
    }
}

void addColumns(Structure& structure, const Analysis& analysis, const analysis::InputSchema& schema,
                const base::TensorMap& inputs)
{
    for (const auto& [name, role] : schema.roles) {
        const auto input = inputs.find(name);
        if (input == inputs.end()) continue;
        if (role.kind == RoleKind::Ends) addPair(structure, analysis, name, role, input->second);
        if (role.kind != RoleKind::Key || input->second.shape.size() != 1) continue;
        const SpaceId table = tableNamed(analysis, role.first, false), target = tableNamed(analysis, role.second, true);
        if (table.valid() && target.valid())
            structure.links.push_back(
                {.table = table, .target = target, .input = name, .keys = analysis::IntColumn(input->second)});
    }
}

// Finds the declared columns behind a key of a (derived) table.
class Resolver {
public:
    Resolver(Structure& structure, const Analysis& analysis) : m_structure(structure), m_analysis(analysis) {}

    // The links of `key` of `table` appended to `links`; false if the key is no declared column.
    bool resolve(SpaceId table, KeyId key, std::vector<std::size_t>& links) const
    {
        if (!table.valid() || !key.valid()) return false;
        const analysis::Space& space = m_analysis.tables.space(table);
        const analysis::Key& k = m_analysis.tables.key(key);
        if (k.kind == KeyKind::Id || k.kind == KeyKind::Pos) return space.kind != SpaceKind::Opaque;
        if (k.kind == KeyKind::Foreign) {
            const bool pair = !m_analysis.info(k.column).pairRoles.empty();
            return column(m_analysis.program.value(k.column).name, pair ? k.end : -1, links);
        }
        if (k.kind == KeyKind::Parts) return parts(space, k, links);
        if (k.kind != KeyKind::End) return false;
        if (space.kind == SpaceKind::Edge) return column(endInput(m_analysis, space, k.end), k.end, links);
        const bool selected = space.kind == SpaceKind::Filter || space.kind == SpaceKind::Perm;
        return selected && resolve(space.parent, key, links);
    }

private:
    bool column(const std::string& name, int end, std::vector<std::size_t>& links) const
    {
        for (std::size_t i = 0; i < m_structure.links.size(); ++i) {
            const Link& link = m_structure.links[i];
            if (name.empty() || link.input != name || link.end != end) continue;
            links.push_back(i);
            return true;
        }
        return false;
    }

    bool parts(const analysis::Space& space, const analysis::Key& key, std::vector<std::size_t>& links) const
    {
        if (space.kind == SpaceKind::Filter || space.kind == SpaceKind::Perm)
            return parts(m_analysis.tables.space(space.parent), key, links);
        if (space.parts.size() != key.parts.size()) return false;
        for (std::size_t i = 0; i < key.parts.size(); ++i)
            if (!resolve(space.parts[i], key.parts[i], links)) return false;
        return true;
    }

    Structure& m_structure;
    const Analysis& m_analysis;
};

// The rows that an operator aggregates, as the key they are grouped by; invalid if it aggregates none.
analysis::Role aggregated(const Analysis& analysis, const ir::Op& op)
{
    const analysis::OpInfo& info = analysis.info(op.id);
    if (info.kind == analysis::OpKind::Aggregate && info.role.space.valid()) return info.role;
    analysis::Role role;
    ir::forEachOperand(op, [&](ir::Slot slot, ValueId value) {
        if (info.use(slot).use == analysis::Use::SparseMatrix) role = analysis.info(value).sparseRow;
    });
    return role;
}

// True if the numbers of a key, or those for a part of a table, were computed.
bool isComputed(const Analysis& analysis, KeyId id)
{
    const analysis::Key& key = analysis.tables.key(id);
    if (key.kind == KeyKind::Foreign) return analysis.program.value(key.column).origin != ir::Origin::Input;
    return std::ranges::any_of(key.parts, [&](KeyId part) { return isComputed(analysis, part); });
}

// A look-up by numbers that were computed, such as a column of a table of neighbours.
bool looksUpComputed(const Analysis& analysis, const ir::Op& op)
{
    const analysis::OpInfo& info = analysis.info(op.id);
    return info.kind == analysis::OpKind::Gather && info.role.key.valid() && isComputed(analysis, info.role.key);
}

void markFollowed(Structure& structure, const Analysis& analysis)
{
    for (const ir::Op& op : analysis.program.ops) {
        if (looksUpComputed(analysis, op))
            structure.unresolved.push_back(ir::describeOp(op) +
                                           " looks up rows by numbers that are not a column of the inputs");
        const analysis::Role role = aggregated(analysis, op);
        if (!role.space.valid()) continue;
        std::vector<std::size_t> links;
        if (!Resolver(structure, analysis).resolve(role.space, role.key, links))
            structure.unresolved.push_back(ir::describeOp(op) +
                                           " aggregates by a key that is not a column of the inputs");
        for (std::size_t i : links) {
            structure.links[i].followed = true;
            structure.links[i].inDegree |= !analysis.info(op.id).structureOnly;
        }
    }
}

base::Result<graph::Adjacency> groupByTarget(const Link& link, std::int64_t targets, const graph::Scratch& scratch)
{
    const std::int64_t rows = link.keys.size();
    auto copied = scratch.allocate(std::max<std::int64_t>(rows, 1) * 8);
    if (!copied) return base::forward(copied);
    auto* keys = reinterpret_cast<std::int64_t*>(copied->get());
    for (std::int64_t r = 0; r < rows; ++r) keys[r] = link.keys[r];
    const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return graph::Adjacency::build(keys, 1, rows, targets, scratch, threads);
}

}  // namespace

TableSizes declaredSizes(const Analysis& analysis, const analysis::InputSchema& schema)
{
    TableSizes sizes;
    for (std::size_t i = 0; i < analysis.tables.spaces.size(); ++i)
        if (declared(analysis.tables.spaces[i].kind)) sizes[SpaceId(i)] = declaredRows(analysis, SpaceId(i), schema);
    return sizes;
}

Structure makeStructure(const Analysis& analysis, const analysis::InputSchema& schema, const base::TensorMap& inputs)
{
    Structure structure;
    structure.sizes = declaredSizes(analysis, schema);
    for (std::size_t i = 0; i < analysis.tables.spaces.size(); ++i) {
        const SpaceId table(i);
        const analysis::Space& space = analysis.tables.space(table);
        if (!declared(space.kind)) continue;
        structure.tables.push_back(table);
        const bool given = space.index.valid() || (space.columns[0].valid() && space.columns[1].valid());
        if (space.kind == SpaceKind::Edge && given) addEnds(structure, analysis, schema, table, inputs);
    }
    addColumns(structure, analysis, schema, inputs);
    markFollowed(structure, analysis);
    return structure;
}

base::Status prepareRounds(Structure& structure, const std::string& folder)
{
    const graph::Scratch scratch(folder);
    for (Link& link : structure.links) {
        if (!link.followed || link.rows) continue;
        base::Result<graph::Adjacency> grouped = groupByTarget(link, structure.sizes[link.target], scratch);
        if (!grouped) return base::forward(grouped);
        link.rows = std::move(*grouped);
    }
    return {};
}

base::Result<std::shared_ptr<std::byte>> inDegrees(const Structure& structure, SpaceId table, const std::string& folder)
{
    const std::int64_t rows = structure.sizes.at(table);
    auto counts = graph::Scratch(folder).allocate(std::max<std::int64_t>(rows, 1) * 8);
    if (!counts) return counts;
    auto* numbers = reinterpret_cast<std::int64_t*>(counts->get());
    for (const Link& link : structure.links) {
        if (link.inDegree && link.target == table)
            for (std::int64_t r = 0; r < link.keys.size(); ++r) ++numbers[link.keys[r]];
        if (link.end < 0 || link.table != table) continue;
        const auto ends = inDegrees(structure, link.target, folder);
        if (!ends) return ends;
        for (std::int64_t r = 0; r < link.keys.size(); ++r) numbers[r] += asNumbers(*ends)[link.keys[r]];
    }
    return counts;
}

}  // namespace hopscope::verify
