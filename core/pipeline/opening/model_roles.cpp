#include "pipeline/opening/model_roles.h"

#include <algorithm>

#include "analysis/code_roles.h"
#include "analysis/roles/sample.h"
#include "analysis/roles_in_use.h"
#include "base/units.h"
#include "pipeline/opening/walk_sample.h"

namespace hopscope::pipeline {

using analysis::InputSchema;

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
    return text.empty() ? "give the data that the model was made for: no table has as many rows as " + parameter.name
                        : text;
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
                          "--role " + parameter.name + "=" + analysis::roleText(role->second) +
                              ": the number of rows of " + parameter.name + " is " +
                              base::formatCount(static_cast<double>(rows)) + ", but that of \"" + table->first +
                              "\" is " + base::formatCount(static_cast<double>(table->second)),
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

namespace {

constexpr int mostRounds = 8;  // each refusal may reveal one more role

// A source of roles that contradict those of a refused model, or are missing among them.
using Source = Overrides (*)(const Prepared&);

Overrides byCode(const Prepared& prepared) { return analysis::rolesByCode(prepared.walk.program, prepared.schema); }
Overrides inUse(const Prepared& prepared) { return analysis::rolesInUse(prepared.analysis, prepared.schema); }

// The members of Prepared that depend on the roles.
struct Reading {
    InputSchema schema;
    base::TensorMap sample;
    loader::Walk walk;
    analysis::Analysis analysis;
};

Reading readingOf(const Prepared& prepared)
{
    return {.schema = prepared.schema, .sample = prepared.sample, .walk = prepared.walk, .analysis = prepared.analysis};
}

void restore(Prepared& prepared, const Reading& reading)
{
    prepared.schema = reading.schema;
    prepared.sample = reading.sample;
    prepared.walk = reading.walk;
    prepared.analysis = reading.analysis;
}

// Adds roles from the source as long as it gives new ones. Whether the model can then be split.
bool follow(Prepared& prepared, Source source, Reporter& reporter)
{
    Overrides given;
    for (const auto& [name, role] : prepared.schema.roles)
        if (role.overridden) given.emplace(name, role);
    Overrides roles = given;
    for (int round = 0; prepared.analysis.refusal && round < mostRounds; ++round) {
        const Overrides before = roles;
        for (const auto& [name, role] : source(prepared)) roles.insert_or_assign(name, role);
        if (roles == before || !cutByRoles(prepared, prepared.inputs, roles)) return false;
        for (auto& [name, role] : prepared.schema.roles) role.overridden = given.contains(name);
        if (!walkSample(prepared, reporter)) return false;
        analyseSample(prepared);
    }
    return !prepared.analysis.refusal;
}

void noteChangedRoles(Prepared& prepared, const InputSchema& before)
{
    std::erase_if(prepared.notes,
                  [&](const std::string& note) { return std::ranges::find(before.notes, note) != before.notes.end(); });
    for (const auto& [name, role] : prepared.schema.roles) {
        const auto guessed = before.roles.find(name);
        if (guessed != before.roles.end() && guessed->second == role) continue;
        prepared.schema.notes.push_back(name + ": taken as " + analysis::roleText(role) + ", as the model uses it");
    }
    noteRoles(prepared);
}

}  // namespace

void noteRoles(Prepared& prepared)
{
    std::string text;
    for (const auto& [name, role] : prepared.schema.roles)
        text += (text.empty() ? "" : " ") + name + "=" + analysis::roleText(role);
    prepared.hashes["roles"] = text;
    prepared.notes.insert(prepared.notes.end(), prepared.schema.notes.begin(), prepared.schema.notes.end());
}

void readRolesOfModel(Prepared& prepared, Reporter& reporter)
{
    const Reading before = readingOf(prepared);
    for (const Source source : {byCode, inUse}) {
        if (follow(prepared, source, reporter)) return noteChangedRoles(prepared, before.schema);
        restore(prepared, before);
    }
}

}  // namespace hopscope::pipeline
