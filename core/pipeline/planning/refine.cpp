#include "pipeline/planning/refine.h"

#include <algorithm>
#include <cmath>

#include "pipeline/machine/machine.h"
#include "placement/account.h"

namespace hopscope::pipeline {

namespace {

constexpr double leastSeconds = 0.05;
constexpr double leastBusy = 0.8;  // or else other programs had the cores
constexpr double mostFactor = 4;   // the first run moves a rate half of this on a log scale
constexpr std::int64_t longMemory = 8;

// How much longer it took than expected, as far as it is believed.
class Slowness {
public:
    explicit Slowness(std::int64_t runs) : m_share(1 / static_cast<double>(2 + std::min(runs, longMemory))) {}

    double operator()(double expected, double measured) const
    {
        if (measured < leastSeconds || expected <= 0) return 1;
        return std::pow(std::clamp(measured / expected, 1 / mostFactor, mostFactor), m_share);
    }

private:
    double m_share;
};

double secondsOf(const executor::RunReport& run)
{
    double sum = 0;
    for (const executor::StageReport& stage : run.stages) sum += stage.seconds;
    return sum;
}

// The share of the cores that was busy while stages ran.
double busyShare(const executor::RunReport& run)
{
    double worked = 0;
    for (const executor::StageReport& stage : run.stages) worked += stage.coreSeconds.value_or(0);
    const double all = secondsOf(run) * std::max(run.cores, 1);
    return all > 0 ? worked / all : 0;
}

}  // namespace

base::Result<WorkSeconds> expectedSeconds(const Prepared& prepared, forecast::Predictor& predictor,
                                          const plan::Plan& plan, const plan::Machine& machine,
                                          const forecast::PredictOptions& limits, std::stop_token stop)
{
    base::Result<plan::RowCounts> rows = predictor.countRows(plan, limits, std::move(stop));
    if (!rows) return base::forward(rows);
    const placement::CostModel costs(prepared.analysis, base::Objective::Time, machine, std::move(*rows));
    const placement::Account account =
        placement::accountOf(prepared.analysis, costs.with(placement::residencyOf(plan)), plan);
    WorkSeconds seconds{.structure = account.structure, .work = account.stages};
    for (const auto& [value, parts] : account.values) {
        seconds.write += parts.write;
        seconds.work += parts.read + parts.compute;
    }
    return seconds;
}

WorkSeconds measuredSeconds(const executor::RunReport& run)
{
    WorkSeconds seconds;
    for (const executor::StageReport& stage : run.stages) {
        const plan::PhaseSeconds& p = stage.phases;
        seconds.structure += p.block;
        seconds.write += p.d2h + p.write;
        seconds.work += p.gather + p.h2d + p.compute;
    }
    seconds.stages = busyShare(run) >= leastBusy ? secondsOf(run) : 0;
    return seconds;
}

plan::Machine refined(const plan::Machine& machine, const WorkSeconds& expected, const WorkSeconds& measured,
                      std::int64_t runs)
{
    const Slowness slowness(runs);
    plan::Machine better = machine;
    better.structure /= slowness(expected.structure, measured.structure);
    better.write /= slowness(expected.write, measured.write);
    better.slowness *= slowness(expected.stages, measured.stages);
    const double work = slowness(expected.work, measured.work);
    for (double* rate : {&better.read, &better.gather, &better.elementwise, &better.aggregate, &better.matmul})
        *rate /= work;
    for (double* seconds : {&better.call, &better.batch}) *seconds *= work;
    return better;
}

void learnFrom(const std::string& device, const WorkSeconds& expected, const executor::RunReport& run)
{
    KnownMachine known = knownMachine(device);
    if (!known.measured) return;
    const plan::Machine better = refined(known.rates, expected, measuredSeconds(run), known.runs);
    if (better == known.rates) return;
    known.rates = better;
    ++known.runs;
    (void)keepMachine(known);
}

}  // namespace hopscope::pipeline
