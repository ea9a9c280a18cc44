#include "analysis/code_roles.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using operators::Rule;

constexpr int unknown = -1;

// The class of a value's rows and, for row numbers, the class of the table that they point into.
struct Facts {
    int rows = unknown, ids = unknown;
    const std::string* index = nullptr;  // it is this input, which lists both ends of edges
};

// Classes of things that have the same rows: inputs, the ends of relations, and their edges.
class Classes {
public:
    int of(const std::string& thing)
    {
        const auto [at, fresh] = m_numbers.emplace(thing, static_cast<int>(m_parents.size()));
        if (fresh) m_parents.push_back(at->second);
        return at->second;
    }
    int find(int number)
    {
        while (m_parents[static_cast<std::size_t>(number)] != number)
            number = m_parents[static_cast<std::size_t>(number)];
        return number;
    }
    void unite(int a, int b)
    {
        if (a != unknown && b != unknown) m_parents[static_cast<std::size_t>(find(a))] = find(b);
    }

private:
    std::map<std::string, int> m_numbers;
    std::vector<int> m_parents;
};

std::string inputName(const std::string& key) { return "input " + key; }
std::string endName(const std::string& relation, int end) { return "end " + std::to_string(end) + " " + relation; }
std::string edgesName(const std::string& relation) { return "edges " + relation; }

class Reader {
public:
    Reader(const ir::Program& program, const InputSchema& schema, Classes& classes)
        : m_program(program),
          m_schema(schema),
          m_classes(classes),
          m_facts(program.values.size())
    {}

    void read()
    {
        for (const ir::NamedValue& input : m_program.inputs) readInput(input);
        for (const ir::Op& op : m_program.ops) readOp(op);
    }

    // The forms of inputs with offsets, as operators take them.
    [[nodiscard]] const std::map<std::string, EdgeForm>& forms() const { return m_forms; }

private:
    void readInput(const ir::NamedValue& input)
    {
        const auto found = m_schema.roles.find(input.name);
        if (found == m_schema.roles.end() || m_program.value(input.value).shape.empty()) return;
        const InputRole& role = found->second;
        Facts& facts = m_facts[input.value.at()];
        if (role.kind != RoleKind::Index) {
            if (role.dim == 0) facts.rows = m_classes.of(inputName(found->first));
            return;
        }
        if (!isOneEnd(role.form)) facts.index = &found->first;
        else if (!isCompressed(role.form)) facts = endOf(role.relation, hasEnd(role.form, 0) ? 0 : 1);
    }

    Facts endOf(const std::string& relation, int end)
    {
        return {
            .rows = m_classes.of(edgesName(relation)), .ids = m_classes.of(endName(relation, end)), .index = nullptr};
    }

    // The tensor of an argument; of a list the first one.
    [[nodiscard]] std::optional<ir::ValueId> tensor(const ir::Arg* arg) const
    {
        if (arg && arg->list()) arg = arg->list()->empty() ? nullptr : &arg->list()->front();
        if (!arg || !arg->value() || m_program.value(*arg->value()).kind != ir::ValueKind::Tensor) return std::nullopt;
        return *arg->value();
    }
    [[nodiscard]] std::optional<ir::ValueId> tensor(const ir::Op& op, std::string_view name) const
    {
        return tensor(ir::argument(op, name));
    }
    [[nodiscard]] Facts factsOf(std::optional<ir::ValueId> id) const { return id ? m_facts[id->at()] : Facts(); }
    [[nodiscard]] std::int64_t extent(ir::ValueId id) const
    {
        const auto& shape = m_program.value(id).shape;
        return shape.empty() ? 0 : shape.front();
    }

    // The dimension that an operator works along, counted from the front; 0 without one.
    [[nodiscard]] std::int64_t dimension(const ir::Op& op) const
    {
        const ir::Arg* const dim = ir::argument(op, "dim");
        const auto of = tensor(op, "self");
        if (!dim || !dim->integer() || !of) return 0;
        const auto count = static_cast<std::int64_t>(m_program.value(*of).shape.size());
        return *dim->integer() < 0 ? *dim->integer() + count : *dim->integer();
    }

    void readOp(const ir::Op& op)
    {
        const operators::Operator* const known = operators::find(op.mutatedArg >= 0 ? op.functionalName : op.name);
        if (!known || op.outputs.empty()) return;
        switch (known->rule) {
        case Rule::Select: return readSelect(op);
        case Rule::Split: return readSplit(op);
        case Rule::Index:
        case Rule::IndexSelect:
        case Rule::Gather: return readGather(op);
        case Rule::Scatter: return readScatter(op);
        case Rule::Segments: return readSegments(op);
        case Rule::Pointwise: return readPointwise(op);
        case Rule::Copy:
        case Rule::Expand:
        case Rule::LayerNorm:
        case Rule::Linear:
        case Rule::Matmul:
        case Rule::Norm:
        case Rule::Reshape:
        case Rule::Unsqueeze: return keepRows(op);
        default: return;
        }
    }

