// Implements the operators of strips on vectors. Compiled once per instruction set (see elements_cpu_inl.h).

#if defined(HOPSCOPE_KERNELS_STRIP_MATH) == defined(HWY_TARGET_TOGGLE)
#ifdef HOPSCOPE_KERNELS_STRIP_MATH
#undef HOPSCOPE_KERNELS_STRIP_MATH
#else
#define HOPSCOPE_KERNELS_STRIP_MATH
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> number(D d, double value)
{
    return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

// The arithmetic of the formulas.
template <class D>
struct VectorMath {
    using V = hn::Vec<D>;
    using Number = hn::TFromD<D>;
    using M = hn::Mask<D>;
    using Bits = hn::RebindToUnsigned<D>;

    static HWY_INLINE V set(Number value) { return hn::Set(D(), value); }
    static HWY_INLINE V infinity() { return hn::Inf(D()); }
    static HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
    static HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
    static HWY_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
    static HWY_INLINE V div(V a, V b) { return hn::Div(a, b); }
    static HWY_INLINE V neg(V a) { return hn::Neg(a); }
    static HWY_INLINE V abs(V a) { return hn::Abs(a); }
    static HWY_INLINE V min(V a, V b) { return hn::Min(a, b); }
    static HWY_INLINE V max(V a, V b) { return hn::Max(a, b); }
    static HWY_INLINE M less(V a, V b) { return hn::Lt(a, b); }
    static HWY_INLINE M lessOrEqual(V a, V b) { return hn::Le(a, b); }
    static HWY_INLINE M isNaN(V a) { return hn::IsNaN(a); }
    static HWY_INLINE V select(M which, V yes, V no) { return hn::IfThenElse(which, yes, no); }
    static HWY_INLINE V withSign(V a, V sign) { return hn::Or(a, hn::And(hn::SignBit(D()), sign)); }
    static HWY_INLINE V plusBits(V a, V b)
    {
        return hn::BitCast(D(), hn::Add(hn::BitCast(Bits(), a), hn::BitCast(Bits(), b)));
    }
    template <int count>
    static HWY_INLINE V shiftLeft(V a)
    {
        return hn::BitCast(D(), hn::ShiftLeft<count>(hn::BitCast(Bits(), a)));
    }
};

#undef HOPSCOPE_FORMULA
#define HOPSCOPE_FORMULA HWY_INLINE
#include "kernels/strip_formulas_inl.h"

struct AddOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V a, V b)
    {
        return hn::Add(a, b);
    }
};

struct SubOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V a, V b)
    {
        return hn::Sub(a, b);
    }
};

struct MulOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V a, V b)
    {
        return hn::Mul(a, b);
    }
};

struct DivOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V a, V b)
    {
        return hn::Div(a, b);
    }
};

struct NegOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return hn::Neg(x);
    }
};

struct AbsOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return hn::Abs(x);
    }
};

struct SqrtOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return hn::Sqrt(x);
    }
};

struct ReluOp {
    template <class D, class V>
    static HWY_INLINE V apply(D d, V x, double)
    {
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);  // NaN stays
    }
};

struct LeakyReluOp {
    template <class D, class V>
    static HWY_INLINE V apply(D d, V x, double slope)
    {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, number(d, slope)));
    }
};

struct ExpOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return formulaExp<VectorMath<D>>(x);
    }
};

struct SigmoidOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return formulaSigmoid<VectorMath<D>>(x);
    }
};

struct SiluOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return formulaSilu<VectorMath<D>>(x);
    }
};

struct TanhOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return formulaTanh<VectorMath<D>>(x);
    }
};

struct SoftplusOp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V x, double)
    {
        return formulaSoftplus<VectorMath<D>>(x);
    }
};

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#endif
