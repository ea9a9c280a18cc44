#include "pipeline/opening/model_roles.h"

#include <algorithm>

#include "analysis/code_roles.h"
#include "analysis/roles/sample.h"
#include "analysis/roles_in_use.h"
#include "base/units.h"
#include "pipeline/opening/walk_sample.h"

namespace hopscope::pipeline {

using analysis::InputSchema;

namespace {

using Rows = std::map<std::string, std::int64_t>;

Rows rowsOfParameters(const loader::ModelInfo& info)
{
    Rows rows;
    for (const loader::Parameter& parameter : info.parameters)
        rows[parameter.name] = parameter.shape.empty() ? 1 : parameter.shape[0];
    return rows;
}

}  // namespace

base::Result<InputSchema> inferRoles(const base::TensorMap& inputs, const Overrides& roles,
                                     const loader::ModelInfo& info)
{
    return analysis::inferSchema(inputs, roles, rowsOfParameters(info));
}

namespace {

// The roles that a weight with this many rows may have: "table=node:user"; without any, what else to do.
std::string roleFor(const std::string& weight, std::int64_t rows, const InputSchema& schema)
{
    std::string text;
    for (const auto& [table, size] : schema.sizes) {
        if (size != rows) continue;
        const auto index = schema.roles.find(table);
        const bool edges = index != schema.roles.end() && index->second.kind == analysis::RoleKind::Index;
        text += (text.empty() ? "say --role " : " or ") + weight + (edges ? "=edge:" : "=node:") + table;
    }
    return text.empty() ? "give the data that the model was made for: no table has as many rows as " + weight : text;
}

// A weight that is said to be a table has as many rows as the data.
base::Status checkParameterRows(const loader::ModelInfo& info, const InputSchema& schema)
{
    const Rows parameters = rowsOfParameters(info);
    for (const auto& [name, role] : schema.roles) {
        const auto rows = analysis::rowsOfWeight(parameters, name);
        const auto table = schema.sizes.find(role.first);
        if (!rows || table == schema.sizes.end() || *rows == table->second) continue;
        return base::fail(base::ErrorCode::Input,
                          "--role " + name + "=" + analysis::roleText(role) + ": the number of rows of " + name +
                              " is " + base::formatCount(static_cast<double>(*rows)) + ", but that of \"" +
                              table->first + "\" is " + base::formatCount(static_cast<double>(table->second)),
                          roleFor(name, *rows, schema), name);
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
        const Reading last = readingOf(prepared);
        if (roles == before || !cutByRoles(prepared, prepared.inputs, roles)) return false;
        for (auto& [name, role] : prepared.schema.roles) role.overridden = given.contains(name);
        if (!walkSample(prepared, reporter)) {
            restore(prepared, last);
            return false;
        }
        analyseSample(prepared);
    }
    return !prepared.analysis.refusal;
}

// Whether the first analysis is refused at a later operator than the other one.
bool comesFurther(const analysis::Analysis& one, const analysis::Analysis& other)
{
    return one.refusedOp.valid() && other.refusedOp.valid() && other.refusedOp < one.refusedOp;
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
    std::optional<Reading> furthest;
    for (const Source source : {byCode, inUse}) {
        if (follow(prepared, source, reporter)) return noteChangedRoles(prepared, before.schema);
        if (comesFurther(prepared.analysis, furthest.value_or(before).analysis)) furthest = readingOf(prepared);
        restore(prepared, before);
    }
    if (!furthest) return;
    restore(prepared, *furthest);  // the earlier refusals came from wrong guesses
    noteChangedRoles(prepared, before.schema);
}

}  // namespace hopscope::pipeline
