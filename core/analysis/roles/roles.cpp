#include "analysis/roles/roles.h"

#include "analysis/roles/role_inference.h"

namespace hopscope::analysis {

namespace {

using namespace inference;
using base::ErrorCode;
using Parameters = std::map<std::string, std::int64_t>;

void collect(Draft& draft, const base::TensorMap& inputs)
{
    for (const auto& [key, view] : inputs) {
        Item item;
        item.key = key;
        item.view = &view;
        item.name = names::splitKey(key);
        item.hint = names::hintOf(item.name);
        if (item.sparsePart("csr_size") || item.sparsePart("coo_size")) item.hint = Hint::Plain;
        if (item.sparsePart("csr_values") || item.sparsePart("coo_values")) item.hint = Hint::Edge;
        draft.items.push_back(std::move(item));
    }
    for (const Item& item : draft.items)
        if (item.name.dictItem() && item.relationItem().empty()) draft.knownTypes.insert(item.name.item);
}

base::Status applyOverrides(Draft& draft, const Overrides& overrides, const Parameters& parameters)
{
    for (const auto& [name, role] : overrides) {
        const auto item = std::ranges::find(draft.items, name, &Item::key);
        if (item != draft.items.end()) {
            item->role = role;
            item->role.overridden = item->forced = true;
            continue;
        }
        if (parameters.contains(name)) {
            draft.schema.roles[name] = role;
            draft.schema.roles[name].overridden = true;
            continue;
        }
        std::string known;
        for (const Item& i : draft.items) known += (known.empty() ? "" : ", ") + i.key;
        return base::fail(ErrorCode::Input, "--role names " + name + ", which is neither an input nor a parameter",
                          "the inputs are " + known);
    }
    return {};
}

// Weights declared as tables: their type must be one that the data has, or the only one.
base::Status checkParameters(Draft& draft, const Parameters& parameters)
{
    for (auto& [name, role] : draft.schema.roles) {
        if (role.kind == RoleKind::Edge && role.first.empty() && draft.schema.sizes.size() == 1)
            role.first = draft.schema.sizes.begin()->first;
        if (role.kind == RoleKind::Node && role.first.empty() && draft.nodes.sizes().size() == 1)
            role.first = draft.nodes.sizes().begin()->first;
        const bool good = role.kind == RoleKind::Node   ? draft.nodes.sizeOf(role.first) >= 0
                          : role.kind == RoleKind::Edge ? relationNamed(draft, role.first) != nullptr
                                                        : role.kind == RoleKind::Plain || role.kind == RoleKind::Graph;
        const bool loose = role.kind == RoleKind::Node && good && !draft.nodes.has(role.first);
        if (loose) draft.nodes.addLoose(role.first, parameters.at(name));
        if (good) continue;
        if (role.kind == RoleKind::Key || role.kind == RoleKind::Index)
            return base::fail(ErrorCode::Input, "--role " + name + ": a parameter holds rows, not row numbers",
                              "say " + name + "=node:T, edge:R, graph or plain");
        std::string known;
        for (const auto& tables : {draft.nodes.sizes(), draft.schema.sizes})
            for (const auto& [table, size] : tables) known += (known.empty() ? "" : ", ") + table;
        const std::string said = role.kind == RoleKind::Node ? "=node:" : "=edge:";
        return base::fail(ErrorCode::Input, "--role " + name + said + role.first + " does not name a table of the data",
                          "the tables are " + known);
    }
    return {};
}

base::Status publish(Draft& draft)
{
    for (const auto& tables : {draft.nodes.sizes(), draft.graphs}) {
        for (const auto& [name, size] : tables) {
            if (draft.schema.sizes.emplace(name, size).second) continue;
            return base::fail(ErrorCode::Input, "two tables are called \"" + name + "\", one of them of nodes",
                              "give the nodes another name: --role NAME=node:T");
        }
    }
    for (const Item& item : draft.items) draft.schema.roles[item.key] = item.role;
    return {};
}

base::Result<InputSchema> infer(const base::TensorMap& inputs, const Overrides& overrides, const Parameters& parameters)
{
    Draft draft;
    collect(draft, inputs);
    if (auto status = applyOverrides(draft, overrides, parameters); !status) return base::forward(status);
    for (const auto step : {findIndices, findRowDims, declareTables, declareBags, findEdgeTables, findEnds,
                            checkIndices, placeRest, settleEdgeTables})
        if (auto status = step(draft); !status) return base::forward(status);
    if (auto status = checkParameters(draft, parameters); !status) return base::forward(status);
    if (auto status = publish(draft); !status) return base::forward(status);
    return std::move(draft.schema);
}

constexpr const char* kRoleHint = "write NAME=node:T, index:S>T, source:S>T, destination:S>T, offsets:S>T, starts:S>T, "
                                  "edge:R, key:T>U, graph or plain";

base::Result<InputRole> parseKind(const std::string& text, const std::string& kind, const std::string& rest, bool named)
{
    InputRole role;
    role.overridden = true;
    const auto bad = [&] { return base::fail(ErrorCode::Usage, "--role " + text + " is not a role", kRoleHint); };
    const auto arrow = rest.find('>');
    const bool pair = arrow != std::string::npos && arrow > 0 && arrow + 1 < rest.size() &&
                      rest.find('>', arrow + 1) == std::string::npos;
    if (named && rest.empty()) return bad();
    static const std::map<std::string, EdgeForm> forms{{"index", EdgeForm::Rows},
                                                       {"source", EdgeForm::Source},
                                                       {"destination", EdgeForm::Destination},
                                                       {"offsets", EdgeForm::Offsets},
                                                       {"starts", EdgeForm::Starts}};
    if (kind == "key" || forms.contains(kind)) {
        if (named && !pair) return bad();
        role.kind = kind == "key" ? RoleKind::Key : RoleKind::Index;
        if (role.kind == RoleKind::Index) role.form = forms.at(kind);
        if (named) role.first = rest.substr(0, arrow), role.second = rest.substr(arrow + 1);
        return role;
    }
    if (kind == "node" || kind == "edge") {
        if (arrow != std::string::npos) return bad();
        role.kind = kind == "node" ? RoleKind::Node : RoleKind::Edge;
        role.first = rest;
        return role;
    }
    if ((kind != "graph" && kind != "plain") || named) return bad();
    role.kind = kind == "graph" ? RoleKind::Graph : RoleKind::Plain;
    return role;
}

}  // namespace

std::int64_t edgeCount(const base::TensorView& index, EdgeForm form)
{
    if (!isCompressed(form)) return index.shape[form == EdgeForm::Rows ? 1 : 0];
    const IntColumn offsets(index);
    return offsets.size() > 0 ? offsets[offsets.size() - 1] : 0;
}

namespace {

// 0 2 2 3 -> 0 0 2; of starts the last ones end at `edges`.
IntColumn writtenOut(const base::TensorView& offsets, EdgeForm form, std::int64_t edges)
{
    const IntColumn at(offsets);
    base::OwnedTensor ids = base::allocate(base::DType::Int64, {edges});
    auto* to = reinterpret_cast<std::int64_t*>(ids.bytes);
    const std::int64_t rows = at.size() - (form == EdgeForm::Offsets ? 1 : 0);
    for (std::int64_t row = 0; row < rows; ++row)
        std::fill(to + at[row], to + (row + 1 < at.size() ? at[row + 1] : edges), row);
    return IntColumn(ids.view);
}

}  // namespace

IntColumn endColumn(const base::TensorView& index, EdgeForm form, int end, std::int64_t edges)
{
    if (isCompressed(form)) return writtenOut(index, form, edges);
    if (form == EdgeForm::Rows || form == EdgeForm::Pairs) return {index, end, form == EdgeForm::Rows ? 0U : 1U};
    return IntColumn(index);
}

bool listsSources(const InputSchema& schema, const std::string& relation)
{
    return std::ranges::any_of(schema.roles, [&](const auto& named) {
        const InputRole& role = named.second;
        return role.kind == RoleKind::Index && role.relation == relation && hasEnd(role.form, 0);
    });
}

bool isNodeTable(const InputSchema& schema, const std::string& table)
{
    if (schema.gathered.contains(table)) return true;
    for (const auto& [key, role] : schema.roles) {
        if (role.kind == RoleKind::Node && role.first == table) return true;
        const bool pair = role.kind == RoleKind::Index || role.kind == RoleKind::Ends;
        if (pair && (role.first == table || role.second == table)) return true;
        if ((role.kind == RoleKind::Ends && role.relation == table) ||
            (role.kind == RoleKind::Key && role.first == table))
            return true;
    }
    return false;
}

base::Result<std::pair<std::string, InputRole>> parseRole(const std::string& text)
{
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
        return base::fail(ErrorCode::Usage, "--role " + text + " is not a role", kRoleHint);
    const std::string kind = text.substr(equals + 1);
    const auto colon = kind.find(':');
    const bool named = colon != std::string::npos;
    auto role = parseKind(text, kind.substr(0, colon), named ? kind.substr(colon + 1) : "", named);
    if (!role) return base::forward(role);
    return std::pair(text.substr(0, equals), *role);
}

base::Result<Overrides> parseRoles(const std::vector<std::string>& texts)
{
    Overrides roles;
    for (const std::string& text : texts) {
        const auto role = parseRole(text);
        if (!role) return base::forward(role);
        roles.insert_or_assign(role->first, role->second);
    }
    return roles;
}

base::Result<InputSchema> inferSchema(const base::TensorMap& inputs, const Overrides& overrides,
                                      const std::map<std::string, std::int64_t>& parameters)
{
    return infer(inputs, overrides, parameters);
}

}  // namespace hopscope::analysis
