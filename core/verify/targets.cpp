#include "verify/targets.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace hopscope::verify {

namespace {

// One rank from each of `slices` equal slices of [first, last).
void pickRanks(std::int64_t first, std::int64_t last, std::int64_t slices, std::mt19937_64& random,
               std::set<std::int64_t>& ranks)
{
    const std::int64_t size = last - first;
    slices = std::min(slices, size);
    for (std::int64_t i = 0; i < slices; ++i) {
        const std::int64_t from = first + size * i / slices, to = first + size * (i + 1) / slices;
        ranks.insert(from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from)));
    }
}

std::set<std::int64_t> wantedRanks(std::int64_t isolated, std::int64_t rows, std::int64_t count, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::set<std::int64_t> ranks;
    const std::int64_t connected = rows - isolated;
    const std::int64_t apart = std::min(isolated, std::max(count - connected, std::max<std::int64_t>(count / 8, 1)));
    pickRanks(0, isolated, apart, random, ranks);
    pickRanks(isolated, rows, count - apart, random, ranks);
    if (connected > 0) ranks.insert(rows - 1);
    return ranks;
}

}  // namespace

std::vector<std::int64_t> chooseTargets(const std::int64_t* degrees, std::int64_t rows, std::int64_t count,
                                        std::uint64_t seed)
{
    std::map<std::int64_t, std::int64_t> next;  // by degree: how many rows have it, then the rank of the next such row
    for (std::int64_t r = 0; r < rows; ++r) ++next[degrees[r]];
    const auto zero = next.find(0);
    const std::int64_t isolated = zero == next.end() ? 0 : zero->second;
    std::int64_t rank = 0;
    for (auto& [degree, entry] : next) {
        const std::int64_t number = entry;
        entry = rank;
        rank += number;
    }
    const std::set<std::int64_t> ranks = wantedRanks(isolated, rows, count, seed);
    std::vector<std::int64_t> chosen;
    for (std::int64_t r = 0; r < rows; ++r)
        if (ranks.contains(next[degrees[r]]++)) chosen.push_back(r);
    return chosen;
}

}  // namespace hopscope::verify
