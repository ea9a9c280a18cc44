#pragma once

// Converts ids to the names in documents, and back: values (v17), operators (op42), tables and keys by their names in
// the analysis, and row classes ("B(node)", "O(edge_index,end1)", "F(node)", "ALL"). The class Names makes repeated
// names of tables and keys unique ("node#4"), so that each can be converted back to its id.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/naming/value_names.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

// Returns the id in a name such as "v17", whether or not a model has it; nullopt for other texts.
std::optional<ir::ValueId> valueNamed(const std::string& name);
// Does the same for a name such as "op42".
std::optional<ir::OpId> opNamed(const std::string& name);
// Read an id from a part of a document. Refuse other texts.
ir::ValueId readValue(const json::Reader& item);
ir::OpId readOp(const json::Reader& item);

class Names {
public:
    explicit Names(const analysis::Analysis& analysis);

    [[nodiscard]] std::string space(ir::SpaceId id) const;  // "" for none
    [[nodiscard]] std::string key(ir::KeyId id) const;      // "" for none
    [[nodiscard]] std::string rows(const ir::RowClass& rows) const;

    // Find the id of a name. Return nullopt if the analysis does not have the name.
    [[nodiscard]] std::optional<ir::SpaceId> findSpace(const std::string& name) const;
    [[nodiscard]] std::optional<ir::KeyId> findKey(const std::string& name) const;
    [[nodiscard]] std::optional<ir::RowClass> findRows(const std::string& name) const;
    [[nodiscard]] std::optional<ir::OpId> findOp(const std::string& name) const;
    [[nodiscard]] std::optional<ir::ValueId> findValue(const std::string& name) const;

    // Makes findValue() accept readable names of values as well ("conv1 output"), unless such a name is an id.
    void acceptValueNames(const analysis::Analysis& analysis);

private:
    [[nodiscard]] std::optional<ir::RowClass> findOwned(const std::string& inner) const;

    std::vector<std::string> m_spaces, m_keys;
    std::map<std::string, ir::SpaceId> m_spaceIds;
    std::map<std::string, ir::KeyId> m_keyIds;
    std::size_t m_ops = 0, m_values = 0;
    std::optional<analysis::ValueNames> m_valueNames;
};

// Returns the table that a dimension runs over; none for plain dimensions.
ir::SpaceId tableOf(const analysis::Analysis& analysis, ir::ValueId id, std::size_t dimension);

using Dim = std::variant<std::int64_t, std::string>;  // a size, or "|table|"

// Returns the shape as documents contain it: numbers, and "|table|" for a dimension that runs over a table.
std::vector<Dim> symbolicShape(const analysis::Analysis& analysis, ir::ValueId id);
// Returns the name of the table, or none, for each dimension.
std::vector<std::optional<std::string>> rowSpaces(const analysis::Analysis& analysis, ir::ValueId id);

}  // namespace hopscope::schema
