#include "analysis/roles_in_use.h"

#include <algorithm>
#include <set>

#include "analysis/lowering/part_lookups.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Op;
using operators::Rule;

// An end of a relation.
struct End {
    std::string relation;
    int end = 0;
    auto operator<=>(const End&) const = default;
};

class RolesInUse {
public:
    RolesInUse(const Analysis& refused, const InputSchema& schema) : m_analysis(refused), m_schema(schema) {}

    Overrides find()
    {
        for (const Op& op : m_analysis.program.ops) {
            link(op);
            group(op);
            if (op.id != m_analysis.refusedOp) continue;
            meet(op);
            pick(op);
            break;  // later operators have no rows yet
        }
        for (const auto& [type, ends] : m_ends) isDeclared(type) ? declared(type) : loose(type, ends);
        return std::move(m_found);
    }

private:
    const ir::Value& value(ValueId v) const { return m_analysis.program.value(v); }

    // The value of an argument; of a list the first one.
    static std::optional<ValueId> argument(const Op& op, std::initializer_list<std::string_view> names)
    {
        const ir::Arg* arg = ir::argument(op, names);
        if (arg && arg->list() && !arg->list()->empty()) arg = &arg->list()->front();
        return arg && arg->value() ? std::optional(*arg->value()) : std::nullopt;
    }

    // The weight that a value has the rows of: the weight itself, or a value that is computed from it row by row.
    std::optional<ValueId> weightOf(ValueId v) const
    {
        const ir::Value& rows = value(v);
        if (rows.kind != ir::ValueKind::Tensor || rows.shape.empty() || m_analysis.hasRows(v)) return std::nullopt;
        if (rows.origin == ir::Origin::Parameter) return v;
        if (rows.origin != ir::Origin::Op) return std::nullopt;
        const Op& op = m_analysis.program.op(rows.producer);
        static const std::set<Rule> rowwise{Rule::Copy,   Rule::Fill,      Rule::LayerNorm, Rule::Linear,
                                            Rule::Matmul, Rule::Pointwise, Rule::Scatter};
        if (!rowwise.contains(operators::of(op.name).rule)) return std::nullopt;
        const auto from = argument(op, {"self", "input"});
        const bool as = from && !value(*from).shape.empty() && value(*from).shape[0] == rows.shape[0];
        return as ? weightOf(*from) : std::nullopt;
    }

    std::string typeOf(SpaceId table) const
    {
        const bool nodes = table.valid() && m_analysis.tables.space(table).kind == SpaceKind::Node;
        return nodes ? m_analysis.tables.space(table).name : std::string();
    }

    // The table that rows were selected from.
    SpaceId rootOf(SpaceId rows) const
    {
        while (rows.valid() && m_analysis.tables.space(rows).parent.valid())
            rows = m_analysis.tables.space(rows).parent;
        return rows;
    }

    static bool looksUp(const Op& op)
    {
        static const std::set<Rule> kinds{Rule::Embedding, Rule::Gather, Rule::Index, Rule::IndexSelect};
        return kinds.contains(operators::of(op.name).rule);
    }

    // A look-up of rows, or an aggregation into them.
    void link(const Op& op)
    {
        const Rule rule = operators::of(op.name).rule;
        if (rule == Rule::Matmul) return multiply(op);
        if (!looksUp(op) && rule != Rule::IndexPut && rule != Rule::Scatter) return;
        const auto table = argument(op, {"self", "weight"}), index = argument(op, {"index", "indices"});
        const auto& role = index ? m_analysis.info(*index).role : std::nullopt;
        if (table && role) link(*table, *role);
    }

    // A product with a sparse matrix, whose columns are rows of the other factor.
    void multiply(const Op& op)
    {
        const auto matrix = argument(op, {"sparse", "mat1", "self"}), table = argument(op, {"dense", "mat2", "other"});
        if (matrix && table && m_analysis.info(*matrix).sparse) link(*table, m_analysis.info(*matrix).sparseColumn);
    }

    void link(ValueId table, const Role& role)
    {
        const std::string type = typeOf(role.target);
        if (type.empty()) return;
        const auto end = endOf(role);
        if (const auto weight = weightOf(table)) {
            m_weights[type].insert(*weight);
            if (end) m_ends[type][*end].insert(*weight);
        }
        const std::string rows = typeOf(m_analysis.rowSpace(table));
        if (end && !rows.empty() && rows != type && !isDeclared(type)) pointTo(*end, rows);
    }

