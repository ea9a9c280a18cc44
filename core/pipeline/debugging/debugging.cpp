#include "pipeline/debugging/debugging.h"

#include "pipeline/planning/choice.h"

namespace hopscope::pipeline {

namespace {

debugger::Settings settingsOf(const DebugOptions& options, const std::string& folder, Reporter& reporter)
{
    return {.tolerance = options.tolerance, .folder = folder, .batch = options.batch, .progress = progressOf(reporter)};
}

// Frees the line of progress however the work ends.
template <class Work>
auto reported(Reporter& reporter, Work&& work)
{
    auto result = work();
    reporter.progressEnded();
    return result;
}

}  // namespace

debugger::Subject subjectOf(const Prepared& prepared)
{
    return {.walk = &prepared.walk,
            .analysis = &prepared.analysis,
            .inputs = &prepared.inputs,
            .name = prepared.model.info().path};
}

base::Result<plan::Plan> debugPlan(Prepared& prepared, const DebugOptions& options, const std::string& folder,
                                   Reporter& reporter, const std::stop_token& stop)
{
    if (prepared.analysis.refusal) return tl::unexpected(*prepared.analysis.refusal);
    if (!options.plan.file.empty()) hashInputs(prepared, reporter);
    const base::Settings settings{.strategy = base::Strategy::Depth, .device = "cpu"};
    base::Result<ChosenPlan> chosen = choosePlan(prepared, folder, options.plan, settings, reporter, stop);
    if (!chosen) return base::forward(chosen);
    return std::move(chosen->plan);
}

base::Result<schema::DivergenceRecord> compareModels(const Prepared& prepared, const ModelOptions& model,
                                                     const DebugOptions& options, const std::string& folder,
                                                     Reporter& reporter, const std::stop_token& stop)
{
    base::Result<Prepared> other =
        prepare({.model = options.against, .data = model.data, .roles = model.roles, .trusted = model.trusted}, false,
                reporter);
    if (!other) return base::forward(other);
    if (const base::Status settled = settleBranches(*other, folder, reporter, stop); !settled)
        return base::forward(settled);
    return compareModels(prepared, *other, options, folder, reporter, stop);
}

base::Result<schema::DivergenceRecord> compareModels(const Prepared& prepared, const Prepared& other,
                                                     const DebugOptions& options, const std::string& folder,
                                                     Reporter& reporter, const std::stop_token& stop)
{
    return reported(reporter, [&] {
        return debugger::compareModels(subjectOf(prepared), subjectOf(other), settingsOf(options, folder, reporter),
                                       stop);
    });
}

base::Result<schema::DivergenceRecord> compareStaged(const Prepared& prepared, const plan::Plan& plan,
                                                     const DebugOptions& options, const std::string& folder,
                                                     Reporter& reporter, const std::stop_token& stop)
{
    return reported(reporter, [&] {
        return debugger::compareStaged(subjectOf(prepared), plan, prepared.inputs,
                                       settingsOf(options, folder, reporter), stop);
    });
}

base::Result<schema::NonFiniteReport> findNonFinite(const Prepared& prepared, const plan::Plan& plan,
                                                    const DebugOptions& options, const std::string& folder,
                                                    Reporter& reporter, const std::stop_token& stop)
{
    return reported(reporter, [&] {
        return debugger::huntNonFinite(subjectOf(prepared), plan, settingsOf(options, folder, reporter), stop);
    });
}

base::Result<schema::WatchReport> watchValues(const Prepared& prepared, const plan::Plan& plan,
                                              const debugger::WatchRequest& request, const DebugOptions& options,
                                              const std::string& folder, Reporter& reporter,
                                              const std::stop_token& stop)
{
    return reported(reporter, [&] {
        return debugger::watch(subjectOf(prepared), plan, request, settingsOf(options, folder, reporter), stop);
    });
}

base::Result<debugger::SeenTensor> seeTensor(const Prepared& prepared, const plan::Plan& plan,
                                             const debugger::TensorRequest& request, const DebugOptions& options,
                                             const std::string& folder, Reporter& reporter, const std::stop_token& stop)
{
    return reported(reporter, [&] {
        return debugger::seeTensor(subjectOf(prepared), plan, request, settingsOf(options, folder, reporter), stop);
    });
}

base::Result<executor::UnsplitValues> tablesOf(const Prepared& prepared, const std::string& folder)
{
    return executor::UnsplitValues::create(prepared.walk, prepared.analysis, prepared.inputs, folder, {});
}

}  // namespace hopscope::pipeline
