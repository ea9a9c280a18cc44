#include "graph/symmetric.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/random.h"

namespace hopscope::graph {

namespace {

using Keys = std::vector<std::uint64_t>;
constexpr std::int64_t kChunk = 1 << 16;
constexpr std::int64_t kSortPiece = 1 << 21;

// Sorts pieces in parallel, then merges neighbours, doubling the piece; a stop is seen between pieces.
base::Status sortKeys(Keys& keys, const Work& work)
{
    const auto count = static_cast<std::int64_t>(keys.size());
    const auto at = [&](std::int64_t index) { return keys.begin() + std::min(index, count); };
    auto done = forEachChunk(work, "sorting edges", count, kSortPiece, [&](std::int64_t begin, std::int64_t end) {
        std::sort(at(begin), at(end));
        return base::Status{};
    });
    for (std::int64_t width = kSortPiece; done && width < count; width *= 2)
        done = forEachChunk(work, "merging edges", count, 2 * width, [&](std::int64_t begin, std::int64_t end) {
            std::inplace_merge(at(begin), at(begin + width), at(end));
            return base::Status{};
        });
    return done;
}

constexpr std::uint64_t kLoop = ~std::uint64_t{0};

// One number per unordered pair; kLoop for a self-loop.
std::uint64_t pairKey(const Edge& edge, std::int64_t nodes)
{
    if (edge.source == edge.target) return kLoop;
    const auto [low, high] = std::minmax(edge.source, edge.target);
    return static_cast<std::uint64_t>(low) * static_cast<std::uint64_t>(nodes) + static_cast<std::uint64_t>(high);
}

// Appends draws [first, first + count) and leaves the keys sorted and distinct.
base::Status drawMore(Keys& keys, const EdgeDraw& draw, std::int64_t nodes, std::int64_t first, std::int64_t count,
                      const Work& work)
{
    const std::size_t before = keys.size();
    keys.resize(before + static_cast<std::size_t>(count));
    auto drawn = forEachChunk(work, "drawing edges", count, kChunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            keys[before + static_cast<std::size_t>(i)] = pairKey(draw(first + i), nodes);
        return base::Status{};
    });
    if (!drawn) return drawn;
    if (auto sorted = sortKeys(keys, work); !sorted) return sorted;
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    if (!keys.empty() && keys.back() == kLoop) keys.pop_back();
    return {};
}

// Keeps a uniformly random `wanted` of the keys, the same whatever their order.
void keepRandom(Keys& keys, std::int64_t wanted, std::uint64_t stream)
{
    const auto cut = keys.begin() + wanted;
    std::nth_element(keys.begin(), cut, keys.end(), [&](std::uint64_t a, std::uint64_t b) {
        return scatter(stream ^ scatter(a)) < scatter(stream ^ scatter(b));
    });
    keys.erase(cut, keys.end());
}

base::Result<Keys> drawPairs(const GenerateOptions& options, const EdgeDraw& draw, std::int64_t wanted,
                             const Work& work)
{
    Keys keys;
    const std::int64_t patience = 64 * wanted + 1'000'000;
    std::int64_t drawn = 0;
    for (auto have = std::int64_t{0}; have < wanted; have = static_cast<std::int64_t>(keys.size())) {
        if (drawn > patience)
            return base::fail(base::ErrorCode::Usage,
                              "fewer than " + std::to_string(2 * wanted) + " distinct edges came up in " +
                                  std::to_string(drawn) + " draws: the graph is too dense for this generator",
                              "ask for fewer edges");
        // Drawing at least a share of the pairs found so far keeps the rounds few where new pairs are rare.
        const std::int64_t missing = wanted - have;
        const std::int64_t more = draw.random() ? std::max(missing + missing / 7 + 1000, have / 4) : wanted;
        if (auto done = drawMore(keys, draw, options.nodes, drawn, more, work); !done) return base::forward(done);
        drawn += more;
    }
    if (static_cast<std::int64_t>(keys.size()) > wanted) keepRandom(keys, wanted, streamKey(options.seed, 3));
    return keys;
}

}  // namespace

base::Result<Keys> drawSymmetric(const GenerateOptions& options, const EdgeDraw& draw, const Work& work)
{
    const std::int64_t wanted = draw.random() ? draw.count() / 2 : draw.count();
    auto keys = drawPairs(options, draw, wanted, work);
    if (!keys) return keys;
    const Permutation shuffle(options.nodes, streamKey(options.seed, 4));
    const auto nodes = static_cast<std::uint64_t>(options.nodes);
    keys->resize(2 * static_cast<std::size_t>(wanted));
    auto turned = forEachChunk(work, "shuffling ids", wanted, kChunk, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            const std::uint64_t pair = (*keys)[i];
            const auto one = static_cast<std::uint64_t>(shuffle(static_cast<std::int64_t>(pair / nodes)));
            const auto two = static_cast<std::uint64_t>(shuffle(static_cast<std::int64_t>(pair % nodes)));
            (*keys)[i] = one * nodes + two;
            (*keys)[i + static_cast<std::size_t>(wanted)] = two * nodes + one;
        }
        return base::Status{};
    });
    if (!turned) return base::forward(turned);
    if (auto sorted = sortKeys(*keys, work); !sorted) return base::forward(sorted);
    return keys;
}

}  // namespace hopscope::graph
