#pragma once

// Chooses the destination rows for verification by sampling.

#include <cstdint>
#include <vector>

namespace hopscope::verify {

// Chooses at least min(count, rows) rows, and returns them in ascending order. An eighth of them are isolated (degree
// 0), if there are such rows. The others are chosen at random, one from each quantile of the degrees, and include the
// row of the highest degree. Deterministic for a seed. Linear in the rows.
std::vector<std::int64_t> chooseTargets(const std::int64_t* degrees, std::int64_t rows, std::int64_t count,
                                        std::uint64_t seed);

}  // namespace hopscope::verify
