#pragma once

// Private to forecast: estimates the cache hit rate of random rows from the order in which a graph refers to them.

#include <cstdint>
#include <functional>
#include <vector>

namespace hopscope::forecast {

// Estimates misses by the footprint theory of caches: a cache of n rows holds the rows of the most recent window that
// contains n distinct rows, and the share of misses is the rate at which that window meets new rows. Both skewed
// degrees and consecutive neighbours affect this rate.
class Reuse {
public:
    using Row = std::function<std::int64_t(std::int64_t position)>;

    // `row` returns the row at each of `count` positions; the table has `rows` rows.
    Reuse(Row row, std::int64_t count, std::int64_t rows);

    // Returns the share of reads (0 to 1) that a cache of `held` rows does not serve. It is estimated from a few
    // windows, or from a single one if it is long, so that at most about three million positions are examined.
    double misses(double held);

private:
    struct Share {
        double misses;
        std::int64_t reads;  // the number of reads from which it is estimated
    };
    Share missesFrom(std::int64_t first, double held);

    Row m_row;
    std::int64_t m_count, m_rows;
    std::vector<std::int32_t> m_marks;  // by row: the last window that met it
    std::int32_t m_window = 0;
};

}  // namespace hopscope::forecast
