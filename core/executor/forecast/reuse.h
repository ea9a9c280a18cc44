#pragma once

// Private to forecast: the cache hit rate of random rows, from the order in which a graph refers to them.

#include <cstdint>
#include <functional>
#include <vector>

namespace hopscope::forecast {

// By the footprint theory of caches: a cache of n rows holds the rows of the most recent window that contains n
// distinct rows, and the share of misses is the rate at which that window meets new rows. Skewed degrees and neighbours
// that follow each other both affect it.
class Reuse {
public:
    using Row = std::function<std::int64_t(std::int64_t position)>;

    // `count` positions, which refer to a table of `rows` rows.
    Reuse(Row row, std::int64_t count, std::int64_t rows);

    // The share of reads (0 to 1) that a cache of `held` rows does not serve, from a few windows, or from a single one
    // if it is long: at most about three million positions are examined.
    double misses(double held);

private:
    struct Share {
        double misses;
        std::int64_t reads;  // the number of reads that it is estimated from
    };
    Share missesFrom(std::int64_t first, double held);

    Row m_row;
    std::int64_t m_count, m_rows;
    std::vector<std::int32_t> m_marks;  // by row: the last window that met it
    std::int32_t m_window = 0;
};

}  // namespace hopscope::forecast