    // The relation, if it takes both ends of edges apart.
    [[nodiscard]] const std::string* apart(const ir::Op& op) const
    {
        const Facts from = factsOf(tensor(op, "self"));
        if (!from.index) return nullptr;
        const InputRole& role = m_schema.roles.at(*from.index);
        return dimension(op) == (traitsOf(role.form).edgeDim == 0 ? 1 : 0) ? &role.relation : nullptr;
    }

    // An end of edges out of both, or a column.
    void readSelect(const ir::Op& op)
    {
        const ir::Arg* const place = ir::argument(op, "index");
        const std::string* const relation = apart(op);
        if (!relation) return dimension(op) > 0 ? keepRows(op) : void();
        if (place && place->integer())
            m_facts[op.outputs.front().at()] = endOf(*relation, *place->integer() % 2 == 0 ? 0 : 1);
    }

    // Both ends at once.
    void readSplit(const ir::Op& op)
    {
        const std::string* const relation = apart(op);
        if (relation && op.name == "aten::unbind" && op.outputs.size() == 2)
            for (const int end : {0, 1})
                m_facts[op.outputs[static_cast<std::size_t>(end)].at()] = endOf(*relation, end);
    }

    // table[ids]
    void readGather(const ir::Op& op)
    {
        const auto ids = tensor(op, op.name == "aten::index" ? "indices" : "index");
        if (!ids || dimension(op) != 0) return;
        m_classes.unite(factsOf(tensor(op, "self")).rows, factsOf(ids).ids);
        m_facts[op.outputs.front().at()].rows = factsOf(ids).rows;
    }

    // result[ids] += source
    void readScatter(const ir::Op& op)
    {
        const auto ids = tensor(op, "index"), into = tensor(op, "self");
        const auto source = tensor(ir::argument(op, {"src", "source"}));
        if (!ids || !into || dimension(op) != 0) return;
        m_classes.unite(factsOf(source).rows, factsOf(ids).rows);
        m_classes.unite(factsOf(into).rows, factsOf(ids).ids);
        m_facts[op.outputs.front().at()].rows = factsOf(ids).ids;
    }

    // The input that offsets are, or are the front part of, and the form that it has then.
    [[nodiscard]] std::optional<std::pair<std::string, EdgeForm>> offsetsOf(ir::ValueId id) const
    {
        EdgeForm form = EdgeForm::Offsets;
        const ir::Value* value = &m_program.value(id);
        if (value->origin == ir::Origin::Op && m_program.op(value->producer).name == "aten::cat") {
            const auto first = tensor(&m_program.op(value->producer).args.front());
            value = first ? &m_program.value(*first) : value;
            form = EdgeForm::Starts;
        }
        const auto role = m_schema.roles.find(value->name);
        const bool given = value->origin == ir::Origin::Input && role != m_schema.roles.end() &&
                           role->second.kind == RoleKind::Index && isCompressed(role->second.form);
        return given ? std::optional(std::pair(role->first, form)) : std::nullopt;
    }

    // Rows that belong to bags are the edges of the relation whose offsets tell where these begin.
    void readSegments(const ir::Op& op)
    {
        const auto given = tensor(op, "offsets");
        const auto offsets = given ? offsetsOf(*given) : std::nullopt;
        if (!offsets) return;
        const std::string& relation = m_schema.roles.at(offsets->first).relation;
        m_classes.unite(factsOf(tensor(op, "data")).rows, m_classes.of(edgesName(relation)));
        m_forms.insert_or_assign(offsets->first, offsets->second);
    }

    // Operands with as many rows and dimensions as the result have its rows.
    void readPointwise(const ir::Op& op)
    {
        const ir::ValueId result = op.outputs.front();
        const std::size_t dimensions = m_program.value(result).shape.size();
        int rows = unknown;
        for (const ir::Arg& arg : op.args) {
            const auto operand = tensor(&arg);
            if (!operand || dimensions == 0 || m_program.value(*operand).shape.size() != dimensions) continue;
            if (extent(*operand) != extent(result) || extent(result) < 2) continue;
            m_classes.unite(rows, factsOf(operand).rows);
            rows = rows == unknown ? factsOf(operand).rows : rows;
        }
        m_facts[result.at()].rows = rows;
    }

    // Results with as many rows as the first operand.
    void keepRows(const ir::Op& op)
    {
        const auto from = op.args.empty() ? std::nullopt : tensor(&op.args.front());
        if (!from || m_program.value(op.outputs.front()).shape.empty() || extent(*from) != extent(op.outputs.front()))
            return;
        m_facts[op.outputs.front().at()] = {.rows = factsOf(from).rows, .ids = factsOf(from).ids, .index = nullptr};
    }

    const ir::Program& m_program;
    const InputSchema& m_schema;
    Classes& m_classes;
    std::vector<Facts> m_facts;  // by value
    std::map<std::string, EdgeForm> m_forms;
};

