#pragma once

// Private to the optimiser: formulates the placement problem of a graph as an integer program.
//
// Binary columns: computed on D or F@t, read on D or F@t, written, each by node and stage within the graph's windows.
// Rows: operands are available; a read has an earlier write; a write has a computation; every hop runs once; outputs
// are written; a stage loads the structure of its relations. Rows that are implied for whole solutions but not for
// fractions (every live op is computed, every live input read at least once) make the relaxation tight.

#include <limits>
#include <optional>

#include "optimiser/cells.h"
#include "solver/mip.h"

namespace hopscope::optimiser {

struct ProgramOptions {
    // The number of values above a stage's demand that may be recomputed in it; negative: no limit. Each value may
    // always be computed in its earliest stage. A bound of a limited program does not bound the problem.
    int recompute = -1;
    const Cells* include = nullptr;  // cells that a limited program always has
    // Stages outside from..to keep their cells from `include`.
    int from = 0, to = std::numeric_limits<int>::max();
    bool minimisePeak = false;  // the objective is the host's peak; the budget is ignored
};

class Program {
public:
    Program(const Graph& g, const ProgramOptions& options = {});

    [[nodiscard]] const solver::Problem& problem() const { return m_problem; }
    [[nodiscard]] solver::Problem& problem() { return m_problem; }

    // Returns the values of the columns for these cells, a legal plan of the graph.
    [[nodiscard]] std::vector<double> values(const Cells& cells) const;
    [[nodiscard]] Cells cells(const std::vector<double>& values) const;

private:
    struct Key {  // the meaning of a column: a table of Cells and an index into it; -1 for derived columns
        std::vector<std::uint8_t> Cells::*table = nullptr;
        std::size_t place = 0;
        int stage = 0;
    };
    void addColumns(int v);
    void addInput(int v);
    void addComputations(int v);
    void addStores(int v);
    int add(std::vector<int>& table, std::vector<std::uint8_t> Cells::*kind, std::size_t place, int stage, double cost);
    int addDerived(double cost, int stage);
    void addRows(int v);
    void availability(int v, int s);
    void availabilityF(int v, int t, int s);
    void onD(int u, int s);
    void writes(int v, int s);
    void reads(int v, int s);
    void readRow(const std::vector<int>& columns, int v, int s);
    void totals(int v);
    void sharedCosts();
    void structure();
    void stageCosts();
    void budget();
    void residency(int v);
    int resident(int v, int s);
    [[nodiscard]] bool hasBudget() const { return m_options.minimisePeak || m_g.in.hostBudget.has_value(); }
    void terms(const std::vector<int>& columns, double value);
    void deriveValues(const Cells& cells, std::vector<double>& values) const;

    const Graph& m_g;
    ProgramOptions m_options;
    CellIndex m_at;
    std::optional<Cells> m_allowed;
    solver::Problem m_problem;
    std::vector<Key> m_keys;
    std::vector<int> m_xD, m_rD, m_w, m_q, m_xF, m_rF;  // column by cell, or -1
    std::vector<int> m_structure;                       // by relation * stages + stage
    std::vector<int> m_stageUsed;                       // by stage
    int m_peak = -1;
};

// Returns the cells of a program with this limit on recomputation.
Cells limitedCells(const Graph& g, int recompute);

}  // namespace hopscope::optimiser
