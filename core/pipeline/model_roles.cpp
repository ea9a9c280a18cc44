#include "pipeline/model_roles.h"

#include "analysis/roles/sample.h"
#include "base/units.h"
#include "schema/inspect.h"

namespace hopscope::pipeline {

using analysis::InputRole;
using analysis::InputSchema;

base::Result<Overrides> parseRoles(const std::vector<std::string>& texts)
{
    Overrides roles;
    for (const std::string& text : texts) {
        base::Result<std::pair<std::string, InputRole>> role = analysis::parseRole(text);
        if (!role) return base::forward(role);
        roles.insert_or_assign(role->first, role->second);
    }
    return roles;
}

base::Result<InputSchema> inferRoles(const base::TensorMap& inputs, const Overrides& roles,
                                     const loader::ModelInfo& info)
{
    std::map<std::string, std::int64_t> parameters;
    for (const loader::Parameter& parameter : info.parameters)
        parameters[parameter.name] = parameter.shape.empty() ? 1 : parameter.shape[0];
    return analysis::inferSchema(inputs, roles, parameters);
}

namespace {

// The roles that a parameter with this many rows may have: "table=node:user"; without any, what else to do.
std::string roleFor(const loader::Parameter& parameter, std::int64_t rows, const InputSchema& schema)
{
    std::string text;
    for (const auto& [table, size] : schema.sizes) {
        if (size != rows) continue;
        const auto index = schema.roles.find(table);
        const bool edges = index != schema.roles.end() && index->second.kind == analysis::RoleKind::Index;
        text += (text.empty() ? "say --role " : " or ") + parameter.name + (edges ? "=edge:" : "=node:") + table;
    }
    return text.empty() ? "give the data that the model was made for: no table has as many rows" : text;
}

// A parameter that is said to be a table has as many rows as the data.
base::Status checkParameterRows(const loader::ModelInfo& info, const InputSchema& schema)
{
    for (const loader::Parameter& parameter : info.parameters) {
        const auto role = schema.roles.find(parameter.name);
        if (role == schema.roles.end()) continue;
        const auto table = schema.sizes.find(role->second.first);
        const std::int64_t rows = parameter.shape.empty() ? 1 : parameter.shape[0];
        if (table == schema.sizes.end() || rows == table->second) continue;
        return base::fail(base::ErrorCode::Input,
                          "--role " + parameter.name + "=" + schema::roleText(role->second) + ": " + parameter.name +
                              " has " + base::formatCount(static_cast<double>(rows)) + " rows, but \"" + table->first +
                              "\" has " + base::formatCount(static_cast<double>(table->second)),
                          roleFor(parameter, rows, schema), parameter.name);
    }
    return {};
}

}  // namespace

base::Status cutByRoles(Prepared& prepared, const base::TensorMap& inputs, const Overrides& roles)
{
    base::Result<InputSchema> schema = inferRoles(inputs, roles, prepared.model.info());
    if (!schema) return base::forward(schema);
    if (const base::Status fits = checkParameterRows(prepared.model.info(), *schema); !fits) return fits;
    base::Result<base::TensorMap> sample = analysis::cutSample(inputs, *schema);
    if (!sample) return base::forward(sample);
    prepared.schema = std::move(*schema);
    prepared.sample = std::move(*sample);
    return {};
}

}  // namespace hopscope::pipeline