// The members of a class.
struct Members {
    std::vector<std::string> inputs;                // other than edges
    std::vector<std::pair<std::string, int>> ends;  // of indices, by data key
    std::set<std::string> edges;                    // relations
};

class Judge {
public:
    Judge(const InputSchema& schema, Classes& classes) : m_schema(schema), m_classes(classes)
    {
        for (const auto& [key, role] : schema.roles) add(key, role);
    }

    Overrides overrides()
    {
        for (auto& [number, members] : m_members) judge(number, members);
        for (const auto& [key, role] : m_schema.roles)
            if (role.kind == RoleKind::Index) judgeEnds(key, role);
        return std::move(m_overrides);
    }

    // Offsets whose form is not the one that their role says, and the sources that belong to them.
    void judgeForms(const std::map<std::string, EdgeForm>& forms)
    {
        for (const auto& [key, form] : forms) {
            const InputRole& role = m_schema.roles.at(key);
            if (role.overridden || role.form == form) continue;
            for (const auto& [name, other] : m_schema.roles) {
                if (other.kind != RoleKind::Index || other.relation != role.relation || other.overridden) continue;
                InputRole& better = m_overrides.insert_or_assign(name, InputRole{}).first->second;
                better.kind = RoleKind::Index;
                better.form = name == key ? form : other.form;
            }
        }
    }

private:
    void add(const std::string& key, const InputRole& role)
    {
        const auto members = [&](const std::string& thing) -> Members& {
            return m_members[m_classes.find(m_classes.of(thing))];
        };
        if (role.kind != RoleKind::Index) {
            members(inputName(key)).inputs.push_back(key);
            return;
        }
        members(edgesName(role.relation)).edges.insert(role.relation);
        for (int end = 0; end < 2; ++end)
            if (hasEnd(role.form, end)) members(endName(role.relation, end)).ends.emplace_back(key, end);
    }

    [[nodiscard]] const std::string& typeOf(const std::pair<std::string, int>& end) const
    {
        const InputRole& role = m_schema.roles.at(end.first);
        return end.second == 0 ? role.first : role.second;
    }

    void decide(const std::string& key, RoleKind kind, const std::string& table)
    {
        if (m_schema.roles.at(key).overridden) return;
        InputRole role;
        role.kind = kind;
        role.first = table;
        m_overrides.insert_or_assign(key, role);
    }

    // Rows of edges, or of nodes. Rows of both, or of two relations, keep their roles.
    void judge(int number, const Members& members)
    {
        if (members.edges.size() == 1 && members.ends.empty()) return judgeEdges(*members.edges.begin(), members);
        if (members.edges.empty() && !members.ends.empty()) judgeNodes(number, members);
    }

    void judgeEdges(const std::string& relation, const Members& members)
    {
        for (const std::string& key : members.inputs) {
            const InputRole& role = m_schema.roles.at(key);
            const bool wrong = (role.kind == RoleKind::Node || role.kind == RoleKind::Edge) && role.first != relation;
            if (wrong) decide(key, RoleKind::Edge, relation);
        }
    }

    void judgeNodes(int number, const Members& members)
    {
        std::set<std::string> types;
        std::string own;
        bool wrong = false;
        for (const auto& end : members.ends) types.insert(typeOf(end));
        for (const std::string& key : members.inputs) {
            const InputRole& role = m_schema.roles.at(key);
            const bool node = role.kind == RoleKind::Node;
            wrong = wrong || role.kind == RoleKind::Edge || (node && !types.contains(role.first));
            if (node && own.empty()) own = role.first;
        }
        if (!wrong && types.size() == 1) return;
        if (own.empty()) own = *types.begin();
        for (const std::string& key : members.inputs) {
            const RoleKind kind = m_schema.roles.at(key).kind;
            if (kind == RoleKind::Node || kind == RoleKind::Edge) decide(key, RoleKind::Node, own);
        }
        m_types[number] = own;
    }

    // Judges an index whose ends have a different type now.
    void judgeEnds(const std::string& key, const InputRole& role)
    {
        if (role.overridden || isOneEnd(role.form)) return;
        const auto type = [&](int end) {
            const auto found = m_types.find(m_classes.find(m_classes.of(endName(role.relation, end))));
            return found == m_types.end() ? typeOf({key, end}) : found->second;
        };
        if (type(0) == role.first && type(1) == role.second) return;
        InputRole better = role;
        better.first = type(0);
        better.second = type(1);
        m_overrides.insert_or_assign(key, better);
    }

    const InputSchema& m_schema;
    Classes& m_classes;
    std::map<int, Members> m_members;
    std::map<int, std::string> m_types;  // of classes that get one
    Overrides m_overrides;
};

}  // namespace

Overrides rolesByCode(const ir::Program& program, const InputSchema& schema)
{
    Classes classes;
    Reader reader(program, schema, classes);
    reader.read();
    Judge judge(schema, classes);
    judge.judgeForms(reader.forms());
    return judge.overrides();
}

}  // namespace hopscope::analysis
