#include "kernels/row_dots.h"

#include "kernels/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_dots_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE float dot(const float* a, const float* b, std::int64_t n)
{
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    float all = 0;
    std::int64_t i = 0;
    if (n >= lanes) {
        auto sums = hn::Zero(d);
        for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
        all = hn::GetLane(hn::SumOfLanes(d, sums));
    }
    for (; i < n; ++i) all += a[i] * b[i];
    return all;
}

void rowDots(const RowDots& dots, std::int64_t first, std::int64_t last)
{
    float* out = dots.out + first * dots.parts;
    for (std::int64_t r = first; r < last; ++r) {
        const float *a = dots.a + r * dots.strideA, *b = dots.b + r * dots.strideB;
        for (std::int64_t p = 0; p < dots.parts; ++p, a += dots.part, b += dots.part) *out++ = dot(a, b, dots.part);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopscope::kernels {

HWY_EXPORT(rowDots);

void rowDotsCpu(const RowDots& dots, std::int64_t first, std::int64_t last)
{
    HWY_DYNAMIC_DISPATCH(rowDots)(dots, first, last);
}

}  // namespace hopscope::kernels
#endif
