#pragma once

// Arithmetic on linear forms over table sizes.

#include "analysis/analysis.h"

namespace hopscope::analysis {

inline Linear constant(std::int64_t c)
{
    Linear l;
    l.constant = c;
    return l;
}

inline Linear sizeOf(SpaceId space)
{
    Linear l;
    l.sizes[space] = 1;
    return l;
}

// Returns the size of a table; a constant if it is the same on every graph.
inline Linear rowsOf(const Tables& tables, SpaceId space)
{
    const std::int64_t fixed = tables.space(space).rows;
    return fixed > 0 ? constant(fixed) : sizeOf(space);
}

inline Linear atom(ValueId value)
{
    Linear l;
    l.atoms[value] = 1;
    return l;
}

Linear add(const Linear& a, const Linear& b, std::int64_t factor = 1);  // a + factor * b
Linear scale(const Linear& a, std::int64_t factor);

// Returns the result of a scalar operator ("add", "floordiv", ...) if it is linear: all operands are constant, or the
// operator is add, sub, neg, or mul by a constant. nullopt otherwise.
std::optional<Linear> combine(const std::string& name, const std::vector<Linear>& operands);

}  // namespace hopscope::analysis
