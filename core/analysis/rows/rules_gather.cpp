// Rules of look-ups by index and of aggregations: where rows move between tables.

#include <algorithm>

#include "analysis/rows/linear.h"
#include "analysis/rows/rules.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

// The role that a gathered row keeps: columns of the source seen through the key that picked it.
std::optional<Role> inherited(RuleContext& c, const Role& via, const std::optional<Role>& own)
{
    if (!own) return std::nullopt;
    const Tables& tables = c.builder.analysis.tables;
    const Space& s = c.space(via.space);
    const KeyKind key = tables.key(via.key).kind;
    if (key == KeyKind::Id && s.kind == SpaceKind::Node) return own;
    const bool derived = s.kind == SpaceKind::Filter || s.kind == SpaceKind::Perm;
    if (derived && (key == KeyKind::Pos || key == KeyKind::Id) && s.parent == own->space)
        return Role{.space = via.space, .key = own->key, .target = own->target};
    if (own->space == via.target)
        return Role{.space = via.space, .key = c.builder.of(via.key, own->key), .target = own->target};
    return std::nullopt;
}

void inheritAll(RuleContext& c, const Role& via, ValueId source, Outcome& o)
{
    o.role = inherited(c, via, c.of(source).role);
    for (const Role& r : c.of(source).pairRoles)
        if (const auto kept = inherited(c, via, r)) o.pairRoles.push_back(*kept);
    if (o.pairRoles.size() != c.of(source).pairRoles.size()) o.pairRoles.clear();
    o.elements = c.of(source).elements;
}

// Why a constant table is indexed by a node role: usually a weight with one row per node, or a baked size.
Refused weightWithRows(RuleContext& c, ValueId table, const Role& role)
{
    const std::string& name = c.value(table).name;
    return {"the table " + (name.empty() ? "" : name + " ") + "has one row per row of " + c.spaceName(role.target) +
                ", so it could be meant as --role " + (name.empty() ? "NAME" : name) +
                "=node:" + c.spaceName(role.target),
            Refused::Kind::RowWeight};
}

// arange(h.size(0)): every row in its place.
bool isNumbering(const RuleContext& c, ValueId index, SpaceId table)
{
    const ir::Value& v = c.value(index);
    if (v.origin != ir::Origin::Op || c.dims(index) != std::vector{table}) return false;
    const ir::Op& op = c.builder.analysis.program.op(v.producer);
    return op.name == "aten::arange" && c.of(index).elements == std::set{table};
}

// True if a value holds only row numbers of the table, put in their places by other operators.
class RowNumbers {
public:
    RowNumbers(const RuleContext& c, SpaceId table) : m_c(c), m_table(table) {}

    bool in(ValueId v)
    {
        const base::DType dtype = m_c.value(v).dtype;
        if (dtype != base::DType::Int64 && dtype != base::DType::Int32) return false;
        const ValueInfo& info = m_c.of(v);
        const auto here = [&](const Role& role) { return role.target == m_table; };
        if (info.role) return here(*info.role);
        if (!info.pairRoles.empty()) return std::ranges::all_of(info.pairRoles, here);
        if (m_c.value(v).origin != ir::Origin::Op) return false;
        return !m_seen.insert(v).second || moved(m_c.builder.analysis.program.op(m_c.value(v).producer));
    }

private:
    bool moved(const ir::Op& op)
    {
        using operators::Rule;
        const Rule rule = operators::of(op.name).rule;
        if (rule == Rule::Stack || rule == Rule::Cat)
            return std::ranges::all_of(*op.args.at(0).list(), [&](const ir::Arg& part) { return in(*part.value()); });
        static const std::set<Rule> movers{Rule::Copy,    Rule::Expand, Rule::Flip,  Rule::Index,     Rule::IndexSelect,
                                           Rule::Permute, Rule::Select, Rule::Slice, Rule::Unsqueeze, Rule::Reshape};
        return movers.contains(rule) && op.args.at(0).value() && in(*op.args[0].value());
    }

