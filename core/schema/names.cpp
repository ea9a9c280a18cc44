#include "schema/names.h"

#include <charconv>
#include <limits>

namespace hopscope::schema {

namespace {

// "v17" -> 17 where the prefix fits and the number is written as ids are; nothing otherwise.
std::optional<std::int32_t> parseId(const std::string& text, const std::string& prefix, std::size_t count)
{
    if (!text.starts_with(prefix)) return std::nullopt;
    std::int32_t number = -1;
    const char* const begin = text.data() + prefix.size();
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error != std::errc{} || stop != end || number < 0 || static_cast<std::size_t>(number) >= count)
        return std::nullopt;
    return prefix + std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

template <class Id>
std::string unique(std::map<std::string, Id>& taken, const std::string& name, Id id)
{
    const std::string full = taken.contains(name) ? name + "#" + std::to_string(id.index) : name;
    taken.emplace(full, id);
    return full;
}

// "B(node)" -> "node" for the letter B.
std::optional<std::string> inside(const std::string& text, char letter)
{
    if (text.size() < 4 || text[0] != letter || text[1] != '(' || text.back() != ')') return std::nullopt;
    return text.substr(2, text.size() - 3);
}

template <class Map>
auto lookUp(const Map& map, const std::string& name) -> std::optional<typename Map::mapped_type>
{
    const auto it = map.find(name);
    return it == map.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

std::optional<ir::ValueId> valueNamed(const std::string& name)
{
    const auto number = parseId(name, "v", std::numeric_limits<std::int32_t>::max());
    return number ? std::optional(ir::ValueId(*number)) : std::nullopt;
}

std::optional<ir::OpId> opNamed(const std::string& name)
{
    const auto number = parseId(name, "op", std::numeric_limits<std::int32_t>::max());
    return number ? std::optional(ir::OpId(*number)) : std::nullopt;
}

ir::ValueId readValue(const json::Reader& item)
{
    const std::optional<ir::ValueId> value = valueNamed(item.as<std::string>());
    if (!value && item.ok()) item.refuse("is not the id of a value");
    return value.value_or(ir::ValueId());
}

ir::OpId readOp(const json::Reader& item)
{
    const std::optional<ir::OpId> op = opNamed(item.as<std::string>());
    if (!op && item.ok()) item.refuse("is not the id of an operator");
    return op.value_or(ir::OpId());
}

Names::Names(const analysis::Analysis& analysis)
    : m_ops(analysis.program.ops.size()),
      m_values(analysis.program.values.size())
{
    const analysis::Tables& tables = analysis.tables;
    for (std::size_t i = 0; i < tables.spaces.size(); ++i)
        m_spaces.push_back(unique(m_spaceIds, tables.spaceName(ir::SpaceId(i)), ir::SpaceId(i)));
    for (std::size_t i = 0; i < tables.keys.size(); ++i)
        m_keys.push_back(unique(m_keyIds, tables.keyName(ir::KeyId(i)), ir::KeyId(i)));
}

std::string Names::space(ir::SpaceId id) const { return id.valid() ? m_spaces[id.at()] : std::string(); }

std::string Names::key(ir::KeyId id) const { return id.valid() ? m_keys[id.at()] : std::string(); }

std::string Names::rows(const ir::RowClass& rows) const
{
    switch (rows.kind) {
    case ir::RowKind::Batch: return "B(" + space(rows.table) + ")";
    case ir::RowKind::Owned: return "O(" + space(rows.table) + "," + key(rows.key) + ")";
    case ir::RowKind::Frontier: return "F(" + space(rows.table) + ")";
    case ir::RowKind::All: return "ALL";
    }
    return "ALL";
}

std::optional<ir::SpaceId> Names::findSpace(const std::string& name) const { return lookUp(m_spaceIds, name); }

std::optional<ir::KeyId> Names::findKey(const std::string& name) const { return lookUp(m_keyIds, name); }

std::optional<ir::RowClass> Names::findRows(const std::string& name) const
{
    if (name == "ALL") return ir::RowClass{};
    if (const auto inner = inside(name, 'O')) return findOwned(*inner);
    for (const auto& [letter, kind] : {std::pair{'B', ir::RowKind::Batch}, std::pair{'F', ir::RowKind::Frontier}}) {
        const auto inner = inside(name, letter);
        const auto table = inner ? findSpace(*inner) : std::nullopt;
        if (table) return ir::RowClass{kind, *table, {}};
    }
    return std::nullopt;
}

// Table names may hold commas, so every comma is tried.
std::optional<ir::RowClass> Names::findOwned(const std::string& inner) const
{
    for (std::size_t at = inner.find(','); at != std::string::npos; at = inner.find(',', at + 1)) {
        const auto table = findSpace(inner.substr(0, at));
        const auto owner = findKey(inner.substr(at + 1));
        if (table && owner) return ir::RowClass{ir::RowKind::Owned, *table, *owner};
    }
    return std::nullopt;
}

std::optional<ir::OpId> Names::findOp(const std::string& name) const
{
    const auto number = parseId(name, "op", m_ops);
    return number ? std::optional(ir::OpId(*number)) : std::nullopt;
}

std::optional<ir::ValueId> Names::findValue(const std::string& name) const
{
    const auto number = parseId(name, "v", m_values);
    if (number) return ir::ValueId(*number);
    return m_valueNames ? m_valueNames->find(name) : std::nullopt;
}

void Names::acceptValueNames(const analysis::Analysis& analysis) { m_valueNames.emplace(analysis); }

ir::SpaceId tableOf(const analysis::Analysis& analysis, ir::ValueId id, std::size_t dimension)
{
    if (id.at() >= analysis.values.size()) return {};
    const std::vector<ir::SpaceId>& dims = analysis.info(id).dims;
    return dimension < dims.size() ? dims[dimension] : ir::SpaceId();
}

std::vector<Dim> symbolicShape(const analysis::Analysis& analysis, ir::ValueId id)
{
    const std::vector<std::int64_t>& sizes = analysis.program.value(id).shape;
    std::vector<Dim> shape(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (const ir::SpaceId table = tableOf(analysis, id, i); table.valid())
            shape[i] = "|" + analysis.tables.spaceName(table) + "|";
    return shape;
}

std::vector<std::optional<std::string>> rowSpaces(const analysis::Analysis& analysis, ir::ValueId id)
{
    std::vector<std::optional<std::string>> spaces(analysis.program.value(id).shape.size());
    for (std::size_t i = 0; i < spaces.size(); ++i)
        if (const ir::SpaceId table = tableOf(analysis, id, i); table.valid())
            spaces[i] = analysis.tables.spaceName(table);
    return spaces;
}

}  // namespace hopscope::schema
