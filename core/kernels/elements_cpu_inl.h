// Loads and stores elements as vectors of float32. The header is compiled once per instruction set: Highway includes it
// for each, so it has no ordinary include guard. Conversions for which a set has no instruction are done by half.h,
// element by element.

#if defined(HOPSCOPE_KERNELS_ELEMENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef HOPSCOPE_KERNELS_ELEMENTS
#undef HOPSCOPE_KERNELS_ELEMENTS
#else
#define HOPSCOPE_KERNELS_ELEMENTS
#endif

#include <hwy/highway.h>

#include "base/half.h"

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
using base::BFloat16;
using base::Float16;
using base::narrow;
using base::widen;
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// On other targets, Highway's own conversions do not support infinities and NaN, or truncate instead of rounding.
#undef HOPSCOPE_F16C
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define HOPSCOPE_F16C 1
#else
#define HOPSCOPE_F16C 0
#endif

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* from)
{
    return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const BFloat16* from)
{
    const hn::Rebind<std::uint16_t, D> bits;
    const hn::RebindToUnsigned<D> wide;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(bits, &from->bits))));
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Float16* from)
{
    const hn::Rebind<std::uint16_t, D> bits;
#if HOPSCOPE_F16C
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(bits, &from->bits)));
#else
    // The same computation as in widen() of half.h.
    const hn::RebindToUnsigned<D> wide;
    const auto all = hn::PromoteTo(wide, hn::LoadU(bits, &from->bits));
    const auto sign = hn::ShiftLeft<16>(hn::And(all, hn::Set(wide, 0x8000u)));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(all, hn::Set(wide, 0x7fffu)));
    const auto rebias = hn::Set(wide, 112u << 23), one = hn::Set(wide, 1u << 23);
    const auto normal = hn::Add(magnitude, rebias);
    const auto subnormal =
        hn::BitCast(wide, hn::Sub(hn::BitCast(d, hn::Add(normal, one)), hn::BitCast(d, hn::Set(wide, 113u << 23))));
    const auto special = hn::Eq(hn::And(all, hn::Set(wide, 0x7c00u)), hn::Set(wide, 0x7c00u));
    const auto small = hn::Eq(hn::And(all, hn::Set(wide, 0x7c00u)), hn::Zero(wide));
    const auto value = hn::IfThenElse(special, hn::Add(normal, rebias), hn::IfThenElse(small, subnormal, normal));
    return hn::BitCast(d, hn::Or(value, sign));
#endif
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, float* to)
{
    hn::StoreU(value, d, to);
}

template <class D>
HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> value, BFloat16* to)
{
    const hn::Rebind<std::uint16_t, D> half;
    const hn::RebindToUnsigned<D> wide;
    const hn::RebindToSigned<D> whole;
    const auto bits = hn::BitCast(wide, value);
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1u));
    const auto rounded = hn::Add(bits, hn::Add(even, hn::Set(wide, 0x7fffu)));
    const auto quiet = hn::Or(bits, hn::Set(wide, 0x400000u));
    const auto chosen = hn::IfThenElse(hn::RebindMask(wide, hn::IsNaN(value)), quiet, rounded);
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(whole, hn::ShiftRight<16>(chosen))), half, &to->bits);
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, Float16* to)
{
#if HOPSCOPE_F16C
    const hn::Rebind<std::uint16_t, D> bits;
    const hn::Rebind<hwy::float16_t, D> half;
    hn::StoreU(hn::BitCast(bits, hn::DemoteTo(half, value)), bits, &to->bits);
#else
    HWY_ALIGN float wide[hn::MaxLanes(d)];
    hn::Store(value, d, wide);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] = narrow<Float16>(wide[i]);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#endif
