#include "export/prologue_writer.h"

#include <algorithm>

#include "analysis/naming/table_labels.h"
#include "executor/failure.h"
#include "export/size_checks.h"

namespace hopscope::exporter {

using analysis::KeyKind;
using analysis::SpaceKind;

namespace {

class PrologueWriter {
public:
    PrologueWriter(Context& context, const loader::ModelLimits& limits)
        : m_context(context),
          m_limits(limits),
          m_analysis(context.analysis),
          m_program(context.analysis.program)
    {}

    Prologue run()
    {
        checkGuards();
        checkSizes();
        for (const ir::ValueId v : m_context.needs.values) result(ir::valueName(v), value(v));
        for (const auto& [space, key] : m_context.needs.columns) listColumn(space, key);
        listTables();
        finish();
        return std::move(m_result);
    }

private:
    Method& method() { return m_result.method; }

    // ---- values

    std::string value(ir::ValueId id)
    {
        const auto known = m_values.find(id);
        if (known != m_values.end()) return known->second;
        const ir::Value& v = m_program.value(id);
        if (v.origin == ir::Origin::Parameter || v.origin == ir::Origin::Constant)
            return m_context.weights.attribute(id);
        if (v.origin == ir::Origin::Input) return m_values[id] = input(v);
        if (!m_analysis.available(id))
            refuse(m_context.names[id] + " is needed before the first stage, but depends on features", id);
        compute(m_program.op(v.producer));
        return m_values.at(id);
    }

    std::string input(const ir::Value& v)
    {
        const std::string name = method().parameter(v.name, false);
        m_inputs.emplace_back(name, v.name);
        return name;
    }

    void compute(const ir::Op& op)
    {
        const Surroundings here = around(&op);
        const std::vector<std::string> made = m_context.calls.write(method(), op, here);
        for (std::size_t i = 0; i < op.outputs.size(); ++i) m_values[op.outputs[i]] = made.at(i);
    }

    Surroundings around(const ir::Op* op)
    {
        Surroundings here;
        here.local = here.global = [this](ir::SpaceId s) { return size(s); };
        here.item = [this](ir::ValueId v) { return value(v); };
        if (op == nullptr) return here;
        here.operand = [this, op, sizes = here.local](ir::Slot slot, ir::ValueId v) -> Text {
            const bool shape = m_analysis.info(op->id).use(slot).use == analysis::Use::Shape;
            if (!shape || m_values.contains(v) || !hasKnownShape(v)) return value(v);
            return dummyText(m_analysis, v, Numbers(m_analysis, {}).shape(v, sizes));
        };
        return here;
    }

    bool hasKnownShape(ir::ValueId id) const
    {
        return std::ranges::none_of(m_analysis.info(id).dims, [this](ir::SpaceId d) {
            return d.valid() && m_analysis.tables.space(d).kind == SpaceKind::Opaque;
        });
    }

    [[noreturn]] void refuse(const std::string& what, ir::ValueId value) const
    {
        executor::raise(base::ErrorCode::Unsupported, "export cannot write this split: " + what, {},
                        value.valid() ? analysis::placeOfValue(m_analysis, value) : std::string());
    }

    // ---- sizes of tables

    Text size(ir::SpaceId space)
    {
        const auto known = m_sizes.find(space);
        if (known != m_sizes.end()) return known->second;
        const Text counted = countText(space);
        method().comesFrom("");
        const std::string name = "num " + analysis::tableLabel(m_analysis.tables, space);
        return m_sizes[space] = Text(method().assign(name, counted));
    }

    // A dimension of an input or a weight if there is one, else derived from how the table is made.
    Text countText(ir::SpaceId space)
    {
        for (const ir::Value& v : m_program.values) {
            if (v.origin == ir::Origin::Op || v.kind != ir::ValueKind::Tensor) continue;
            const auto& dims = m_analysis.info(v.id).dims;
            const auto d = std::ranges::find(dims, space);
            if (d != dims.end()) return value(v.id) + ".size(" + std::to_string(d - dims.begin()) + ")";
        }
        const analysis::Space& s = m_analysis.tables.space(space);
        switch (s.kind) {
        case SpaceKind::Filter: return "int(" + value(s.selector) + ".sum())";
        case SpaceKind::Perm: return size(s.parent);
        case SpaceKind::Cat: return sumOfSizes(s.parts);
        case SpaceKind::Edge: return *column(space, m_analysis.tables.endKey(0)) + ".size(0)";
        case SpaceKind::Node:
        case SpaceKind::Graph: return s.rows > 0 ? Text(std::to_string(s.rows)) : largestKey(space);
        case SpaceKind::Opaque: break;
        }
        refuse("the number of rows of " + analysis::tableLabel(m_analysis.tables, space) + " is not known", {});
    }

