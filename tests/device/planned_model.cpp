#include "planned_model.h"

#include <cstdlib>

#include <doctest/doctest.h>

#include "pipeline/machine/machine.h"
#include "pipeline/planning/planner.h"
#include "placement/strategy.h"

namespace hopscope::device_tests {

Planned::Planned(const Subject& s)
    : m_prepared{.model = loader::Model(nullptr),
                 .inputs = s.inputs,
                 .schema = s.prepared.schema,
                 .sample = {},
                 .walk = s.prepared.walk,
                 .analysis = s.prepared.analysis,
                 .sizes = {},
                 .hashes = {},
                 .dataArguments = {},
                 .files = {},
                 .notes = {}},
      m_predictor(m_prepared.walk, m_prepared.analysis, m_prepared.inputs, m_folder.path)
{}

plan::Plan Planned::byDefault(const std::string& device)
{
    pipeline::PlanRequest request;
    request.device = device;
    auto answer = pipeline::planFor(m_prepared, m_predictor, request, {}, {});
    REQUIRE_MESSAGE(answer.has_value(), base::describe(answer.error()));
    return std::move(answer->plan);
}

base::Result<pipeline::DeviceChoice> Planned::choose(double startSeconds)
{
    pipeline::PlanRequest request;
    request.device = "cuda:0";
    const base::ProgressFn silent;
    return pipeline::chooseDevice({m_prepared, m_predictor, request, silent, {}}, startSeconds);
}

plan::Plan Planned::asIfNothingStayed()
{
    auto depth = placement::makePlan(m_prepared.analysis, base::Strategy::Depth);
    REQUIRE(depth.has_value());
    depth->device = "cuda:0";
    const auto rows = m_predictor.countRows(*depth, {}, {});
    REQUIRE(rows.has_value());
    const placement::CostModel costs(m_prepared.analysis, base::Objective::Time, pipeline::machineFor("cuda:0"), *rows);
    auto optimum = placement::optimise(m_prepared.analysis, costs, {}, {});
    REQUIRE(optimum.has_value());
    optimum->plan.device = "cuda:0";
    auto kept = m_predictor.keepOnDevice(std::move(optimum->plan), {}, {});
    REQUIRE(kept.has_value());
    return std::move(*kept);
}

double Planned::seconds(const plan::Plan& plan)
{
    const auto forecast = pipeline::forecastOf(m_prepared, m_predictor, plan, {}, {});
    REQUIRE(forecast.has_value());
    return forecast->seconds();
}

plan::Machine largeGraph()
{
    plan::Machine rates = plan::typicalMachine("cuda:0");
    rates.call = rates.batch = 1e-12;
    return rates;
}

KnownRates::KnownRates(const std::vector<plan::Machine>& machines)
{
    ::setenv("XDG_CACHE_HOME", m_folder.path.c_str(), 1);
    for (const plan::Machine& rates : machines)
        REQUIRE(pipeline::keepMachine({.rates = rates, .measured = true}).has_value());
}

KnownRates::~KnownRates() { ::unsetenv("XDG_CACHE_HOME"); }

}  // namespace hopscope::device_tests