    const RuleContext& m_c;
    SpaceId m_table;
    std::set<ValueId> m_seen;
};

// A column of row numbers that the model puts in an order of its own, of nodes: what lies where in it is known once the
// prologue has computed it. Edges with such numbers have to be a table of nodes.
std::optional<Role> computedColumn(RuleContext& c, ValueId index, SpaceId table)
{
    if (!c.builder.positions || !c.structure(index) || c.rank(index) != 1 || !RowNumbers(c, table).in(index))
        return std::nullopt;
    const SpaceId rows = c.dim(index, 0);
    bool nodes = true;
    for (const SpaceId s : {rows, table}) {
        if (s.valid() && c.space(s).kind == SpaceKind::Edge) c.builder.numbered.insert(c.space(s).name);
        nodes = nodes && s.valid() && c.space(s).kind == SpaceKind::Node;
    }
    return nodes ? std::optional(Role{.space = rows, .key = c.builder.foreign(index), .target = table}) : std::nullopt;
}

// The role of an index into a table, as far as it is known.
std::optional<Role> roleOf(RuleContext& c, ValueId index, SpaceId table)
{
    return c.of(index).role ? c.of(index).role : computedColumn(c, index, table);
}

// rows of `source` along `d`, picked by `index`, whose dims replace that dimension.
Ruled<Outcomes> pick(RuleContext& c, ValueId source, ValueId index, int d, const std::vector<SpaceId>& indexDims,
                     Slot sourceSlot, Slot indexSlot)
{
    const SpaceId table = c.dim(source, d);
    if (!c.structure(index) && c.isRow(table))
        return Refusal(Refused("the rows it reads depend on features", Refused::Kind::Features));
    std::vector<SpaceId> dims = c.dims(source);
    if (!dims.empty()) dims.erase(dims.begin() + d);
    dims.insert(dims.begin() + d, indexDims.begin(), indexDims.end());
    const std::optional<Role> role = c.isRow(table) ? roleOf(c, index, table) : c.of(index).role;
    if (!c.isRow(table)) {
        const auto size =
            role ? c.builder.analysis.sampleSizes.find(role->target) : c.builder.analysis.sampleSizes.end();
        const bool oneRowEach = size != c.builder.analysis.sampleSizes.end() && c.isRow(role->target) &&
                                c.value(source).origin != ir::Origin::Op && c.extent(source, d) == size->second &&
                                size->second > 1;
        if (oneRowEach) return Refusal(weightWithRows(c, source, *role));
        return c.one(dims);
    }
    if (!role && isNumbering(c, index, table)) {
        c.same = source;
        return c.one(dims);
    }
    const bool ofPrologue = c.structure(source) && !indexDims.empty() && c.anyRow(indexDims);
    if ((!role || role->target != table) && ofPrologue) {
        c.info.prologueReason = "looks up rows by numbers that the model computes";
        return c.one(dims);
    }
    if (!role) return Refusal(unknownIndex(c, index, table));
    if (role->target != table) return Refusal(otherTarget(c, *role, table));
    c.info.kind = OpKind::Gather;
    c.info.role = *role;
    c.info.dim = d;
    c.use(sourceSlot, Use::Source);
    c.use(indexSlot, Use::Index);
    c.builder.useKey(*role);
    Outcome o;
    o.dims = dims;
    inheritAll(c, *role, source, o);
    return Outcomes{o};
}

}  // namespace

Ruled<Outcomes> indexSelectRule(RuleContext& c)
{
    const ValueId x = c.tensor("self"), index = c.tensor("index");
    return pick(c, x, index, wrapDim(c.integer("dim", 0), c.rank(x)), c.dims(index), c.slot("self"), c.slot("index"));
}

Ruled<Outcomes> embeddingRule(RuleContext& c)
{
    const ValueId index = c.tensor("indices");
    c.passOn({"padding_idx", "scale_grad_by_freq", "sparse"});  // about gradients
    return pick(c, c.tensor("weight"), index, 0, c.dims(index), c.slot("weight"), c.slot("indices"));
}

