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
        if (rowsOfWeight(parameters, name)) {
            draft.schema.roles[name] = role;
            draft.schema.roles[name].overridden = true;
            continue;
        }
        std::string known;
        for (const Item& i : draft.items) known += (known.empty() ? "" : ", ") + i.key;
        return base::fail(ErrorCode::Input, "--role names " + name + ", which is neither an input nor a parameter",
                          (draft.items.size() == 1 ? "the only input is " : "the inputs are ") + known);
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
        if (loose) draft.nodes.addLoose(role.first, rowsOfWeight(parameters, name).value_or(0));
        if (good) continue;
        if (role.kind == RoleKind::Key || role.kind == RoleKind::Index)
            return base::fail(ErrorCode::Input, "--role " + name + ": a parameter holds rows, not row numbers",
                              "say " + name + "=node:T, edge:R, graph or plain");
        std::string known;
        for (const auto& tables : {draft.nodes.sizes(), draft.schema.sizes})
            for (const auto& [table, size] : tables) known += (known.empty() ? "" : ", ") + table;
        const std::string said = role.kind == RoleKind::Node ? "=node:" : "=edge:";
        return base::fail(ErrorCode::Input, "--role " + name + said + role.first + " does not name a table of the data",
                          "name one of these tables: " + known);
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

tl::unexpected<base::Error> badRole(const std::string& text)
{
    return base::fail(ErrorCode::Usage, "--role " + text + " is not a role", "write NAME=" + listRoles());
}

base::Result<InputRole> parseKind(const std::string& text, const std::string& kind, const std::string& types,
                                  bool named)
{
    const auto* const word = std::ranges::find(roleWords, kind, &RoleWord::name);
    const bool known = word != roleWords.end();
    const auto arrows = [](std::string_view of) { return std::ranges::count(of, '>'); };
    const bool typed = known && *word->types != '\0' && arrows(types) == arrows(word->types) && !types.empty() &&
                       types.front() != '>' && types.back() != '>';
    if (!known || (named && !typed)) return badRole(text);
    const std::size_t arrow = types.find('>');
    return InputRole{.kind = word->kind,
                     .first = types.substr(0, arrow),
                     .second = arrow == std::string::npos ? "" : types.substr(arrow + 1),
                     .relation = {},
                     .overridden = true,
                     .form = word->form};
}

}  // namespace

const RoleWord& wordOf(const InputRole& role)
{
    const RoleKind kind = role.kind == RoleKind::Ends ? RoleKind::Index : role.kind;
    const EdgeForm form = kind == RoleKind::Index && isOneEnd(role.form) ? role.form : EdgeForm::Rows;
    return *std::ranges::find_if(roleWords, [&](const RoleWord& w) { return w.kind == kind && w.form == form; });
}

std::string listRoles()
{
    std::string text;
    for (const RoleWord& word : roleWords)
        text += std::string(text.empty() ? "" : &word == &roleWords.back() ? " or " : ", ") + word.name + word.types;
    return text;
}

std::string roleText(const InputRole& role)
{
    const RoleWord& word = wordOf(role);
    const bool pair = std::string_view(word.types).find('>') != std::string_view::npos;
    return word.name + (role.kind == RoleKind::Plain ? "" : ":" + role.first + (pair ? ">" + role.second : ""));
}

InputRows rowsOf(const InputRole& role)
{
    if (!listsEdges(role))
        return {.kind = wordOf(role).rows, .table = role.first, .dim = static_cast<std::size_t>(role.dim)};
    if (isCompressed(role.form)) return {};
    const bool nodes = role.kind == RoleKind::Ends;
    return {.kind = nodes ? TableKind::Node : wordOf(role).rows,
            .table = role.relation,
            .dim = traitsOf(role.form).edgeDim};
}

std::int64_t edgeCount(const base::TensorView& index, EdgeForm form)
{
    if (!isCompressed(form)) return index.shape[traitsOf(form).edgeDim];
    const IntColumn offsets(index);
    return offsets.size() > 0 ? offsets[offsets.size() - 1] : 0;
}

namespace {

// 0 2 2 3 -> 0 0 2; of starts the last ones end at `edges`.
IntColumn writtenOut(const base::TensorView& offsets, EdgeForm form, std::int64_t edges)
{
    const IntColumn numbers(offsets);
    base::OwnedTensor ids = base::allocate(base::DType::Int64, {edges});
    auto* to = reinterpret_cast<std::int64_t*>(ids.bytes);
    for (std::int64_t row = 0; row < numbers.size() - extraOffsets(form); ++row)
        std::fill(to + offsetAt(numbers, form, row, edges), to + offsetAt(numbers, form, row + 1, edges), row);
    return IntColumn(ids.view);
}

}  // namespace

IntColumn endColumn(const base::TensorView& index, EdgeForm form, int end, std::int64_t edges)
{
    if (isCompressed(form)) return writtenOut(index, form, edges);
    if (!isOneEnd(form)) return {index, end, 1 - traitsOf(form).edgeDim};
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
        if (listsEdges(role) && (role.first == table || role.second == table)) return true;
        if (const InputRows rows = rowsOf(role); rows.kind == TableKind::Node && rows.table == table) return true;
    }
    return false;
}

std::optional<std::int64_t> rowsOfWeight(const std::map<std::string, std::int64_t>& parameters, const std::string& name)
{
    if (const auto whole = parameters.find(name); whole != parameters.end()) return whole->second;
    std::int64_t rows = 0;
    for (std::size_t from = 0, plus = 0; plus != std::string::npos; from = plus + 1) {
        plus = name.find('+', from);
        const auto part = parameters.find(name.substr(from, plus == std::string::npos ? plus : plus - from));
        if (part == parameters.end()) return std::nullopt;
        rows += part->second;
    }
    return rows;
}

base::Result<std::pair<std::string, InputRole>> parseRole(const std::string& text)
{
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return badRole(text);
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