    Text sumOfSizes(const std::vector<ir::SpaceId>& parts)
    {
        Text sum;
        for (const ir::SpaceId part : parts) sum += (sum.python.empty() ? Text() : Text(" + ")) + size(part);
        return sum;
    }

    // One more than the largest number that any input holds as a row of `target`.
    Text largestKey(ir::SpaceId target)
    {
        Text most = "-1";
        const auto include = [&most](const std::string& numbers) {
            most = Text("max(") + most + ", int(" + numbers + ".max()) if " + numbers + ".numel() > 0 else -1)";
        };
        for (const ir::NamedValue& in : m_program.inputs) {
            const analysis::ValueInfo& info = m_analysis.info(in.value);
            if (info.role && info.role->target == target) include(value(in.value));
            for (std::size_t i = 0; i < info.pairRoles.size(); ++i)
                if (info.pairRoles[i].target == target) include(pairRow(in.value, static_cast<int>(i)));
        }
        return most + " + 1";
    }

    std::string pairRow(ir::ValueId index, int end)
    {
        const int dim = m_analysis.rowDim(index) == 0 ? 1 : 0;
        const std::string row =
            "torch.select(" + value(index) + ", " + std::to_string(dim) + ", " + std::to_string(end) + ")";
        return method().assign(m_context.names[index] + " row " + std::to_string(end), row);
    }

    // ---- columns: nullopt where row i refers to row i

    std::optional<std::string> column(ir::SpaceId space, ir::KeyId key)
    {
        const auto known = m_columns.find({space, key});
        if (known != m_columns.end()) return known->second;
        method().comesFrom("");
        auto made = makeColumn(space, key);
        return m_columns[{space, key}] = std::move(made);
    }

    std::optional<std::string> makeColumn(ir::SpaceId space, ir::KeyId key)
    {
        const analysis::Space& s = m_analysis.tables.space(space);
        const analysis::Key& k = m_analysis.tables.key(key);
        const std::string label = columnLabel(space, key);
        if (k.kind == KeyKind::Of)
            return compose(column(m_analysis.tables.target(space, k.first), k.second), column(space, k.first), label);
        if (s.kind == SpaceKind::Filter || s.kind == SpaceKind::Perm) {
            if (k.kind == KeyKind::Pos) return parents(space);
            return compose(column(s.parent, key), parents(space), label);
        }
        switch (k.kind) {
        case KeyKind::Id:
        case KeyKind::Pos: return std::nullopt;
        case KeyKind::End:
            if (s.columns[k.end].valid()) return wholeColumn(s.columns[k.end], label);
            return integers(pairRow(s.index, k.end), s.index, label);
        case KeyKind::Foreign:
            if (m_analysis.info(k.column).pairRoles.empty()) return wholeColumn(k.column, label);
            return integers(pairRow(k.column, k.end), k.column, label);
        case KeyKind::Parts: return concatenated(s, k, label);
        case KeyKind::Of: break;
        }
        refuse("the table " + analysis::tableLabel(m_analysis.tables, space) + " has no column " +
                   m_context.ids.key(key),
               {});
    }

    std::string wholeColumn(ir::ValueId column, const std::string& label)
    {
        return integers(method().assign(label, value(column) + ".reshape([-1])"), column, label);
    }

    std::string columnLabel(ir::SpaceId space, ir::KeyId key) const
    {
        return analysis::tableLabel(m_analysis.tables, space) + " " + keyLabel(m_analysis, key);
    }

    std::string integers(const std::string& numbers, ir::ValueId source, const std::string& label)
    {
        if (m_program.value(source).dtype == base::DType::Int64) return numbers;
        return method().assign(label, Text(numbers + ".to(") + dtypeText(base::DType::Int64) + ")");
    }

    // outer[inner[row]] for every row.
    std::optional<std::string> compose(const std::optional<std::string>& outer, const std::optional<std::string>& inner,
                                       const std::string& label)
    {
        if (!outer) return inner;
        if (!inner) return outer;
        return method().assign(label, *outer + ".index_select(0, " + *inner + ")");
    }

    std::string concatenated(const analysis::Space& s, const analysis::Key& k, const std::string& label)
    {
        std::vector<Text> parts;
        for (std::size_t p = 0; p < s.parts.size(); ++p) {
            const auto part = column(s.parts[p], k.parts.at(p));
            parts.push_back(part ? Text(*part) : Text("torch.arange(") + size(s.parts[p]) + ", device=device)");
        }
        return method().assign(label, Text("torch.cat(") + listed(parts) + ", 0)");
    }

