#include "analysis/roles/sample.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "analysis/roles/int_column.h"
#include "analysis/roles/landmarks.h"
#include "analysis/roles/mix.h"
#include "analysis/roles/number_columns.h"
#include "analysis/roles/relabel.h"
#include "analysis/roles/row_copy.h"
#include "analysis/roles/row_set.h"

namespace hopscope::analysis {

namespace {

struct Relation {
    std::string name, type[2];
    IntColumn end[2]{};
    Members edges{};  // positions of the induced edges

    [[nodiscard]] std::int64_t size() const { return end[0].size(); }
};

struct KeyColumn {
    std::string type, target;
    IntColumn ids;
};

class Cutter {
public:
    Cutter(const base::TensorMap& inputs, const InputSchema& schema, const SampleOptions& options)
        : m_inputs(inputs),
          m_schema(schema),
          m_options(options),
          m_limit(std::max<std::int64_t>(options.nodes, 2)),
          m_seed(options.seed)
    {}

    Sample run();

private:
    void readSchema();
    void readRole(const InputRole& role, const base::TensorView& view);
    void readEnds(const InputRole& role, const base::TensorView& view);
    void addType(const std::string& type);
    void readNumbers();
    void pinLargest();
    void chooseTargets();
    std::int64_t chooseTarget(std::int64_t rows, const std::set<std::int64_t>& taken) const;
    void seedRelation(const Relation& relation);
    void seedIsolated();
    void seedKeys();
    void spreadEdges(const Relation& relation);
    bool growAlong(const Relation& relation);
    void fill(const std::string& type);
    void closeKeys();
    void selectNodes();
    void keepWholeTables();
    void induce(Relation& relation);
    void resolveCollisions();
    bool dropOne(const std::string& type);
    [[nodiscard]] int collisions() const;
    [[nodiscard]] Members membersOf(const std::string& table) const;
    [[nodiscard]] const Relation& relation(const std::string& name) const;
    base::TensorView cut(const std::string& key, const InputRole& role, const base::TensorView& view) const;
    base::TensorView relabelIndex(const base::TensorView& view, const InputRole& role) const;
    base::TensorView relabelEnds(const base::TensorView& view, const InputRole& role, const std::string (&types)[2],
                                 const IntColumn (&ends)[2], const Members& edges) const;
    base::TensorView sparseSize(const base::TensorView& view, const Relation& relation, bool rowsFirst) const;

    void pin(const std::string& type, std::int64_t row, bool required = false)
    {
        if (required || m_sets.at(type).has(row) || (!full(type) && !m_numbers.leftOut(type, row)))
            m_sets.at(type).add(row), m_pinned.at(type).insert(row);
    }
    bool take(const std::string& type, std::int64_t row)
    {
        return !m_numbers.leftOut(type, row) && m_sets.at(type).add(row);
    }
    [[nodiscard]] std::map<std::string, std::int64_t> sizes() const;
    void pinEdge(const Relation& r, std::int64_t position, bool required = false)
    {
        if (position < 0) return;
        for (int end = 0; end < 2; ++end) pin(r.type[end], r.end[end][position], required);
    }
    [[nodiscard]] bool full(const std::string& type) const { return m_sets.at(type).count() >= m_targets.at(type); }

