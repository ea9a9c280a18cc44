#include "executor/rows/ranges.h"

#include <algorithm>
#include <limits>

namespace hopscope::executor {

namespace {

std::int64_t endOf(const Destinations& range) { return range.first + range.count; }

}  // namespace

Ranges united(Ranges ranges)
{
    std::ranges::sort(ranges, {}, &Destinations::first);
    Ranges made;
    for (const Destinations& r : ranges) {
        if (r.count == 0) continue;
        if (made.empty() || r.first > endOf(made.back())) made.push_back({r.first, r.count});
        else made.back().count = std::max(endOf(made.back()), endOf(r)) - made.back().first;
    }
    return made;
}

Ranges intersection(const Ranges& a, const Ranges& b)
{
    Ranges made;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        const std::int64_t first = std::max(i->first, j->first), end = std::min(endOf(*i), endOf(*j));
        if (first < end) made.push_back({first, end - first});
        endOf(*i) < endOf(*j) ? ++i : ++j;
    }
    return made;
}

Ranges gaps(const Ranges& ranges, std::int64_t count)
{
    Ranges made;
    std::int64_t next = 0;
    for (const Destinations& r : ranges) {
        if (r.first > next) made.push_back({next, r.first - next});
        next = endOf(r);
    }
    if (next < count) made.push_back({next, count - next});
    return made;
}

std::int64_t sizeOf(const Ranges& ranges)
{
    std::int64_t size = 0;
    for (const Destinations& r : ranges) size += r.count;
    return size;
}

Ranges rangesOf(const Chunks& chunks)
{
    Ranges ranges;
    for (const auto& [first, chunk] : chunks) ranges.push_back({first, chunk.count});
    return united(std::move(ranges));
}

void insert(Chunks& chunks, const Chunk& chunk)
{
    std::erase_if(chunks, [&](const auto& other) {
        return other.first < chunk.first + chunk.count && chunk.first < other.first + other.second.count;
    });
    chunks.emplace(chunk.first, chunk);
}

Ranges difference(const Ranges& a, const Ranges& b)
{
    return a.empty() ? Ranges() : intersection(a, gaps(b, endOf(a.back())));
}

namespace {

// The ends of all chunks, ascending.
std::vector<std::int64_t> endsOf(const std::vector<Chunk>& chunks)
{
    std::vector<std::int64_t> ends;
    for (const Chunk& chunk : chunks) ends.insert(ends.end(), {chunk.first, chunk.first + chunk.count});
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return ends;
}

// How an end is reached: by a chunk, or over a gap.
struct Step {
    std::int64_t open = std::numeric_limits<std::int64_t>::max();  // destinations, up to here
    const Chunk* by = nullptr;
};

std::size_t placeIn(const std::vector<std::int64_t>& ends, std::int64_t end)
{
    return static_cast<std::size_t>(std::ranges::lower_bound(ends, end) - ends.begin());
}

// Shortest paths: a step from one end to the next costs the destinations between them, a chunk from its first to its
// end costs nothing.
std::vector<Step> stepsTo(const std::vector<std::int64_t>& ends, const std::vector<Chunk>& chunks)
{
    std::multimap<std::int64_t, const Chunk*> from;
    for (const Chunk& chunk : chunks)
        if (chunk.count > 0) from.emplace(chunk.first, &chunk);
    std::vector<Step> steps(ends.size());
    if (!steps.empty()) steps.front().open = 0;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        const std::int64_t over = steps[i].open + ends[i + 1] - ends[i];
        if (over < steps[i + 1].open) steps[i + 1] = {over, nullptr};
        for (auto [it, last] = from.equal_range(ends[i]); it != last; ++it) {
            Step& to = steps[placeIn(ends, ends[i] + it->second->count)];
            if (steps[i].open <= to.open) to = {steps[i].open, it->second};
        }
    }
    return steps;
}

}  // namespace

Chunks cover(const std::vector<Chunk>& chunks)
{
    const std::vector<std::int64_t> ends = endsOf(chunks);
    const std::vector<Step> steps = stepsTo(ends, chunks);
    Chunks chosen;
    for (std::size_t i = steps.empty() ? 0 : steps.size() - 1; i > 0;) {
        const Chunk* const by = steps[i].by;
        if (by != nullptr) chosen.emplace(by->first, *by);
        i = by != nullptr ? placeIn(ends, by->first) : i - 1;
    }
    return chosen;
}

std::vector<std::int64_t> startsOf(const Ranges& ranges)
{
    std::vector<std::int64_t> starts;
    std::int64_t position = 0;
    for (const Destinations& range : ranges) starts.push_back(std::exchange(position, position + range.count));
    return starts;
}

Destinations restFrom(std::int64_t position, const Ranges& ranges, const std::vector<std::int64_t>& starts,
                      const std::int64_t* order)
{
    const auto at = static_cast<std::size_t>(std::ranges::upper_bound(starts, position) - starts.begin()) - 1;
    const std::int64_t before = position - starts[at];
    return {ranges[at].first + before, ranges[at].count - before, order};
}

}  // namespace hopscope::executor
