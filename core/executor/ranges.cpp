#include "executor/ranges.h"

#include <algorithm>

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

}  // namespace hopscope::executor