Ruled<Outcomes> gatherRule(RuleContext& c)
{
    const ValueId x = c.tensor("self"), index = c.tensor(c.index("index") >= 0 ? "index" : "indices");
    c.passOn({"sparse_grad"});
    if (!c.has("dim")) return Refusal(Refused("indexes a flattened tensor", Refused::Kind::OneByOne));
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    if (c.isRow(c.dim(x, d)))
        return pick(c, x, index, d, {c.dim(index, d)}, c.slot("self"),
                    c.slot(c.index("index") >= 0 ? "index" : "indices"));
    std::vector<SpaceId> dims;
    for (int i = 0; i < c.rank(index); ++i) {
        const SpaceId own = c.dim(x, i), other = c.dim(index, i);
        if (i != d && c.isRow(own) && other != own) return Refusal(c.differ(own, other));
        dims.push_back(other.valid() || i == d ? other : own);
    }
    return c.one(dims);
}

namespace {

struct Indices {
    std::vector<int> positions;  // dimensions of self that are indexed
    std::vector<ValueId> values;
};

Indices indicesOf(RuleContext& c)
{
    Indices found;
    const std::vector<ir::Arg> list = c.items("indices");
    for (std::size_t i = 0; i < list.size(); ++i)
        if (const ValueId* v = list[i].value()) {
            found.positions.push_back(static_cast<int>(i));
            found.values.push_back(*v);
        }
    return found;
}

bool isMask(RuleContext& c, ValueId v) { return c.value(v).dtype == base::DType::Bool; }

Ruled<SpaceId> filterBy(RuleContext& c, ValueId mask, SpaceId rows)
{
    if (c.rank(mask) != 1) return Refusal(Refused("a mask over several dimensions", Refused::Kind::Masked));
    if (!c.isRow(rows) || c.dim(mask, 0) != rows)
        return Refusal(Refused("a mask over " + c.spaceName(c.dim(mask, 0)) + " applied to " + c.spaceName(rows),
                               Refused::Kind::Roles));
    if (!c.structure(mask))
        return Refusal(Refused("the selection of rows depends on features", Refused::Kind::Selection));
    return c.builder.filter(rows, mask);
}

// x[mask]: rows of a Filter table from its parent.
Ruled<Outcomes> selectByMask(RuleContext& c, ValueId x, ValueId mask, int d)
{
    const auto space = filterBy(c, mask, c.dim(x, d));
    if (!space) return Refusal(space.error());
    c.info.kind = OpKind::Select;
    c.info.dim = d;
    c.info.result = *space;
    c.use({c.index("self"), -1}, Use::Parent);
    c.use({c.index("indices"), d}, Use::Index);
    Outcome o;
    o.dims = c.dims(x);
    o.dims[static_cast<std::size_t>(d)] = *space;
    const auto keep = [&](const Role& r) { return Role{.space = *space, .key = r.key, .target = r.target}; };
    if (c.of(x).role) o.role = keep(*c.of(x).role);
    for (const Role& r : c.of(x).pairRoles) o.pairRoles.push_back(keep(r));
    o.elements = c.of(x).elements;
    return Outcomes{o};
}

// edge_index[[1, 0]]: a constant picks among the pair of index columns.
std::optional<Outcomes> permutePair(RuleContext& c, ValueId x, ValueId index, int d)
{
    const std::vector<Role>& pair = c.of(x).pairRoles;
    const std::vector<double>& literal = c.value(index).literal;
    if (pair.empty() || c.isRow(c.dim(x, d)) || literal.empty() || c.rank(index) != 1) return std::nullopt;
    Outcomes result = c.keep(x, c.dims(x));
    for (double i : literal)
        result[0].pairRoles.push_back(
            pair[static_cast<std::size_t>(wrapDim(static_cast<std::int64_t>(i), static_cast<int>(pair.size())))]);
    return result;
}

Ruled<Outcomes> advancedIndex(RuleContext& c, ValueId x, const Indices& ix)
{
    if (ix.positions.back() - ix.positions.front() + 1 != static_cast<int>(ix.positions.size()))
        return Refusal(Refused("indexes dimensions that are not adjacent", Refused::Kind::OneByOne));
    std::vector<RuleContext::Shaped> shapes;
    std::vector<std::size_t> rowed;
    for (std::size_t i = 0; i < ix.values.size(); ++i) {
        shapes.push_back(c.shaped(ix.values[i]));
        if (c.isRow(c.dim(x, ix.positions[i]))) rowed.push_back(i);
    }
    const auto joint = c.broadcast(shapes);
    if (!joint) return Refusal(joint.error());
    if (rowed.size() > 1) return Refusal(Refused("looks up pairs of rows in a dense matrix", Refused::Kind::Adjacency));
    std::vector<SpaceId> dims(c.dims(x).begin(), c.dims(x).begin() + ix.positions.front());
    dims.insert(dims.end(), joint->begin(), joint->end());
    dims.insert(dims.end(), c.dims(x).begin() + ix.positions.back() + 1, c.dims(x).end());
    if (rowed.empty()) return c.one(dims);
    const ValueId index = ix.values[rowed[0]];
    const auto& role = c.of(index).role;
    const int d = ix.positions[rowed[0]];
    if (!role || role->target != c.dim(x, d)) return Refusal(unknownIndex(c, index, c.dim(x, d)));
    if (!c.structure(index)) return Refusal(Refused("the rows it reads depend on features", Refused::Kind::Features));
    c.info.kind = OpKind::Gather;
    c.info.role = *role;
    c.info.dim = d;
    c.use({c.index("self"), -1}, Use::Source);
    c.use({c.index("indices"), d}, Use::Index);
    c.builder.useKey(*role);
    return c.one(dims);
}

}  // namespace