    // Rows of a table that are counted or combined by a number of each, which no table has the rows of: graphs.
    void group(const Op& op)
    {
        const Rule rule = operators::of(op.name).rule;
        const auto numbers = argument(op, {rule == Rule::Bincount ? "self" : "index"});
        if ((rule != Rule::Bincount && rule != Rule::Groups && rule != Rule::Scatter) || !numbers) return;
        const auto table = rule == Rule::Scatter ? argument(op, {"self"}) : std::nullopt;
        if (table && m_analysis.hasRows(*table)) return;
        const ValueId column = columnOf(*numbers);
        const auto role = m_schema.roles.find(value(column).name);
        const bool given = value(column).origin == ir::Origin::Input && role != m_schema.roles.end();
        const bool vector = value(column).shape.size() == 1 && base::isIntegral(value(column).dtype);
        if (!given || !vector || role->second.kind != RoleKind::Node || role->second.overridden) return;
        m_found[role->first] =
            InputRole{.kind = RoleKind::Key, .first = role->second.first, .second = "graph", .relation = {}};
    }

    // The numbers before they were given the shape of other rows.
    ValueId columnOf(ValueId v) const
    {
        while (value(v).origin == ir::Origin::Op) {
            const Op& op = m_analysis.program.op(value(v).producer);
            const Rule rule = operators::of(op.name).rule;
            const bool shapes =
                rule == Rule::Copy || rule == Rule::Expand || rule == Rule::Reshape || rule == Rule::Unsqueeze;
            const auto from = shapes ? argument(op, {"self"}) : std::nullopt;
            if (!from) break;
            v = *from;
        }
        return v;
    }

    std::optional<End> endOf(const Role& role) const
    {
        const Key& key = m_analysis.tables.key(role.key);
        if (key.kind != KeyKind::End) return std::nullopt;
        return End{m_analysis.tables.space(rootOf(role.space)).name, key.end};
    }

    // Rows of a table and those of a weight, in the operator that is refused.
    void meet(const Op& op)
    {
        std::set<std::string> types;
        std::set<ValueId> weights;
        ir::forEachOperand(op, [&](Slot, ValueId v) {
            if (const auto weight = weightOf(v)) weights.insert(*weight);
            else if (const std::string type = typeOf(m_analysis.rowSpace(v)); !type.empty()) types.insert(type);
        });
        if (types.size() != 1) return;
        m_weights[*types.begin()].insert(weights.begin(), weights.end());
        m_ends[*types.begin()];
    }

    // Rows that are picked by numbers of unknown origin, in the operator that is refused.
    void pick(const Op& op)
    {
        const auto table = argument(op, {"self", "weight"}), index = argument(op, {"index", "indices"});
        if (!table || !index || !looksUp(op) || m_analysis.info(*index).role) return;
        const SpaceId rows = m_analysis.rowSpace(*table);
        const std::string type = typeOf(rows), whole = typeOf(rootOf(rows));
        if (!whole.empty() && request(*index, whole)) return;
        const bool pointedTo = std::ranges::any_of(m_schema.roles, [&](const auto& named) {
            const InputRole& role = named.second;
            const bool edges = role.kind == RoleKind::Index || role.kind == RoleKind::Ends;
            return (edges && role.first == type) || ((edges || role.kind == RoleKind::Key) && role.second == type);
        });
        if (type.empty() || pointedTo) return;
        for (const auto& [name, role] : m_schema.roles)
            if (role.kind == RoleKind::Node && role.first == type && !role.overridden) m_found[name] = InputRole{};
    }

