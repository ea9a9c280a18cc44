#include "models/pipeline.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "analysis/analyse.h"
#include "analysis/code_roles.h"
#include "analysis/roles/sample.h"
#include "analysis/roles_in_use.h"
#include "graph/safetensors.h"
#include "support/temporary_folder.h"

namespace hopscope::models {

namespace {

using test::TemporaryFolder;
using Roles = analysis::Overrides;

class PeakObserver final : public executor::Observer {
public:
    explicit PeakObserver(BatchPeaks* peaks) : m_peaks(peaks) {}
    void batchFinished(const executor::BatchEvent& batch) override
    {
        if (m_peaks) (*m_peaks)[batch.stage].push_back(batch.peakMemory);
    }

private:
    BatchPeaks* m_peaks;
};

base::TensorMap keep(const base::TensorMap& inputs, const std::vector<std::string>& names)
{
    base::TensorMap used;
    for (const std::string& name : names)
        if (const auto it = inputs.find(name); it != inputs.end()) used.insert(*it);
    return used;
}

// The model with these roles; its analysis may be a refusal.
base::Result<Prepared> prepareWith(const loader::Model& model, const base::TensorMap& used, const Roles& roles)
{
    std::map<std::string, std::int64_t> parameters;
    for (const loader::Parameter& parameter : model.info().parameters)
        parameters[parameter.name] = parameter.shape.empty() ? 1 : parameter.shape[0];
    auto schema = analysis::inferSchema(used, roles, parameters);
    if (!schema) return base::forward(schema);
    const auto sample = analysis::cutSample(used, *schema);
    if (!sample) return base::forward(sample);
    auto walk = loader::walk(model, *sample);
    if (!walk && walk.error().message.starts_with("forward fails")) walk = loader::walk(model, used);
    if (!walk) return base::forward(walk);
    analysis::Analysis analysis = analysis::analyse(walk->program, *schema);
    return Prepared{std::move(*walk), std::move(*schema), std::move(analysis)};
}

using Source = Roles (*)(const Prepared&);
Roles byCode(const Prepared& refused) { return analysis::rolesByCode(refused.walk.program, refused.schema); }
Roles inUse(const Prepared& refused) { return analysis::rolesInUse(refused.analysis, refused.schema); }

// The model with the roles that a source tells, for as long as it tells more; as pipeline/model_roles does.
base::Result<Prepared> followed(const loader::Model& model, const base::TensorMap& used, const Roles& given,
                                base::Result<Prepared> prepared, Source source)
{
    Roles roles = given;
    for (int round = 0; prepared && prepared->analysis.refusal && round < 8; ++round) {
        const Roles before = roles;
        for (const auto& [name, role] : source(*prepared)) roles.insert_or_assign(name, role);
        if (roles == before) break;
        prepared = prepareWith(model, used, roles);
        if (!prepared) break;
        for (auto& [name, role] : prepared->schema.roles) role.overridden = given.contains(name);
    }
    return prepared;
}

}  // namespace

base::Result<Prepared> prepare(const loader::Model& model, const base::TensorMap& inputs,
                               const std::vector<std::string>& texts)
{
    auto roles = analysis::parseRoles(texts);
    if (!roles) return base::forward(roles);
    const auto binding = loader::bind(model, inputs);
    if (!binding) return base::forward(binding);
    const base::TensorMap used = keep(inputs, binding->used);
    const auto prepared = prepareWith(model, used, *roles);
    if (!prepared || !prepared->analysis.refusal) return prepared;
    for (const Source source : {byCode, inUse})
        if (auto split = followed(model, used, *roles, prepared, source); split && !split->analysis.refusal)
            return split;
    return tl::unexpected<base::Error>(*prepared->analysis.refusal);
}

base::Result<base::TensorMap> copiesOf(const base::TensorMap& inputs, const std::string& folder,
                                       std::map<std::string, std::string>& files)
{
    base::TensorMap copies;
    for (const auto& [name, view] : inputs) {
        const std::string file = folder + "/input-" + std::to_string(files.size()) + ".safetensors";
        if (const base::Status written = graph::writeSafetensors(file, {{name, view}}, graph::Flush::No); !written)
            return base::forward(written);
        auto mapped = graph::mapSafetensors(file);
        if (!mapped) return base::forward(mapped);
        copies.merge(*mapped);
        files[name] = file;
    }
    return copies;
}

base::Result<executor::RunReport> runPlan(const Prepared& prepared, const plan::Plan& plan,
                                          const base::TensorMap& inputs, executor::Options options, BatchPeaks* peaks)
{
    const TemporaryFolder folder;
    options.folder = folder.path;
    PeakObserver observer(peaks);
    if (options.tile) {
        const auto copies = copiesOf(inputs, folder.path, options.transientInputs);
        if (!copies) return base::forward(copies);
        return executor::run(prepared.walk, prepared.analysis, plan, *copies, options, observer, {});
    }
    return executor::run(prepared.walk, prepared.analysis, plan, inputs, options, observer, {});
}

namespace {

bool sameTraffic(const forecast::Prediction& a, const forecast::Prediction& b)
{
    return a.batch == b.batch && a.stored == b.stored &&
           std::ranges::equal(a.stages, b.stages, [](const auto& one, const auto& other) {
               return one.bytes == other.bytes && one.read == other.read && one.batches == other.batches &&
                      one.frontierRows == other.frontierRows;
           });
}

}  // namespace

base::Result<forecast::Prediction> predictPlan(const Prepared& prepared, const plan::Plan& plan,
                                               const base::TensorMap& inputs, std::int64_t batch)
{
    const TemporaryFolder folder;
    forecast::Predictor predictor(prepared.walk, prepared.analysis, inputs, folder.path);
    const forecast::PredictOptions options{batch, std::nullopt, true};
    auto prediction = predictor.predict(plan, options, {});
    const auto traffic = predictor.predictTraffic(plan, options, {});
    if (prediction && (!traffic || !sameTraffic(*prediction, *traffic)))
        return base::fail(base::ErrorCode::Internal, "without peaks of memory, the traffic of a plan is another one");
    return prediction;
}

base::Result<plan::Plan> withResidents(const Prepared& prepared, plan::Plan plan, const base::TensorMap& inputs,
                                       std::int64_t batch)
{
    const TemporaryFolder folder;
    forecast::Predictor predictor(prepared.walk, prepared.analysis, inputs, folder.path);
    return predictor.keepOnDevice(std::move(plan), {batch, std::nullopt}, {});
}

base::Result<plan::Plan> optimalPlan(const Prepared& prepared, const base::TensorMap& inputs,
                                     placement::Objective objective, std::int64_t batch)
{
    const TemporaryFolder folder;
    const auto depth = placement::makePlan(prepared.analysis, base::Strategy::Depth);
    if (!depth) return base::forward(depth);
    forecast::Predictor predictor(prepared.walk, prepared.analysis, inputs, folder.path);
    const auto rows = predictor.countRows(*depth, {batch, std::nullopt}, {});
    if (!rows) return base::forward(rows);
    const placement::CostModel costs(prepared.analysis, objective, {}, *rows);
    auto optimum = placement::optimise(prepared.analysis, costs, {}, {});
    if (!optimum) return base::forward(optimum);
    return std::move(optimum->plan);
}

}  // namespace hopscope::models
