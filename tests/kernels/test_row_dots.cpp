#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/row_dots.h"

namespace {

using hopscope::kernels::RowDots;

struct Case {
    std::int64_t rows, parts, part;
    std::vector<float> a, b;  // b: a row for each, or one for all
    bool single;

    explicit Case(std::uint64_t seed)
    {
        std::mt19937_64 random(seed);
        std::normal_distribution<float> normal;
        rows = static_cast<std::int64_t>(random() % 9);
        parts = static_cast<std::int64_t>(random() % 5 + 1);
        part = static_cast<std::int64_t>(seed % 75);
        single = random() % 2 == 0;
        a.resize(static_cast<std::size_t>(rows * parts * part));
        b.resize(static_cast<std::size_t>((single ? 1 : rows) * parts * part));
        for (std::vector<float>* const v : {&a, &b})
            for (float& x : *v) x = normal(random);
    }

    [[nodiscard]] RowDots dots(float* out) const
    {
        return {.a = a.data(),
                .b = b.data(),
                .strideA = parts * part,
                .strideB = single ? 0 : parts * part,
                .out = out,
                .parts = parts,
                .part = part};
    }

    // In double precision, and how far from it a sum of so many rounded products may be.
    [[nodiscard]] std::pair<double, double> exact(std::int64_t row, std::int64_t p) const
    {
        double sum = 0, sizes = 0;
        for (std::int64_t i = p * part; i < (p + 1) * part; ++i) {
            const double product =
                static_cast<double>(a[static_cast<std::size_t>(row * parts * part + i)]) *
                static_cast<double>(b[static_cast<std::size_t>((single ? 0 : row * parts * part) + i)]);
            sum += product;
            sizes += std::abs(product);
        }
        return {sum, sizes * static_cast<double>(part + 1) * 6e-8};
    }
};

}  // namespace

TEST_CASE("inner products of parts of rows are those in double precision, and nothing else is written")
{
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        const Case c(seed);
        std::vector<float> out(static_cast<std::size_t>(c.rows * c.parts + 1), -7);
        const std::int64_t first = c.rows / 3, last = c.rows - c.rows / 4;
        hopscope::kernels::rowDotsCpu(c.dots(out.data()), first, last);
        for (std::int64_t r = 0; r < c.rows; ++r)
            for (std::int64_t p = 0; p < c.parts; ++p) {
                const float made = out[static_cast<std::size_t>(r * c.parts + p)];
                if (r < first || r >= last) CHECK(made == -7);
                else CHECK(std::abs(static_cast<double>(made) - c.exact(r, p).first) <= c.exact(r, p).second);
            }
        CHECK(out.back() == -7);
    }
}

TEST_CASE("the bits of an inner product do not depend on which others are computed with it")
{
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        const Case c(seed);
        std::vector<float> together(static_cast<std::size_t>(c.rows * c.parts)), alone(together);
        hopscope::kernels::rowDotsCpu(c.dots(together.data()), 0, c.rows);
        for (std::int64_t r = 0; r < c.rows; ++r) hopscope::kernels::rowDotsCpu(c.dots(alone.data()), r, r + 1);
        CHECK(together == alone);
    }
}
