#include "solver/compact.h"

#include <algorithm>
#include <cmath>

namespace hopscope::solver {

namespace {

constexpr double tolerance = 1e-6;

// The original with bounds that are tightened while rows of one column are found.
class Compactor {
public:
    explicit Compactor(const Problem& original)
        : m_original(original),
          m_lower(original.lower),
          m_upper(original.upper),
          m_dropped(static_cast<std::size_t>(original.rows()), 0)
    {}

    Compacted run()
    {
        for (bool again = true; again && !m_result.infeasible;) again = pass();
        if (!m_result.infeasible) build();
        return std::move(m_result);
    }

private:
    struct Row {
        double fixed = 0, least = 0, most = 0;  // what fixed columns add; range of the free ones
        int free = 0, column = -1;
        double value = 0;
    };

    [[nodiscard]] bool isFixed(int c) const { return m_lower[c] == m_upper[c]; }

    [[nodiscard]] Row look(int row) const
    {
        Row r;
        for (int k = m_original.rowStart[row]; k < m_original.rowStart[row + 1]; ++k) {
            const int c = m_original.termColumn[k];
            const double a = m_original.termValue[k];
            if (isFixed(c)) {
                r.fixed += a * m_lower[c];
                continue;
            }
            r.least += a > 0 ? a * m_lower[c] : a * m_upper[c];
            r.most += a > 0 ? a * m_upper[c] : a * m_lower[c];
            ++r.free;
            r.column = c;
            r.value = a;
        }
        return r;
    }

    // Whether bounds changed, so that another pass may find more.
    bool pass()
    {
        bool changed = false;
        for (int row = 0; row < m_original.rows() && !m_result.infeasible; ++row)
            if (!m_dropped[row] && drop(row)) changed = true;
        return changed;
    }

    bool drop(int row)
    {
        const Row r = look(row);
        const double low = m_original.rowLower[row] - r.fixed, high = m_original.rowUpper[row] - r.fixed;
        if (r.least > high + tolerance || r.most < low - tolerance) m_result.infeasible = true;
        if (r.free != 1) {
            m_dropped[row] = r.least >= low - 1e-9 && r.most <= high + 1e-9;
            return false;
        }
        m_dropped[row] = 1;
        return tighten(r.column, r.value > 0 ? low / r.value : high / r.value,
                       r.value > 0 ? high / r.value : low / r.value);
    }

    bool tighten(int c, double low, double high)
    {
        if (m_original.integer[c]) {
            low = std::ceil(low - tolerance);
            high = std::floor(high + tolerance);
        }
        const bool changed = low > m_lower[c] || high < m_upper[c];
        m_lower[c] = std::max(m_lower[c], low);
        m_upper[c] = std::min(m_upper[c], high);
        if (m_lower[c] > m_upper[c] + tolerance) m_result.infeasible = true;
        if (m_lower[c] > m_upper[c]) m_lower[c] = m_upper[c];
        return changed && isFixed(c);
    }

    void build()
    {
        Problem& p = m_result.problem;
        std::vector<int> column(static_cast<std::size_t>(m_original.columns()), -1);
        p.constant = m_original.constant;
        for (int c = 0; c < m_original.columns(); ++c) {
            if (isFixed(c)) {
                p.constant += m_original.cost[c] * m_lower[c];
                continue;
            }
            column[c] = p.addColumn(m_original.cost[c], m_lower[c], m_upper[c], m_original.integer[c] != 0);
            m_result.kept.push_back(c);
        }
        for (int row = 0; row < m_original.rows(); ++row)
            if (!m_dropped[row]) copyRow(row, column);
        m_result.lower = m_lower;
    }

    void copyRow(int row, const std::vector<int>& column)
    {
        double fixed = 0;
        for (int k = m_original.rowStart[row]; k < m_original.rowStart[row + 1]; ++k) {
            const int c = m_original.termColumn[k];
            if (column[c] < 0) fixed += m_original.termValue[k] * m_lower[c];
            else m_result.problem.term(column[c], m_original.termValue[k]);
        }
        m_result.problem.closeRow(m_original.rowLower[row] - fixed, m_original.rowUpper[row] - fixed);
    }

    const Problem& m_original;
    std::vector<double> m_lower, m_upper;
    std::vector<std::uint8_t> m_dropped;
    Compacted m_result;
};

}  // namespace

Compacted compact(const Problem& original) { return Compactor(original).run(); }

std::vector<double> expand(const Compacted& compacted, const std::vector<double>& values)
{
    std::vector<double> all = compacted.lower;
    for (std::size_t i = 0; i < compacted.kept.size(); ++i) all[compacted.kept[i]] = values[i];
    return all;
}

bool feasible(const Problem& problem, const std::vector<double>& values)
{
    if (values.size() != problem.cost.size()) return false;
    for (int c = 0; c < problem.columns(); ++c) {
        if (values[c] < problem.lower[c] - tolerance || values[c] > problem.upper[c] + tolerance) return false;
        if (problem.integer[c] && std::abs(values[c] - std::round(values[c])) > tolerance) return false;
    }
    for (int row = 0; row < problem.rows(); ++row) {
        double sum = 0;
        for (int k = problem.rowStart[row]; k < problem.rowStart[row + 1]; ++k)
            sum += problem.termValue[k] * values[problem.termColumn[k]];
        const double slack = tolerance * std::max(1.0, std::abs(sum));
        if (sum < problem.rowLower[row] - slack || sum > problem.rowUpper[row] + slack) return false;
    }
    return true;
}

double objective(const Problem& problem, const std::vector<double>& values)
{
    double sum = problem.constant;
    for (int c = 0; c < problem.columns(); ++c) sum += problem.cost[c] * values[c];
    return sum;
}

}  // namespace hopscope::solver
