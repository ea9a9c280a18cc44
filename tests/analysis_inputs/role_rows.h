#pragma once

// Roles as texts, and rows of tests that compare them.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analysis/roles/roles.h"
#include "tensors.h"

namespace inputs {

using hopscope::analysis::InputRole;
using hopscope::analysis::InputSchema;
using hopscope::analysis::RoleKind;

// As roleText() writes it, but two edge forms and edges that are rows have words of their own.
inline std::string text(const InputRole& role)
{
    const std::string said = hopscope::analysis::roleText(role), types = said.substr(said.find(':') + 1);
    if (role.kind == RoleKind::Ends) return "ends:" + types;
    return role.kind == RoleKind::Index && role.form == hopscope::analysis::EdgeForm::Pairs ? "pairs:" + types : said;
}

// "x=node:node ei=index:node>node"
inline std::string rolesText(const InputSchema& schema)
{
    std::string all;
    for (const auto& [key, role] : schema.roles) all += (all.empty() ? "" : " ") + key + "=" + text(role);
    return all;
}

inline std::string sizesText(const InputSchema& schema)
{
    std::string all;
    for (const auto& [name, size] : schema.sizes) all += (all.empty() ? "" : " ") + name + "=" + std::to_string(size);
    return all;
}

inline hopscope::base::Result<InputSchema> infer(const TensorMap& data, const std::vector<std::string>& roles = {})
{
    return hopscope::analysis::inferSchema(data, hopscope::analysis::parseRoles(roles).value(), {{"emb.weight", 0}});
}

inline std::vector<std::int64_t> batchOf(std::int64_t nodes, std::int64_t graphs)
{
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < nodes; ++i) ids.push_back(i * graphs / nodes);
    return ids;
}

struct Row {
    std::string sentence;
    TensorMap data;
    std::vector<std::string> overrides;
    std::string roles, sizes;
};

inline void check(const Row& row)
{
    CAPTURE(row.sentence);
    const auto schema = infer(row.data, row.overrides);
    REQUIRE_MESSAGE(schema.has_value(), (schema ? "" : hopscope::base::describe(schema.error())));
    CHECK(rolesText(*schema) == row.roles);
    CHECK(sizesText(*schema) == row.sizes);
}

}  // namespace inputs