Ruled<Outcomes> indexRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const Indices ix = indicesOf(c);
    if (ix.values.empty()) return c.keep(x, c.dims(x), true);
    if (ix.values.size() > 1) return advancedIndex(c, x, ix);
    const int d = ix.positions[0];
    const ValueId index = ix.values[0];
    if (isMask(c, index)) return selectByMask(c, x, index, d);
    if (const auto pair = permutePair(c, x, index, d)) return *pair;
    return pick(c, x, index, d, c.dims(index), {c.index("self"), -1}, {c.index("indices"), d});
}

namespace {

struct Scatter {
    ValueId table, index, source;
    Slot tableSlot, indexSlot, sourceSlot;
    int dim = 0;
    SpaceId messages;  // the row space of the index
    std::string how;   // "sum", "mean", "amax", "amin", "prod", "copy"
    bool includeSelf = true;
    bool elementwise = false;  // the index has the shape of the messages
};

std::string combineOf(RuleContext& c)
{
    if (c.name == "scatter_add" || c.name == "index_add") return "sum";
    if (c.name == "index_put" || c.name == "_index_put_impl") return c.boolean("accumulate") ? "sum" : "copy";
    const std::string reduce = c.text("reduce");
    static const std::map<std::string, std::string> others{
        {"", "copy"}, {"add", "sum"}, {"max", "amax"}, {"min", "amin"}, {"multiply", "prod"}};
    const auto it = others.find(reduce);
    return it == others.end() ? reduce : it->second;
}

std::optional<Reduction> scatterReduction(const std::string& how)
{
    if (how == "sum") return Reduction::ScatterSum;
    if (how == "mean") return Reduction::ScatterMean;
    if (how == "amax") return Reduction::ScatterMax;
    if (how == "amin") return Reduction::ScatterMin;
    return std::nullopt;
}

Refused otherReadout(const std::string& how)
{
    const char* const why =
        how == "copy" ? "keeps the last of the rows, which depends on their order" : "cannot be merged from batches";
    return {"a readout by " + how + " " + why, Refused::Kind::Readout};
}

// Into a table without rows (per graph, or a constant number of slots): a reduction.
Ruled<Outcomes> readout(RuleContext& c, const Scatter& s, SpaceId table)
{
    const auto& role = c.of(s.index).role;
    if (table.valid() && (!role || role->target != table)) return Refusal(unknownIndex(c, s.index, table));
    if (!table.valid() && role && c.isRow(role->target))
        return Refusal(bakedSize("an index into " + c.spaceName(role->target) +
                                 " writes to a constant number of rows (" + std::to_string(c.extent(s.table, s.dim)) +
                                 ")"));
    const bool structure = c.structure(s.table) && (!s.source.valid() || c.structure(s.source));
    if (structure) {
        c.passOn({"alpha"});
        return c.one(c.dims(s.table));
    }
    if (!s.source.valid()) return Refusal(Refused("a readout of one number for all rows", Refused::Kind::Readout));
    const auto how = scatterReduction(s.how);
    if (!how) return Refusal(otherReadout(s.how));
    c.info.kind = OpKind::Reduce;
    c.info.reduction = *how;
    c.info.dim = s.dim;
    c.info.includeSelf = s.includeSelf;
    c.use(s.tableSlot, Use::Whole);
    c.use(s.indexSlot, Use::Reduced);
    c.use(s.sourceSlot, Use::Reduced);
    return c.one(c.dims(s.table));
}

Ruled<Outcomes> aggregate(RuleContext& c, const Scatter& s, const Role& role)
{
    const SpaceKind kind = c.space(role.target).kind;
    if (kind != SpaceKind::Node && kind != SpaceKind::Edge)
        return Refusal(Refused("aggregates into derived rows " + c.spaceName(role.target), Refused::Kind::Into));
    c.info.kind = OpKind::Aggregate;
    c.info.role = role;
    c.info.dim = s.dim;
    c.info.includeSelf = s.includeSelf;
    c.passOn({"alpha"});
    c.use(s.tableSlot, Use::Init);
    c.use(s.indexSlot, Use::Index);
    if (s.source.valid()) c.use(s.sourceSlot, Use::Message);
    c.builder.useKey(role);
    return c.one(c.dims(s.table));
}

// The extent of the messages where the index has rows; 1 where they have these rows, or one row for all.
std::int64_t rowsWithoutTable(const RuleContext& c, const Scatter& s)
{
    if (!s.source.valid() || c.anyRow(c.dims(s.source))) return 1;
    const int behind = c.rank(s.table) - s.dim + (s.elementwise ? 0 : c.rank(s.index) - 1);
    const int d = c.rank(s.source) - behind;
    return d < 0 ? 1 : c.extent(s.source, d);
}

Ruled<Outcomes> scatterInto(RuleContext& c, const Scatter& s)
{
    const SpaceId table = c.dim(s.table, s.dim);
    if (!c.isRow(table) && !c.isRow(s.messages)) {
        c.passOn({"alpha"});
        return c.one(c.dims(s.table));
    }
    if (!c.structure(s.index))
        return Refusal(Refused("the rows it writes depend on features", Refused::Kind::Features));
    if (s.source.valid() && c.anyRow(c.dims(s.source)) && c.builder.analysis.rowSpace(s.source) != s.messages)
        return Refusal(Refused("rows of " + c.spaceName(c.builder.analysis.rowSpace(s.source)) +
                                   " scattered by an index over " + c.spaceName(s.messages),
                               Refused::Kind::Roles));
    if (const std::int64_t rows = rowsWithoutTable(c, s); rows > 1 && c.isRow(s.messages))
        return Refusal(constantMeets(c, rows, s.messages));
    if (!c.isRow(table)) return readout(c, s, table);
    const auto role = roleOf(c, s.index, table);
    if (!role) return Refusal(unknownIndex(c, s.index, table));
    if (role->target != table) return Refusal(otherTarget(c, *role, table));
    return aggregate(c, s, *role);
}

}  // namespace

