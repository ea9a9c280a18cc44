#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <hwy/targets.h>
#include <limits>

#include "kernels/segment_case.h"

using namespace hopscope::kernels;
using segment_case::Case;

namespace {

void checkSeed(std::uint64_t seed)
{
    Case c(seed);
    CAPTURE(segment_case::describe(c));
    const std::vector<std::uint32_t> want = segment_case::expected(c);
    segmentCpu(c.arguments, 0, c.arguments.destinations);
    const auto wrong = segment_case::difference(want, c);
    CHECK_MESSAGE(!wrong, wrong.value_or(""));
}

// One row with every half number, so that each lane of a vector meets some of each kind.
void checkAllHalves(Element element, std::int64_t positions)
{
    std::vector<std::uint16_t> source(65536 * 2), out(65536);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint16_t>(i * 40503);
    const std::array<std::int64_t, 2> offsets{0, positions};
    SegmentArguments a;
    a.offsets = offsets.data();
    a.source = source.data(), a.out = out.data(), a.element = element;
    a.destinations = 1, a.width = a.sourceStride = 65536, a.combine = positions == 1 ? Combine::Max : Combine::Sum;
    segmentCpu(a, 0, 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        float want = segment_case::decode(element, source[i]);
        if (positions == 2) want = 0.0f + want + segment_case::decode(element, source[i + 65536]);
        CAPTURE(i);
        CAPTURE(want);
        if (std::isnan(want)) REQUIRE(std::isnan(segment_case::decode(element, out[i])));
        else REQUIRE(out[i] == segment_case::encode(element, want));
    }
}

template <class Check>
void onEveryInstructionSet(const Check& check)
{
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        CAPTURE(hwy::TargetName(target));
        check();
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace

TEST_CASE("every combination of elements, numbers, weights and hubs follows the definition bit for bit")
{
    for (std::uint64_t seed = 0; seed < 8 * segment_case::combinations; ++seed) checkSeed(seed);
}

TEST_CASE("every instruction set of the machine gives the same bits")
{
    onEveryInstructionSet([] {
        for (std::uint64_t seed = 0; seed < 2 * segment_case::combinations; ++seed) checkSeed(seed);
    });
}

TEST_CASE("every half number is widened and every sum rounded right on every instruction set")
{
    onEveryInstructionSet([] {
        for (const Element element : {Element::Float16, Element::BFloat16}) {
            checkAllHalves(element, 1);
            checkAllHalves(element, 2);
        }
    });
}

// Rounding error grows with the terms and with what cancels: it is measured against the sum of magnitudes, and at most
// kPiece roundings follow each other but for those between pieces.
TEST_CASE("every combination in float32 is near the sum in double precision")
{
    for (std::uint64_t seed = 0; seed < 8 * segment_case::combinations; seed += 3) {
        Case c(seed);
        if (!c.plain) continue;
        CAPTURE(segment_case::describe(c));
        const std::vector<double> want = segment_case::exact(c, false), scale = segment_case::exact(c, true);
        segmentCpu(c.arguments, 0, c.arguments.destinations);
        for (std::size_t i = 0; i < want.size(); ++i) {
            const double got = c.out.value(static_cast<std::int64_t>(i));
            REQUIRE(std::abs(want[i] - got) <= 7e-5 * std::max(scale[i], std::abs(want[i])) + 1e-6);
        }
    }
}

TEST_CASE("a range of destinations is written and its neighbours are not")
{
    for (std::uint64_t seed = 0; seed < 2 * segment_case::combinations; ++seed) {
        Case c(seed);
        const std::int64_t n = c.arguments.destinations, first = n / 3, last = n - n / 4;
        CAPTURE(segment_case::describe(c));
        std::vector<std::uint32_t> want = segment_case::expected(c);
        for (std::int64_t i = 0; i < n * c.arguments.width; ++i)
            if (i / c.arguments.width < first || i / c.arguments.width >= last)
                want[static_cast<std::size_t>(i)] = c.out.bits(i);
        segmentCpu(c.arguments, first, last);
        const auto wrong = segment_case::difference(want, c);
        CHECK_MESSAGE(!wrong, wrong.value_or(""));
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
            SegmentArguments a;
            a.offsets = offsets.data();
            a.source = source.data(), a.out = &out;
            a.destinations = a.width = a.sourceStride = 1;
            a.combine = combine;
            segmentCpu(a, 0, 1);
            CAPTURE(static_cast<int>(combine));
            CAPTURE(place);
            CHECK(std::isnan(out));
        }
    }
}

TEST_CASE("a hub's sum is that of its pieces, which differs from the sum in one go")
{
    std::vector<float> source(static_cast<std::size_t>(kPiece + 2), 1e-8f);
    source[0] = 1;
    const std::array<std::int64_t, 2> offsets{0, kPiece + 2};
    float out = 0;
    SegmentArguments a;
    a.offsets = offsets.data();
    a.source = source.data(), a.out = &out;
    a.destinations = a.width = a.sourceStride = 1;
    for (std::size_t i = static_cast<std::size_t>(kPiece); i < source.size(); ++i) source[i] = 4e-8f;
    segmentCpu(a, 0, 1);
    CHECK(out == 1.0f + (4e-8f + 4e-8f));
    CHECK(out > 1.0f);
}

TEST_CASE("nothing is read or written when there is no destination or no width")
{
    SegmentArguments a;
    segmentCpu(a, 0, 0);
    a.destinations = 3;
    segmentCpu(a, 0, 3);
}

TEST_CASE("the pieces of hubs cover their positions in order and nothing else")
{
    for (std::uint64_t seed = 0; seed < 4 * segment_case::combinations; ++seed) {
        const Case c(seed);
        CAPTURE(segment_case::describe(c));
        std::size_t next = 0;
        const std::vector<HubPiece> pieces = hubPieces(c.arguments.offsets, c.arguments.destinations);
        for (std::int64_t d = 0; d < c.arguments.destinations; ++d) {
            const std::int64_t first = c.offsets[static_cast<std::size_t>(d)],
                               end = c.offsets[static_cast<std::size_t>(d) + 1];
            for (std::int64_t at = first; end - first > 1024 && at < end; at += 1024) {
                REQUIRE(next < pieces.size());
                REQUIRE(pieces[next].destination == d);
                REQUIRE(pieces[next].begin == at);
                REQUIRE(pieces[next++].end == std::min(at + 1024, end));
            }
        }
        CHECK(next == pieces.size());
    }
}

TEST_CASE("a source in a half type gives what its numbers give in float32, bit for bit")
{
    onEveryInstructionSet([] {
        std::uint64_t state = 11;
        const auto random = [&state] {
            return static_cast<std::uint32_t>((state = state * 6364136223846793005U + 1) >> 33);
        };
        for (const Element element : {Element::Float16, Element::BFloat16})
            for (const std::int64_t width : {1, 3, 8, 17, 47, 128, 300})
                for (const Combine combine : {Combine::Sum, Combine::Mean, Combine::Max, Combine::Min}) {
                    CAPTURE(width);
                    const std::int64_t rows = 20, destinations = 6;
                    const std::vector<std::int64_t> offsets{0, 0, 3, 3, 10, 1500, 1501};  // one of them a hub
                    std::vector<std::int32_t> columns(1501);
                    for (auto& c : columns) c = static_cast<std::int32_t>(random() % rows);
                    std::vector<std::uint16_t> half(static_cast<std::size_t>(rows * width));
                    std::vector<float> whole(half.size()), weight(columns.size());
                    for (std::size_t i = 0; i < half.size(); ++i) {
                        const double value = static_cast<double>(random() % 20001) / 1000 - 10;
                        half[i] = static_cast<std::uint16_t>(segment_case::encode(element, value));
                        whole[i] = segment_case::decode(element, half[i]);
                    }
                    for (auto& w : weight) w = static_cast<float>(random() % 1000) / 500 - 1;
                    for (const bool weighted : {false, true}) {
                        std::vector<float> want(static_cast<std::size_t>(destinations * width), -7), made(want);
                        SegmentArguments a;
                        a.offsets = offsets.data(), a.columns = columns.data(), a.combine = combine;
                        a.destinations = destinations, a.width = a.sourceStride = width;
                        if (weighted) a.weight = weight.data();
                        a.source = whole.data(), a.out = want.data();
                        segmentCpu(a, 0, destinations);
                        a.source = half.data(), a.out = made.data(), a.sourceElement = element;
                        segmentCpu(a, 0, destinations);
                        REQUIRE(made == want);
                    }
                }
    });
}
