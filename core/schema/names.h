#pragma once

// The names of things in documents: v17, op42, tables by the analysis' names, row classes as "B(node)",
// "O(edge_index,dst)", "F(node)", "ALL". Names are made unique here ("node#4"), so that every name reads back as the id
// it came from.

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

// The id that "v17" stands for, in any model; nullopt for other texts.
std::optional<ir::ValueId> valueNamed(const std::string& name);
// Likewise, "op42".
std::optional<ir::OpId> opNamed(const std::string& name);
// The ids that parts of documents stand for; other texts are refused.
ir::ValueId readValue(const json::Reader& item);
ir::OpId readOp(const json::Reader& item);

class Names {
public:
    explicit Names(const analysis::Analysis& analysis);

    [[nodiscard]] std::string space(ir::SpaceId id) const;  // "" for none
    [[nodiscard]] std::string key(ir::KeyId id) const;      // "" for none
    [[nodiscard]] std::string rows(const ir::RowClass& rows) const;

    // nullopt for names that this analysis does not know.
    [[nodiscard]] std::optional<ir::SpaceId> findSpace(const std::string& name) const;
    [[nodiscard]] std::optional<ir::KeyId> findKey(const std::string& name) const;
    [[nodiscard]] std::optional<ir::RowClass> findRows(const std::string& name) const;
    [[nodiscard]] std::optional<ir::OpId> findOp(const std::string& name) const;
    [[nodiscard]] std::optional<ir::ValueId> findValue(const std::string& name) const;

    // From now on findValue also finds readable names of values ("conv1 output"), unless an id reads the same.
    void acceptValueNames(const analysis::Analysis& analysis);

private:
    [[nodiscard]] std::optional<ir::RowClass> findOwned(const std::string& inner) const;

    std::vector<std::string> m_spaces, m_keys;
    std::map<std::string, ir::SpaceId> m_spaceIds;
    std::map<std::string, ir::KeyId> m_keyIds;
    std::size_t m_ops = 0, m_values = 0;
    std::optional<analysis::ValueNames> m_valueNames;
};

// The table whose rows a dimension has; none for other dimensions.
ir::SpaceId tableOf(const analysis::Analysis& analysis, ir::ValueId id, std::size_t dimension);

using Dim = std::variant<std::int64_t, std::string>;  // a size, or "|table|"

// The shape as documents give it: numbers, and "|table|" for a dimension with the rows of a table.
std::vector<Dim> symbolicShape(const analysis::Analysis& analysis, ir::ValueId id);
// One entry per dimension: the table's name, or none.
std::vector<std::optional<std::string>> rowSpaces(const analysis::Analysis& analysis, ir::ValueId id);

}  // namespace hopscope::schema
