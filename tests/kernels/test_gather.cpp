#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/segment.h"

TEST_CASE("rows are gathered byte for byte, for any row length, stride, range and width of row numbers")
{
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        CAPTURE(seed);
        const auto count = static_cast<std::int64_t>(random() % 60),
                   table = static_cast<std::int64_t>(random() % 40 + 1);
        const auto bytes = static_cast<std::int64_t>(random() % 3 == 0 ? random() % 3000 : random() % 70);
        const std::int64_t stride = bytes + static_cast<std::int64_t>(random() % 9);
        std::vector<std::byte> source(static_cast<std::size_t>(table * stride + 1)),
            out(static_cast<std::size_t>(count * bytes + 1), std::byte{0x5a});
        for (std::byte& b : source) b = static_cast<std::byte>(random());
        std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
        for (std::int64_t& row : rows) row = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(table));
        const std::int64_t first = count / 4, last = count - count / 5;
        std::vector<std::byte> want = out;
        for (std::int64_t i = first; i < last; ++i)
            for (std::int64_t b = 0; b < bytes; ++b)
                want[static_cast<std::size_t>(i * bytes + b)] =
                    source[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)] * stride + b)];
        hopscope::kernels::gatherRowsCpu(source.data(), stride, rows.data(), out.data(), bytes, first, last);
        CHECK(out == want);
        const std::vector<std::int32_t> narrow(rows.begin(), rows.end());
        std::fill(out.begin(), out.end(), std::byte{0x5a});
        hopscope::kernels::gatherRowsCpu(source.data(), stride, narrow.data(), out.data(), bytes, first, last);
        CHECK(out == want);
    }
}
