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

// "x=node:node ei=index:node>node": the notation of --role, with every part written out.
inline std::string text(const InputRole& role)
{
    switch (role.kind) {
    case RoleKind::Node: return "node:" + role.first;
    case RoleKind::Index: {
        using hopscope::analysis::EdgeForm;
        const std::string ends = role.first + ">" + role.second;
        if (role.form == EdgeForm::Source) return "source:" + ends;
        if (role.form == EdgeForm::Destination) return "destination:" + ends;
        if (role.form == EdgeForm::Offsets) return "offsets:" + ends;
        if (role.form == EdgeForm::Starts) return "starts:" + ends;
        return (role.form == EdgeForm::Pairs ? "pairs:" : "index:") + ends;
    }
    case RoleKind::Ends: return "ends:" + role.first + ">" + role.second;
    case RoleKind::Edge: return "edge:" + role.first;
    case RoleKind::Key: return "key:" + role.first + ">" + role.second;
    case RoleKind::Graph: return "graph:" + role.first;
    case RoleKind::Plain: return "plain";
    }
    return {};
}

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
