#include <doctest/doctest.h>

#include <array>
#include <hwy/targets.h>

#include "kernels/segment_case.h"

using namespace hopscope::kernels;
using segment_case::Case;

namespace {

void checkExactly(const std::vector<float>& want, const Case& c)
{
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (segment_case::sameBits(c.arguments.combine, want[i], c.out[i])) continue;
        FAIL_CHECK("element " << i << " is " << c.out[i] << ", not " << want[i]);
        return;
    }
}

// Rounding error grows with the terms and with what cancels: it is measured against the sum of magnitudes.
void checkNearly(const std::vector<double>& want, const std::vector<double>& scale, const Case& c)
{
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (!std::isfinite(want[i])) continue;
        if (std::abs(want[i] - c.out[i]) <= 1e-5 * std::max(std::abs(scale[i]), std::abs(want[i])) + 1e-6) continue;
        FAIL_CHECK("element " << i << " is " << c.out[i] << ", not " << want[i]);
        return;
    }
}

std::vector<double> magnitudes(std::uint64_t seed)
{
    Case c;
    segment_case::makeCase(c, seed);
    for (std::vector<float>* values : {&c.source, &c.weight, &c.out})
        for (float& value : *values) value = std::abs(value);
    return segment_case::expectedAll<double>(c);
}

}  // namespace

TEST_CASE("every combination equals one-by-one float arithmetic in edge order, bit for bit")
{
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        Case c;
        segment_case::makeCase(c, seed);
        CAPTURE(segment_case::describe(c));
        const std::vector<float> want = segment_case::expectedAll<float>(c);
        segmentCpu(c.arguments, 0, c.arguments.destinations);
        checkExactly(want, c);
    }
}

TEST_CASE("every combination is near the sum in double precision")
{
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        if (seed % 4 == 3) continue;  // with infinities
        Case c;
        segment_case::makeCase(c, seed);
        CAPTURE(segment_case::describe(c));
        const std::vector<double> want = segment_case::expectedAll<double>(c);
        segmentCpu(c.arguments, 0, c.arguments.destinations);
        checkNearly(want, magnitudes(seed), c);
    }
}

TEST_CASE("every instruction set of the machine gives the same bits")
{
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        CAPTURE(hwy::TargetName(target));
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            Case c;
            segment_case::makeCase(c, seed);
            CAPTURE(segment_case::describe(c));
            const std::vector<float> want = segment_case::expectedAll<float>(c);
            segmentCpu(c.arguments, 0, c.arguments.destinations);
            checkExactly(want, c);
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

TEST_CASE("a range of destinations is written and its neighbours are not")
{
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Case c, whole;
        segment_case::makeCase(c, seed);
        segment_case::makeCase(whole, seed);
        const std::vector<float> before = c.out;
        const std::int64_t n = c.arguments.destinations, first = n / 3, last = n - n / 4;
        CAPTURE(segment_case::describe(c));
        segmentCpu(whole.arguments, 0, n);
        segmentCpu(c.arguments, first, last);
        for (std::int64_t i = 0; i < n * c.arguments.width; ++i) {
            const bool inside = i / c.arguments.width >= first && i / c.arguments.width < last;
            const auto at = static_cast<std::size_t>(i);
            CHECK(std::memcmp(&c.out[at], inside ? &whole.out[at] : &before[at], sizeof(float)) == 0);
        }
    }
}

TEST_CASE("NaN wins in max and min wherever it stands")
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const Combine combine : {Combine::Max, Combine::Min, Combine::Sum, Combine::Mean}) {
        for (std::size_t place = 0; place < 5; ++place) {
            std::array<float, 5> source{1, -2, 3, -4, 5};
            source[place] = nan;
            const std::array<std::int64_t, 2> offsets{0, 5};
            float out = 0;
            SegmentArguments a{.offsets = offsets.data(),
                               .columns = nullptr,
                               .weight = nullptr,
                               .source = source.data(),
                               .out = &out,
                               .destinations = 1,
                               .width = 1,
                               .heads = 1,
                               .sourceStride = 1,
                               .combine = combine,
                               .empty = 0,
                               .accumulate = false};
            segmentCpu(a, 0, 1);
            CAPTURE(static_cast<int>(combine));
            CAPTURE(place);
            CHECK(std::isnan(out));
        }
    }
}

TEST_CASE("nothing is read or written when there is no destination or no width")
{
    SegmentArguments a;
    segmentCpu(a, 0, 0);
    a.destinations = 3;
    segmentCpu(a, 0, 3);
}