Ruled<Outcomes> scatterRule(RuleContext& c)
{
    Scatter s;
    s.table = c.tensor("self");
    s.index = c.tensor("index");
    s.tableSlot = c.slot("self");
    s.indexSlot = c.slot("index");
    for (const std::string name : {"src", "source", "value"})
        if (c.tensor(name).valid()) {
            s.source = c.tensor(name);
            s.sourceSlot = c.slot(name);
        }
    s.dim = wrapDim(c.integer("dim", 0), c.rank(s.table));
    s.elementwise = c.name.starts_with("scatter");
    s.messages = s.elementwise ? c.dim(s.index, s.dim) : (c.rank(s.index) ? c.dim(s.index, 0) : SpaceId{});
    s.how = combineOf(c);
    s.includeSelf = c.boolean("include_self", true);
    return scatterInto(c, s);
}

Ruled<Outcomes> indexPutRule(RuleContext& c)
{
    const Indices ix = indicesOf(c);
    c.passOn({"unsafe"});
    Scatter s;
    s.table = c.tensor("self");
    s.source = c.tensor("values");
    if (ix.values.size() != 1) return Refusal(Refused("writes through several indices", Refused::Kind::Places));
    s.dim = ix.positions[0];
    s.index = ix.values[0];
    s.tableSlot = c.slot("self");
    s.indexSlot = {c.index("indices"), s.dim};
    s.sourceSlot = c.slot("values");
    s.how = combineOf(c);
    if (!isMask(c, s.index)) {
        s.messages = c.rank(s.index) ? c.dim(s.index, 0) : SpaceId{};
        return scatterInto(c, s);
    }
    const bool aligned = c.rank(s.index) <= c.rank(s.table) &&
                         std::equal(c.dims(s.index).begin(), c.dims(s.index).end(), c.dims(s.table).begin());
    if (s.dim == 0 && aligned && !c.anyRow(c.dims(s.source))) return c.one(c.dims(s.table));  // a masked fill
    const auto space = filterBy(c, s.index, c.dim(s.table, s.dim));
    if (!space) return Refusal(space.error());
    if (c.rank(s.source) < 1 || c.dim(s.source, 0) != *space)
        return Refusal(Refused("writes rows other than those selected by the mask", Refused::Kind::Written));
    const SpaceId parent = c.dim(s.table, s.dim);
    const Tables& tables = c.builder.analysis.tables;
    const Role role{.space = *space,
                    .key = c.space(parent).kind == SpaceKind::Node ? tables.idKey() : tables.posKey(),
                    .target = parent};
    auto result = aggregate(c, s, role);
    c.use(s.indexSlot, Use::Init);  // the mask itself is read on the rows written
    return result;
}

// In each group of messages the one of a given rank, feature by feature, or all of them as a matrix: ranks and counts have
// the rows of the result.
Ruled<Outcomes> groupsRule(RuleContext& c)
{
    const bool pads = c.has("width");
    Scatter s;
    s.table = c.tensor(pads ? "counts" : "rank");
    s.index = c.tensor("index");
    s.source = c.tensor("src");
    s.tableSlot = c.slot(pads ? "counts" : "rank");
    s.indexSlot = c.slot("index");
    s.sourceSlot = c.slot("src");
    s.messages = c.dim(s.index, 0);
    s.how = "group";
    const SpaceId rows = c.dim(s.table, 0);
    if (!c.isRow(rows)) return Refusal(Refused("needs all rows of a graph at once", Refused::Kind::AllRows));
    const auto scattered = scatterInto(c, s);
    if (!scattered) return scattered;
    std::vector<SpaceId> dims = c.dims(s.source);
    dims[0] = rows;
    if (pads) dims.insert(dims.begin() + 1, SpaceId{});
    return c.one(dims);
}

}  // namespace hopscope::analysis