    const base::TensorMap& m_inputs;
    const InputSchema& m_schema;
    const SampleOptions& m_options;
    std::int64_t m_limit;
    std::uint64_t m_seed;
    std::vector<Relation> m_relations;
    std::vector<KeyColumn> m_keys;
    std::map<std::string, RowSet> m_sets;                                  // node type -> rows kept
    std::map<std::string, std::set<std::int64_t>> m_pinned;                // rows that must stay
    std::map<std::string, std::int64_t> m_targets;                         // node type -> rows wanted
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> m_grown;  // neighbours that a row brought in
    std::map<std::string, std::int64_t> m_hubs;                            // relation -> row of end 1
    std::set<std::int64_t> m_widths;                                       // every extent that is no table's
    NumberColumns m_numbers;                                               // empty where they do not matter
};

void Cutter::addType(const std::string& type)
{
    m_sets.try_emplace(type, m_schema.sizes.at(type));
    m_pinned.try_emplace(type);
}

void Cutter::readNumbers()
{
    for (const auto& [key, view] : m_inputs) {
        const auto found = m_schema.roles.find(key);
        if (found == m_schema.roles.end()) continue;
        const InputRole& role = found->second;
        const bool graphs = role.kind == RoleKind::Key && !m_sets.contains(role.second);
        if (graphs || role.kind == RoleKind::Edge || (role.kind == RoleKind::Node && role.dim == 0))
            m_numbers.add(role.first, view);
    }
    if (m_options.numbers != Numbers::Smaller) return;
    for (const auto& [type, set] : m_sets) m_numbers.leaveOut(type, set.rows());
    for (const Relation& r : m_relations) m_numbers.leaveOut(r.name, r.size());
}

void Cutter::pinLargest()
{
    for (const auto& [table, row] : m_numbers.largest()) {
        if (m_sets.contains(table)) pin(table, row, true);
        else pinEdge(relation(table), row, true);
    }
}

void Cutter::readEnds(const InputRole& role, const base::TensorView& view)
{
    for (const std::string& type : {role.first, role.second}) addType(type);
    m_keys.push_back({.type = role.relation, .target = role.first, .ids = endColumn(view, role.form, 0, 0)});
    m_keys.push_back({.type = role.relation, .target = role.second, .ids = endColumn(view, role.form, 1, 0)});
}

void Cutter::readRole(const InputRole& role, const base::TensorView& view)
{
    const InputRows rows = rowsOf(role);
    for (std::size_t dim = 0; dim < view.shape.size() && !listsEdges(role); ++dim)
        if (rows.kind == TableKind::None || dim != rows.dim) m_widths.insert(view.shape[dim]);
    if (rows.kind == TableKind::Node) addType(rows.table);
    if (role.kind == RoleKind::Key && view.shape.size() > 1) addType(role.second);
    else if (role.kind == RoleKind::Key)
        m_keys.push_back({.type = role.first, .target = role.second, .ids = IntColumn(view)});
    if (role.kind == RoleKind::Ends) readEnds(role, view);
    if (role.kind != RoleKind::Index) return;
    addType(role.first);
    addType(role.second);
    auto relation = std::ranges::find(m_relations, role.relation, &Relation::name);
    if (relation == m_relations.end())
        relation = m_relations.insert(relation, {.name = role.relation, .type = {role.first, role.second}});
    for (int end = 0; end < 2; ++end)
        if (hasEnd(role.form, end) || !listsSources(m_schema, role.relation))
            relation->end[end] = endColumn(view, role.form, end, m_schema.sizes.at(role.relation));
}

void Cutter::readSchema()
{
    for (const auto& [key, view] : m_inputs)
        if (const auto role = m_schema.roles.find(key); role != m_schema.roles.end()) readRole(role->second, view);
}

// Sizes that a width of the data or of a usual layer could be mistaken for are left out.
std::int64_t Cutter::chooseTarget(std::int64_t rows, const std::set<std::int64_t>& taken) const
{
    const auto bad = [&](std::int64_t n) { return m_widths.contains(n) || taken.contains(n) || n % 8 == 0; };
    const auto share = static_cast<std::int64_t>(std::ceil(static_cast<double>(rows) * m_options.share));
    const std::int64_t most = std::min({rows, m_limit, share});
    const bool whole = rows <= most;
    if (whole && (rows < 4 || !bad(rows))) return rows;
    for (std::int64_t n = most; n >= 2; --n)
        if (!bad(n) && (whole || isPrime(n))) return n;
    return most;
}

void Cutter::chooseTargets()
{
    std::set<std::int64_t> taken;
    for (const auto& [type, set] : m_sets) {
        m_targets[type] = chooseTarget(set.rows(), taken);
        taken.insert(m_targets[type]);
    }
}

void Cutter::seedRelation(const Relation& r)
{
    if (r.size() == 0) return;
    std::int64_t first = 0;
    const auto out = [&](int end) { return m_numbers.leftOut(r.type[end], r.end[end][first]); };
    while (first < r.size() && (out(0) || out(1))) ++first;
    pinEdge(r, first < r.size() ? first : 0, true);
    if (r.type[0] == r.type[1]) pinEdge(r, landmarks::selfLoop(r.end[0], r.end[1]));
    pinEdge(r, landmarks::repeatedEdge(r.end[0], r.end[1], m_seed));
    m_hubs[r.name] = landmarks::mostFrequent(r.end[1]);
    pin(r.type[1], m_hubs[r.name]);
}

void Cutter::seedIsolated()
{
    for (const auto& [type, set] : m_sets) {
        std::vector<IntColumn> ends;
        for (const Relation& r : m_relations)
            for (int end = 0; end < 2; ++end)
                if (r.type[end] == type) ends.push_back(r.end[end]);
        if (const std::int64_t row = landmarks::untouchedRow(set.rows(), ends); row >= 0) pin(type, row);
    }
}

// Rows of two different targets, so that a batch vector stays one of several graphs.
void Cutter::seedKeys()
{
    for (const KeyColumn& key : m_keys) {
        if (key.ids.size() == 0) continue;
        pin(key.type, 0);
        std::int64_t row = 1;
        while (row < key.ids.size() && key.ids[row] == key.ids[0]) ++row;
        if (row < key.ids.size()) pin(key.type, row);
    }
}

// Edges from all over the graph, for about half of the rows.
void Cutter::spreadEdges(const Relation& r)
{
    const std::int64_t smaller = std::min(m_targets.at(r.type[0]), m_targets.at(r.type[1]));
    const std::int64_t count = std::min(r.size(), smaller / 4 / static_cast<std::int64_t>(m_relations.size()) + 1);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t start = r.size() / count * i;
        const std::int64_t p = start + static_cast<std::int64_t>(mix(m_seed + static_cast<std::uint64_t>(i)) %
                                                                 static_cast<std::uint64_t>(r.size() / count));
        for (int end = 0; end < 2; ++end)
            if (!full(r.type[end])) take(r.type[end], r.end[end][p]);
    }
}

// Neighbours of kept rows, a few for each and many for the hub. True if any came in.
bool Cutter::growAlong(const Relation& r)
{
    const RowSet* sets[2] = {&m_sets.at(r.type[0]), &m_sets.at(r.type[1])};
    const std::int64_t wanted[2] = {m_targets.at(r.type[0]), m_targets.at(r.type[1])};
    const std::int64_t hub = m_hubs[r.name];
    bool any = false;
    for (std::int64_t p = 0; p < r.size(); ++p) {
        if (sets[0]->count() >= wanted[0] && sets[1]->count() >= wanted[1]) break;
        for (int end = 0; end < 2; ++end) {
            const std::int64_t inside = r.end[end][p], outside = r.end[1 - end][p];
            const RowSet& other = *sets[1 - end];
            if (!sets[end]->has(inside) || other.has(outside) || other.count() >= wanted[1 - end]) continue;
            const std::int64_t most = end == 1 && inside == hub ? m_limit / 8 + 4 : 4;
            if (m_grown[{r.type[end], inside}]++ < most) any = take(r.type[1 - end], outside) || any;
        }
    }
    return any;
}

// Evenly spaced rows until the wanted number is there.
void Cutter::fill(const std::string& type)
{
    const RowSet& set = m_sets.at(type);
    const std::int64_t wanted = std::min(m_targets.at(type), set.rows());
    const std::int64_t step = wanted > set.count() ? std::max<std::int64_t>(set.rows() / (wanted - set.count()), 1) : 1;
    for (std::int64_t row = 0; row < set.rows() && set.count() < wanted; row += step) take(type, row);
    for (std::int64_t row = 0; row < set.rows() && set.count() < wanted; ++row) take(type, row);
}

// A key into a node table keeps the rows that it names.
void Cutter::closeKeys()
{
    for (std::size_t round = 0; round < m_keys.size(); ++round) {
        for (const KeyColumn& key : m_keys) {
            if (!m_sets.contains(key.target)) continue;
            for (const std::int64_t row : m_sets.at(key.type).members()) pin(key.target, key.ids[row], true);
        }
    }
}

void Cutter::selectNodes()
{
    const bool whole = std::ranges::all_of(
        m_sets, [&](const auto& entry) { return m_targets.at(entry.first) == entry.second.rows(); });
    if (!whole) {
        if (m_options.numbers == Numbers::Largest) pinLargest();
        for (const Relation& r : m_relations) seedRelation(r);
        seedKeys();
        seedIsolated();
        for (const Relation& r : m_relations)
            if (r.size() > 0) spreadEdges(r);
        for (int round = 0; round < 3; ++round) {
            bool any = false;
            for (const Relation& r : m_relations) any = growAlong(r) || any;
            if (!any) break;
        }
    }
    for (const auto& [type, set] : m_sets) fill(type);
    closeKeys();
}

void Cutter::induce(Relation& r)
{
    r.edges = landmarks::edgesBetween(r.end[0], m_sets.at(r.type[0]), r.end[1], m_sets.at(r.type[1]));
    r.edges = m_numbers.others(r.name, std::move(r.edges));
}

Members Cutter::membersOf(const std::string& table) const
{
    if (const auto set = m_sets.find(table); set != m_sets.end()) return set->second.members();
    std::set<std::int64_t> used;
    bool keyed = false;
    for (const KeyColumn& key : m_keys) {
        if (key.target != table || m_options.numbers == Numbers::Largest) continue;
        keyed = true;
        for (const std::int64_t row : m_sets.at(key.type).members()) used.insert(key.ids[row]);
    }
    if (keyed) return {used.begin(), used.end()};
    Members all(static_cast<std::size_t>(m_schema.sizes.at(table)));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    return all;
}

const Relation& Cutter::relation(const std::string& name) const
{
    return *std::ranges::find(m_relations, name, &Relation::name);
}

// Tables whose size equals another's or a width of the data.
int Cutter::collisions() const
{
    std::multiset<std::int64_t> sizes;
    for (const auto& [type, set] : m_sets) sizes.insert(set.count());
    for (const Relation& r : m_relations) sizes.insert(static_cast<std::int64_t>(r.edges.size()));
    std::set<std::string> targets;
    for (const KeyColumn& key : m_keys)
        if (!m_sets.contains(key.target)) targets.insert(key.target);
    for (const std::string& table : targets) sizes.insert(static_cast<std::int64_t>(membersOf(table).size()));
    return static_cast<int>(std::ranges::count_if(
        sizes, [&](std::int64_t n) { return n > 0 && (sizes.count(n) > 1 || m_widths.contains(n)); }));
}

// Drops the last row that nothing holds, with its edges.
bool Cutter::dropOne(const std::string& type)
{
    const Members members = m_sets.at(type).members();
    if (members.size() < 16) return false;
    const auto free = std::find_if(members.rbegin(), members.rend(),
                                   [&](std::int64_t row) { return !m_pinned.at(type).contains(row); });
    if (free == members.rend()) return false;
    m_sets.at(type).remove(*free);
    for (Relation& r : m_relations)
        for (int end = 0; end < 2; ++end)
            if (r.type[end] == type) std::erase_if(r.edges, [&](std::int64_t p) { return r.end[end][p] == *free; });
    return true;
}

// Sizes follow from the rows kept: drop rows, at most some, until no two sizes are alike; the best state is kept.
void Cutter::resolveCollisions()
{
    int best = collisions();
    if (best == 0) return;
    for (const Relation& r : m_relations)
        if (!r.edges.empty()) pinEdge(r, r.edges.front(), true);
    auto bestSets = m_sets;
    auto bestRelations = m_relations;
    for (int round = 0; round < 24 && best > 0; ++round) {
        auto type = m_sets.begin();
        std::advance(type, round % static_cast<int>(m_sets.size()));
        if (!dropOne(type->first)) continue;
        const int now = collisions();
        if (now >= best) continue;
        best = now;
        bestSets = m_sets;
        bestRelations = m_relations;
    }
    m_sets = std::move(bestSets);
    m_relations = std::move(bestRelations);
}

// A weight with a row for each row of a table is not cut; of the edges those between the rows chosen before are enough.
void Cutter::keepWholeTables()
{
    for (const auto& [name, role] : m_schema.roles) {
        const bool weight = role.kind == RoleKind::Node && !m_inputs.contains(name);
        if (!weight || !m_sets.contains(role.first)) continue;
        RowSet& set = m_sets.at(role.first);
        for (std::int64_t row = 0; row < set.rows(); ++row) set.add(row);
    }
    closeKeys();
}

base::TensorView Cutter::relabelIndex(const base::TensorView& view, const InputRole& role) const
{
    const Relation& r = relation(role.relation);
    if (isCompressed(role.form)) return offsetsOf(view, role.form, membersOf(r.type[1]), r.end[1], r.edges);
    return relabelEnds(view, role, r.type, r.end, r.edges);
}

base::TensorView Cutter::relabelEnds(const base::TensorView& view, const InputRole& role, const std::string (&types)[2],
                                     const IntColumn (&ends)[2], const Members& edges) const
{
    std::vector<std::int64_t> shape = view.shape;
    shape[traitsOf(role.form).edgeDim] = static_cast<std::int64_t>(edges.size());
    base::OwnedTensor out = base::allocate(view.dtype, shape);
    out.view.origin = view.origin;
    for (int end = 0; end < 2; ++end) {
        if (!hasEnd(role.form, end)) continue;
        const Members members = membersOf(types[end]);
        const EdgePlaces places = edgePlaces(view.dtype, static_cast<std::int64_t>(edges.size()), role.form, end);
        std::byte* to = out.bytes + places.first;
        for (const std::int64_t p : edges) {
            storeInteger(to, view.dtype, rankIn(members, ends[end][p]));
            to += places.step;
        }
    }
    return out.view;
}

// adj.coo_size or adj.csr_size of the sample's adj; further entries are widths. Compressed rows are the destinations.
base::TensorView Cutter::sparseSize(const base::TensorView& view, const Relation& r, bool rowsFirst) const
{
    base::OwnedTensor out = base::allocate(view.dtype, view.shape);
    const IntColumn numbers(view);
    for (std::int64_t i = 0; i < numbers.size(); ++i) {
        const std::int64_t value = i < 2 ? m_sets.at(r.type[rowsFirst ? 1 - i : i]).count() : numbers[i];
        storeInteger(out.bytes + i * static_cast<std::int64_t>(base::itemSize(view.dtype)), view.dtype, value);
    }
    return out.view;
}

base::TensorView Cutter::cut(const std::string& key, const InputRole& role, const base::TensorView& view) const
{
    if (role.kind == RoleKind::Index) return relabelIndex(view, role);
    if (role.kind == RoleKind::Ends)
        return relabelEnds(view, role, {role.first, role.second},
                           {endColumn(view, role.form, 0, 0), endColumn(view, role.form, 1, 0)},
                           membersOf(role.relation));
    if (role.kind == RoleKind::Key)
        return relabelKey(view, membersOf(role.first), membersOf(role.second), m_schema.sizes.at(role.second));
    const InputRows rows = rowsOf(role);
    if (rows.kind == TableKind::Edge) return sliceRows(view, relation(rows.table).edges, rows.dim);
    if (rows.kind != TableKind::None) return sliceRows(view, membersOf(rows.table), rows.dim);
    if (const std::string table = groupedTable(view, m_schema); !table.empty())
        return groupOffsets(view, membersOf(table));
    const bool compressed = key.ends_with(".csr_size");
    if ((!compressed && !key.ends_with(".coo_size")) || view.shape.size() != 1 || !base::isIntegral(view.dtype))
        return view;
    const auto sparse = std::ranges::find(m_relations, key.substr(0, key.rfind('.')), &Relation::name);
    return sparse == m_relations.end() ? view : sparseSize(view, *sparse, compressed);
}

std::map<std::string, std::int64_t> Cutter::sizes() const
{
    std::map<std::string, std::int64_t> found;
    for (const Relation& r : m_relations) found[r.name] = static_cast<std::int64_t>(r.edges.size());
    for (const auto& [table, size] : m_schema.sizes)
        if (!found.contains(table)) found[table] = static_cast<std::int64_t>(membersOf(table).size());
    return found;
}

Sample Cutter::run()
{
    readSchema();
    if (m_options.numbers != Numbers::Renumbered) readNumbers();
    chooseTargets();
    selectNodes();
    for (Relation& r : m_relations) induce(r);
    resolveCollisions();
    keepWholeTables();
    base::TensorMap sample;
    for (const auto& [key, view] : m_inputs) {
        const auto role = m_schema.roles.find(key);
        base::TensorView part = role == m_schema.roles.end() ? view : cut(key, role->second, view);
        sample.emplace(key, !view.contiguous() && part.contiguous() ? inColumns(part) : part);
    }
    return {.tensors = std::move(sample), .sizes = sizes()};
}

}  // namespace

Sample cutTables(const base::TensorMap& inputs, const InputSchema& schema, const SampleOptions& options)
{
    return Cutter(inputs, schema, options).run();
}

base::Result<base::TensorMap> cutSample(const base::TensorMap& inputs, const InputSchema& schema, std::int64_t nodes,
                                        std::uint64_t seed)
{
    return cutTables(inputs, schema, {.nodes = nodes, .seed = seed}).tensors;
}

}  // namespace hopscope::analysis