    // For each row of a Filter or Perm table, the row of its parent.
    std::optional<std::string> parents(ir::SpaceId space)
    {
        const auto known = m_parents.find(space);
        if (known != m_parents.end()) return known->second;
        const analysis::Space& s = m_analysis.tables.space(space);
        const std::string selector = value(s.selector);
        method().comesFrom("");
        const std::string label = "rows of " + analysis::tableLabel(m_analysis.tables, s.parent);
        const std::string rows = s.kind == SpaceKind::Perm
                                     ? integers(selector, s.selector, label)
                                     : method().assign(label, "torch.nonzero(" + selector + ").reshape([-1])");
        return m_parents[space] = rows;
    }

    // ---- guards

    void checkGuards()
    {
        for (const ir::Guard& guard : m_program.guards) {
            if (m_program.value(guard.condition).origin == ir::Origin::Constant) continue;
            const NumberText now =
                Numbers(m_analysis, around(nullptr).item).value(guard.condition, around(nullptr).local);
            const bool truth = now.kind == ir::ValueKind::Bool;
            const Text holds = truth ? (guard.taken != 0 ? now.text : Text("not ") + now.text)
                                     : now.text + " == " + takenText(now.kind, guard.taken);
            // Guards that depend only on inputs of fixed shapes hold on every graph.
            if (std::ranges::none_of(namesIn(holds.python), [this](const auto& n) { return method().knows(n); }))
                continue;
            const std::string place = ir::describeSource(guard.source);
            method().comesFrom("");
            method().check(
                holds,
                "a branch or loop of the model takes a different path on this graph than on the graph of the export" +
                    (place.empty() ? std::string() : " (" + place + ")"));
        }
        for (const analysis::MaxIndexGuard& guard : m_analysis.maxIndexGuards) checkLargest(guard);
        for (const ir::Op& op : m_program.ops)
            if (const auto sorted = analysis::sortedRows(m_analysis, op)) checkSorted(sorted->column);
    }

    void checkSizes()
    {
        for (const loader::SizeExpression& condition : sizeConditions(m_limits, m_program.inputs)) {
            if (followsFromShapes(condition)) continue;
            const auto truth =
                computed("bool", {sizeText(condition, [this](const auto& place) { return sizeAt(place); })});
            method().comesFrom("");
            method().check(Text(truth.text.python, std::string("self.") + ofAPart + " or " + truth.text.script),
                           "the model was exported for graphs with " + describe(condition));
        }
    }

    // Whether data with the shapes in the schema fulfil it: sizes that are not those of tables, and tables of the same rows.
    bool followsFromShapes(const loader::SizeExpression& condition) const
    {
        std::set<ir::SpaceId> tables;
        for (const loader::SizePlace& place : placesIn(condition)) {
            if (place.dim < 0) return false;
            const auto& dims = m_analysis.info(inputOf(place)).dims;
            const auto dim = static_cast<std::size_t>(place.dim);
            tables.insert(dim < dims.size() ? dims[dim] : ir::SpaceId());
        }
        const bool one = tables.size() == 1;
        return one && (!tables.begin()->valid() || isEqualityOfSizes(condition));
    }

    ir::ValueId inputOf(const loader::SizePlace& place) const
    {
        const auto input = std::ranges::find(m_program.inputs, place.argument, &ir::NamedValue::name);
        if (input == m_program.inputs.end())
            refuse("'" + place.argument +
                       "', on which a condition of the model depends, is not one of the model's inputs",
                   {});
        return input->value;
    }

    NumberText sizeAt(const loader::SizePlace& place)
    {
        const ir::ValueId input = inputOf(place);
        if (place.dim < 0) return Numbers(m_analysis, around(nullptr).item).value(input, around(nullptr).local);
        return {ir::ValueKind::Int, value(input) + ".size(" + std::to_string(place.dim) + ")"};
    }

    void checkSorted(ir::ValueId numbers)
    {
        const std::string index = value(numbers);
        method().comesFrom("");
        method().check("bool((" + index + "[1:] >= " + index + "[:-1]).all())",
                       "the edges are not sorted by the node that they belong to, and the model places them one after "
                       "the other");
    }

    static Text takenText(ir::ValueKind kind, double taken)
    {
        return kind == ir::ValueKind::Float ? Text(realText(taken))
                                            : Text(std::to_string(static_cast<std::int64_t>(taken)));
    }

    void checkLargest(const analysis::MaxIndexGuard& guard)
    {
        const std::string index = value(guard.index);
        const Text rows = Text("(int(" + index + ".max()) + 1 if " + index + ".numel() > 0 else 0)");
        const Text holds = rows + " == " + size(guard.space);
        method().comesFrom("");
        method().check(holds, "the model derives its number of rows from the largest index into " +
                                  analysis::tableLabel(m_analysis.tables, guard.space) + ", which is not the last row");
    }

    // ---- results

    void result(const std::string& key, const std::string& variable)
    {
        m_returned.emplace_back(quoted(key) + ": " + variable);
    }

