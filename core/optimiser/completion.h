#pragma once

// Private to the optimiser: computes the cost of a plan, given its stores and the stages of its hops. Created once per
// graph and evaluated thousands of times.

#include <cstdint>
#include <vector>

#include "optimiser/cells.h"

namespace hopscope::optimiser {

struct Choice {
    std::vector<std::uint8_t> stored;  // by node: may be read back; values that nothing reads are not written
    std::vector<int> hopStage;         // by node
    std::vector<int> writeStage;       // by node; -1 or too early a stage: the earliest possible one
};

class Completion {
public:
    explicit Completion(const Graph& g);

    // Returns the choice that stores only the values that have to be stored and runs hops in their pinned or earliest
    // stages.
    [[nodiscard]] Choice plain() const;

    // Returns the cost of a choice, without regard to the host budget; infinity if a needed value is neither stored nor
    // computable. Stages are visited from the last to the first. A needed value is read or computed as in `like`, if
    // `like` decides this and it is possible; otherwise in the way that is cheaper for this value alone. `cells`, if
    // given, receives the decisions.
    double evaluate(const Choice& choice, Cells* cells = nullptr, const Cells* like = nullptr);

    // The node that made the last evaluation infinite, because it is neither stored nor computable where it is needed;
    // -1 if there is none.
    [[nodiscard]] int stuckAt() const { return m_stuck; }
    [[nodiscard]] double peak() const;  // of the host's memory, in the last evaluation

private:
    enum Need : std::uint8_t { No, Wanted, MustRead };
    void placeStages(const Choice& choice);
    void listRoots(const Choice& choice);
    bool stage(int s);
    void sharedCosts(int s);
    void want(int v, int cell, Need need);
    bool visit(int v);
    int blocker(int v, int cell);
    bool provide(int v, int cell, Need need);
    [[nodiscard]] bool wasRead(int v, int cell) const;
    [[nodiscard]] bool wasComputed(int v, int cell) const;
    void read(int v, int cell, double cost);
    bool compute(int v, int cell);
    void wantOperands(int v, int cell);
    double estimate(int v, int cell);
    double estimateComputing(int v, int cell, double limit);
    [[nodiscard]] bool readable(int v, int cell) const;
    [[nodiscard]] bool computable(int v, int cell) const;
    [[nodiscard]] bool there(int v, int cell) const;
    [[nodiscard]] double readCost(int v, int cell) const { return m_readCost[at(v, cell)]; }
    [[nodiscard]] double computeCost(int v, int cell) const { return m_computeCost[at(v, cell)]; }
    // Cell 0 is D, cell 1 + t is F@t.
    [[nodiscard]] std::size_t at(int v, int cell) const { return static_cast<std::size_t>(v) * m_cells + cell; }
    [[nodiscard]] int own(int v) const { return 1 + m_type[v]; }

    const Graph& m_g;
    int m_cells;
    std::vector<int> m_type;
    std::vector<double> m_readCost, m_computeCost;
    std::vector<std::vector<int>> m_src, m_loc;
    std::vector<std::uint8_t> m_kindHop, m_kindInput, m_anyCut;

    const Choice* m_choice = nullptr;
    Cells* m_out = nullptr;
    const Cells* m_like = nullptr;
    std::vector<int> m_stage;    // the stage that writes a value, if one does
    std::vector<int> m_natural;  // the first stage that can compute it
    std::vector<int> m_lastRead, m_written;
    std::vector<std::uint8_t> m_pending, m_need;
    std::vector<int> m_computed;
    std::vector<std::vector<int>> m_hops, m_writes;  // by stage
    std::vector<std::uint64_t> m_waiting;            // one bit per position in the order: nodes to visit in this stage
    std::vector<int> m_touched;
    std::vector<double> m_memo;
    std::vector<int> m_memoStamp;
    std::vector<int> m_relationStamp;
    int m_s = 0, m_stamp = 0, m_stuck = -1;
    bool m_used = false;
    double m_cost = 0;
};

}  // namespace hopscope::optimiser