    // Whether the numbers are an input of no other use, which then names rows of the type.
    bool request(ValueId index, const std::string& type)
    {
        const ValueId column = columnOf(index);
        const ir::Value& numbers = value(shiftedInput(m_analysis.program, column).value_or(column));
        const auto role = m_schema.roles.find(numbers.name);
        const bool given = numbers.origin == ir::Origin::Input && role != m_schema.roles.end();
        const bool vector = numbers.shape.size() == 1 && base::isIntegral(numbers.dtype);
        if (!given || !vector || role->second.overridden) return false;
        const bool rows = role->second.kind == RoleKind::Node;
        if (!rows && role->second.kind != RoleKind::Plain && role->second.kind != RoleKind::Edge) return false;
        std::string own = rows ? role->second.first : numbers.name;
        for (const auto& [name, other] : m_schema.roles) {
            const auto size = m_schema.sizes.find(other.first);
            const bool alike = other.kind == RoleKind::Key && other.second == type && size != m_schema.sizes.end();
            if (!rows && alike && size->second == numbers.shape[0]) own = other.first;
        }
        m_found[numbers.name] = InputRole{.kind = RoleKind::Key, .first = own, .second = type, .relation = {}};
        return true;
    }

    // True if an input has the rows of the type.
    bool isDeclared(const std::string& type) const
    {
        return std::ranges::any_of(m_schema.roles, [&](const auto& named) {
            const InputRole& role = named.second;
            return (role.kind == RoleKind::Node || role.kind == RoleKind::Key) && role.first == type;
        });
    }

    void declared(const std::string& type)
    {
        const std::set<ValueId>& weights = m_weights[type];
        const std::int64_t size = m_schema.sizes.at(type);
        for (const ValueId weight : weights)
            if (rowsOf(weight) == size && rowsOf(weight) > 1) isTable(weight, type);
        const auto other = [&](ValueId weight) { return rowsOf(weight) != size && rowsOf(weight) > 1; };
        if (!weights.empty() && std::ranges::all_of(weights, other)) dropNumbers(type);
    }

    // A type whose rows are those of weights was taken for that of vectors of integers, of another length.
    void dropNumbers(const std::string& type)
    {
        Overrides numbers;
        for (const auto& [name, role] : m_schema.roles) {
            if (role.kind == RoleKind::Key && role.first == type) return;
            if (role.kind != RoleKind::Node || role.first != type) continue;
            const auto input = std::ranges::find(m_analysis.program.inputs, name, &ir::NamedValue::name);
            if (role.overridden || input == m_analysis.program.inputs.end()) return;
            const ir::Value& given = value(input->value);
            if (given.shape.size() != 1 || !base::isIntegral(given.dtype)) return;
            numbers[name] = InputRole{};
        }
        m_found.insert(numbers.begin(), numbers.end());
    }

    // The ends of edges that point into weights of different sizes point into different tables.
    void loose(const std::string& type, const std::map<End, std::set<ValueId>>& ends)
    {
        std::set<std::int64_t> sizes;
        for (const ValueId weight : m_weights[type]) sizes.insert(rowsOf(weight));
        if (sizes.size() == 1)
            for (const ValueId weight : m_weights[type]) isTable(weight, type);
        if (sizes.size() < 2) return;
        for (const auto& [end, weights] : ends) {
            const std::string own = tableName(value(*weights.begin()).name);
            for (const ValueId weight : weights) isTable(weight, own);
            pointTo(end, own);
        }
    }

    void pointTo(const End& end, const std::string& type)
    {
        for (const auto& [name, role] : m_schema.roles) {
            if (role.kind != RoleKind::Index || role.overridden) continue;
            if (role.relation != end.relation && name != end.relation) continue;
            InputRole& changed = m_found.emplace(name, role).first->second;
            (end.end == 0 ? changed.first : changed.second) = type;
        }
    }

    // "user" of "user" and of "user.weight"
    static std::string tableName(const std::string& weight)
    {
        return weight.ends_with(".weight") ? weight.substr(0, weight.size() - 7) : weight;
    }

    std::int64_t rowsOf(ValueId weight) const { return value(weight).shape[0]; }

    void isTable(ValueId weight, const std::string& type)
    {
        const std::string& name = value(weight).name;
        if (!name.empty() && !m_schema.roles.contains(name))
            m_found[name] = InputRole{.kind = RoleKind::Node, .first = type, .second = {}, .relation = {}};
    }

    const Analysis& m_analysis;
    const InputSchema& m_schema;
    std::map<std::string, std::set<ValueId>> m_weights;              // by type of the rows
    std::map<std::string, std::map<End, std::set<ValueId>>> m_ends;  // of these, by the end that points to them
    Overrides m_found;
};

}  // namespace

Overrides rolesInUse(const Analysis& refused, const InputSchema& schema) { return RolesInUse(refused, schema).find(); }

}  // namespace hopscope::analysis
