#pragma once

// Row counts of a graph that there might be.

#include <random>

#include "analysis/analysis.h"
#include "plan/row_counts.h"

namespace hopscope::test {

inline plan::RowCounts randomRows(const analysis::Analysis& a, std::mt19937_64& random)
{
    std::uniform_real_distribution<double> rows(10, 1000), factor(1, 5);
    plan::RowCounts counts;
    for (std::size_t i = 0; i < a.tables.spaces.size(); ++i)
        counts.tables[ir::SpaceId(static_cast<std::int32_t>(i))] = rows(random);
    for (const auto& [from, n] : counts.tables)
        for (const auto& [to, m] : counts.tables) counts.frontiers[{from, to}] = m * factor(random);
    return counts;
}

}  // namespace hopscope::test