    void listColumn(ir::SpaceId space, ir::KeyId key)
    {
        const ir::SpaceId target = m_analysis.tables.target(space, key);
        schema::CodeColumn listed{.table = m_context.ids.space(space),
                                  .key = m_context.ids.key(key),
                                  .target = m_context.ids.space(target),
                                  .tensor = {}};
        m_context.needs.sizes.insert(space);
        m_context.needs.sizes.insert(target);
        if (const auto variable = column(space, key)) {
            listed.tensor = "column." + listed.table + "." + listed.key;
            result(listed.tensor, *variable);
        }
        m_result.columns.push_back(std::move(listed));
    }

    // Derived tables bring those that they are made of.
    void listTables()
    {
        std::set<ir::SpaceId> open = m_context.needs.sizes, listed;
        open.insert(m_context.needs.parents.begin(), m_context.needs.parents.end());
        while (!open.empty()) {
            const ir::SpaceId space = *open.begin();
            open.erase(open.begin());
            if (!space.valid() || !listed.insert(space).second) continue;
            const analysis::Space& s = m_analysis.tables.space(space);
            open.insert(s.parts.begin(), s.parts.end());
            open.insert({s.parent, s.ends[0], s.ends[1]});
        }
        for (const ir::SpaceId space : listed) listTable(space);
    }

    void listTable(ir::SpaceId space)
    {
        const analysis::Space& s = m_analysis.tables.space(space);
        if (s.kind == SpaceKind::Opaque) return;
        schema::CodeTable table;
        table.name = m_context.ids.space(space);
        table.kind = kindOf(s.kind);
        for (const ir::SpaceId from : fromOf(s))
            if (from.valid()) table.from.push_back(m_context.ids.space(from));
        table.made = madeOf(space);
        table.size = "size." + table.name;
        const Text rows = size(space);
        result(table.size, method().assign("size " + table.name, Text("torch.scalar_tensor(") + rows +
                                                                     ", dtype=" + dtypeText(base::DType::Int64) + ")"));
        if (m_context.needs.parents.contains(space) || s.kind == SpaceKind::Filter) {
            table.parents = "parents." + table.name;
            result(table.parents, *parents(space));
        }
        m_result.tables.push_back(std::move(table));
    }

    static schema::TableKind kindOf(SpaceKind kind)
    {
        switch (kind) {
        case SpaceKind::Edge: return schema::TableKind::Edge;
        case SpaceKind::Graph: return schema::TableKind::Graph;
        case SpaceKind::Filter: return schema::TableKind::Filter;
        case SpaceKind::Cat: return schema::TableKind::Cat;
        case SpaceKind::Perm: return schema::TableKind::Perm;
        case SpaceKind::Node:
        case SpaceKind::Opaque: break;
        }
        return schema::TableKind::Node;
    }

    static std::vector<ir::SpaceId> fromOf(const analysis::Space& s)
    {
        if (s.kind == SpaceKind::Edge) return {s.ends[0], s.ends[1]};
        if (s.kind == SpaceKind::Cat) return s.parts;
        return {s.parent};
    }

    std::string madeOf(ir::SpaceId space) const
    {
        const analysis::Space& s = m_analysis.tables.space(space);
        const auto label = [this](ir::SpaceId id) { return analysis::tableLabel(m_analysis.tables, id); };
        switch (s.kind) {
        case SpaceKind::Filter:
            return "the rows of " + label(s.parent) + " for which " + m_context.names[s.selector] + " is true";
        case SpaceKind::Perm:
            return "the rows of " + label(s.parent) + " in the order of " + m_context.names[s.selector];
        case SpaceKind::Cat: {
            std::string text;
            for (const ir::SpaceId part : s.parts) text += (text.empty() ? "" : ", then ") + label(part);
            return "the rows of " + text;
        }
        default: return "given";
        }
    }

    void finish()
    {
        method().returns(Text("{") + joined(m_returned) + "}");
        method().prune();
        for (const Parameter& p : method().parameters())
            for (const auto& [variable, name] : m_inputs)
                if (variable == p.name) m_result.inputs.push_back(name);
    }

    Context& m_context;
    const loader::ModelLimits& m_limits;
    const analysis::Analysis& m_analysis;
    const ir::Program& m_program;
    Prologue m_result;
    std::map<ir::ValueId, std::string> m_values;
    std::vector<std::pair<std::string, std::string>> m_inputs;  // parameter, name in the data
    std::map<ir::SpaceId, Text> m_sizes;
    std::map<std::pair<ir::SpaceId, ir::KeyId>, std::optional<std::string>> m_columns;
    std::map<ir::SpaceId, std::string> m_parents;
    std::vector<Text> m_returned;
};

}  // namespace

Prologue writePrologue(Context& context, const loader::ModelLimits& limits)
{
    return PrologueWriter(context, limits).run();
}

}  // namespace hopscope::exporter
