#pragma once

// Which destination rows a sampled verification looks at.

#include <cstdint>
#include <vector>

namespace hopscope::verify {

// At least min(count, rows) rows, ascending: an eighth of them isolated (degree 0) where there are any, the others one
// from each of equally large slices of the rows ordered by degree, the row of the highest degree always among them.
// Seeded; linear in the rows.
std::vector<std::int64_t> chooseTargets(const std::int64_t* degrees, std::int64_t rows, std::int64_t count,
                                        std::uint64_t seed);

}  // namespace hopscope::verify
