#pragma once

// Private to the optimiser: improves a first valid plan to the proven optimum, by a sequence of integer programs that
// allow more and more recomputation.

#include <chrono>
#include <optional>

#include "optimiser/cells.h"
#include "optimiser/program.h"
#include "optimiser/reduce.h"
#include "optimiser/solve.h"

namespace hopscope::optimiser {

class ProgressiveSearch {
public:
    // Keeps references to both arguments.
    ProgressiveSearch(const Instance& instance, const Options& options);

    base::Result<Answer> run();

private:
    [[nodiscard]] bool solverAllowed() const;
    [[nodiscard]] double secondsLeft() const;
    [[nodiscard]] bool over() const;
    [[nodiscard]] bool proven() const;
    [[nodiscard]] bool enough() const { return over() || proven() || (m_options.brief && m_best); }
    void firstPlans();
    void offerBaselines();
    void offerIncumbent();
    void offerLocalSearch();
    void enlarge();
    bool step(int recompute, double share);
    void offer(const Placement& placement, const std::string& by);
    void offerSmall(const Cells& cells, const std::string& by);
    void raiseBound(double bound);
    void report();
    base::Result<Answer> finish();

    const Instance& m_instance;
    const Options& m_options;
    std::chrono::steady_clock::time_point m_began;
    Graph m_graph;
    Reduced m_reduced;
    Graph m_small;
    std::optional<Cells> m_incumbent;  // the best plan that the reduced instance can express
    double m_incumbentCost = 0;
    std::optional<Answer> m_best;
    double m_bound = 0;
    bool m_infeasible = false;
    std::optional<base::Error> m_failure;
};

}  // namespace hopscope::optimiser
