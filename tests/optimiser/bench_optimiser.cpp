// Times of the optimiser on random instances, as the table of docs/dev/benchmarks/placement.md. One argument: the largest
// number of values (default 5000).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "optimiser/reduce.h"
#include "optimiser/reoptimise.h"
#include "random_instances.h"
#include "solver/mip.h"
#include "support/generate_instance.h"

using namespace hopscope;
using namespace hopscope::optimiser;

namespace {

constexpr double deadline = 60;

struct Size {
    int nodes, instancesPerFamily, pinsPerInstance;
    const char *goalProof, *goalPin, *goalLocal;
};

constexpr Size sizes[] = {{50, 10, 4, "gap 0, median 0.05 s", "", ""},
                          {200, 6, 4, "gap 0, median 0.2 s", "", ""},
                          {1000, 4, 6, "gap 0, median 3 s", "median 10 ms, p95 50 ms", "mean 3 %"},
                          {5000, 1, 4, "gap 0.1 % within 60 s", "", ""}};

// Numbers of one kind, and their quantiles.
class Sample {
public:
    void add(double value) { m_values.push_back(value); }
    [[nodiscard]] double quantile(double q) const
    {
        if (m_values.empty()) return 0;
        std::vector<double> sorted = m_values;
        std::ranges::sort(sorted);
        return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(q * static_cast<double>(sorted.size())))];
    }
    [[nodiscard]] double sum() const { return std::accumulate(m_values.begin(), m_values.end(), 0.0); }
    [[nodiscard]] double mean() const { return m_values.empty() ? 0 : sum() / static_cast<double>(m_values.size()); }
    [[nodiscard]] double most() const { return quantile(1); }

private:
    std::vector<double> m_values;
};

struct Results {
    int instances = 0, proven = 0, pins = 0, pinsOptimal = 0;
    Sample reduced, proof, gap, resolve, excess, localTime, localGap;
};

template <class Function>
double seconds(const Function& function)
{
    const auto began = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

Answer solved(const Instance& in, Strategy strategy, double limit)
{
    Options options;
    options.strategy = strategy;
    options.deadlineSeconds = limit;
    const auto answer = solve(in, options);
    return answer ? *answer : Answer{};
}

void measurePins(const Instance& in, const Answer& best, const Size& size, std::uint64_t seed, Results& results)
{
    for (int k = 0; k < size.pinsPerInstance; ++k) {
        Instance pinned = in;
        test::addPins(pinned, seed * 100 + static_cast<std::uint64_t>(k));
        pinned.pins.resize(1);
        Answer answer;
        const double time = seconds([&] {
            if (const auto found = reoptimise(pinned, best.placement, pinned.pins)) answer = *found;
        });
        results.resolve.add(time);
        if (size.nodes > 1000 || answer.status == Status::Infeasible) continue;
        const double optimum = solved(pinned, Strategy::Optimal, deadline).placement.cost.total();
        const double excess = answer.placement.cost.total() / optimum - 1;
        results.excess.add(excess);
        ++results.pins;
        results.pinsOptimal += excess < 1e-4 ? 1 : 0;
    }
}

void measure(const Instance& in, const Size& size, std::uint64_t seed, Results& results)
{
    ++results.instances;
    results.reduced.add(static_cast<double>(reduce(in).instance.nodes.size()) / static_cast<double>(in.nodes.size()));
    Answer best;
    results.proof.add(seconds([&] { best = solved(in, Strategy::Optimal, deadline); }));
    results.gap.add(best.gap);
    results.proven += best.status == Status::Optimal ? 1 : 0;
    Answer local;
    results.localTime.add(seconds([&] { local = solved(in, Strategy::LocalSearch, deadline); }));
    results.localGap.add(local.placement.cost.total() / best.placement.cost.total() - 1);
    measurePins(in, best, size, seed, results);
}

Results measureSize(const Size& size)
{
    Results results;
    for (const std::string& family : families())
        for (int i = 0; i < size.instancesPerFamily; ++i) {
            GenerateOptions options;
            options.family = family;
            options.nodes = size.nodes;
            options.seed = 1000 + static_cast<std::uint64_t>(i);
            measure(generate(options), size, options.seed, results);
            std::fprintf(stderr, "%d %s %d\r", size.nodes, family.c_str(), i);
        }
    return results;
}

void printRow(const Size& size, const Results& r)
{
    std::printf("| %d | %d | %.2f | %d of %d | %.4f / %.4f | %.3f / %.3f / %.3f | %.1f | %s |\n", size.nodes,
                r.instances, r.reduced.mean(), r.proven, r.instances, 100 * r.gap.mean(), 100 * r.gap.most(),
                r.proof.quantile(0.5), r.proof.quantile(0.9), r.proof.most(), r.proof.sum(), size.goalProof);
}

void printPins(const Size& size, const Results& r)
{
    std::printf("| %d | %.1f / %.1f / %.1f | %s | ", size.nodes, 1e3 * r.resolve.quantile(0.5),
                1e3 * r.resolve.quantile(0.95), 1e3 * r.resolve.most(), size.goalPin);
    if (r.pins > 0)
        std::printf("%.0f %% | %.3f / %.1f ", 100.0 * r.pinsOptimal / r.pins, 100 * r.excess.mean(),
                    100 * r.excess.most());
    else std::printf("| ");
    std::printf("| %.1f / %.1f | %.2f / %.2f / %.2f | %s |\n", 100 * r.localGap.mean(), 100 * r.localGap.most(),
                r.localTime.quantile(0.5), r.localTime.quantile(0.9), r.localTime.most(), size.goalLocal);
}

}  // namespace

int main(int count, char** arguments)
{
    const int largest = count > 1 ? std::atoi(arguments[1]) : 5000;
    std::vector<std::pair<Size, Results>> all;
    for (const Size& size : sizes)
        if (size.nodes <= largest) all.emplace_back(size, measureSize(size));
    std::printf("Solver: %s\n\n", solver::solverName());
    std::printf("| values | instances | left after reduction | proven | gap %% mean / max | seconds to proof, median / "
                "p90 / max | sum | target |\n|---|---|---|---|---|---|---|---|\n");
    for (const auto& [size, results] : all) printRow(size, results);
    std::printf(
        "\n| values | ms around a pin, median / p95 / max | target | optimal | excess %% mean / max | local search: "
        "excess %% mean / max | seconds, median / p90 / max | target |\n|---|---|---|---|---|---|---|---|\n");
    for (const auto& [size, results] : all) printPins(size, results);
    return 0;
}
