// Implements the operators of strips on vectors. Compiled once per instruction set (see elements_cpu_inl.h).

#if defined(HOPSCOPE_KERNELS_STRIP_MATH) == defined(HWY_TARGET_TOGGLE)
#ifdef HOPSCOPE_KERNELS_STRIP_MATH
#undef HOPSCOPE_KERNELS_STRIP_MATH
#else
#define HOPSCOPE_KERNELS_STRIP_MATH
#endif

#include <hwy/contrib/math/math-inl.h>
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

// Computes exp(x) for every x: Highway's Exp is undefined for results beyond the type's range, and 0 for NaN.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x)
{
    constexpr double most = sizeof(hn::TFromD<D>) == 4 ? 88.722839355468750 : 709.78271289338397;
    const auto limit = number(d, most);
    const auto value = hn::Exp(d, hn::Min(x, limit));
    const auto high = hn::IfThenElse(hn::Gt(x, limit), hn::Inf(d), value);
    return hn::IfThenElse(hn::IsNaN(x), x, high);
}

template <class D>
HWY_INLINE hn::Vec<D> logistic(D d, hn::Vec<D> x)
{
    const auto one = number(d, 1);
    return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(x))));
}

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
    static HWY_INLINE V apply(D d, V x, double)
    {
        return exponential(d, x);
    }
};

struct SigmoidOp {
    template <class D, class V>
    static HWY_INLINE V apply(D d, V x, double)
    {
        return logistic(d, x);
    }
};

struct SiluOp {
    template <class D, class V>
    static HWY_INLINE V apply(D d, V x, double)
    {
        return hn::Div(x, hn::Add(number(d, 1), exponential(d, hn::Neg(x))));
    }
};

struct TanhOp {
    template <class D, class V>
    static HWY_INLINE V apply(D d, V x, double)
    {
        const auto value = hn::Tanh(d, hn::Max(number(d, -20), hn::Min(x, number(d, 20))));
        return hn::IfThenElse(hn::IsNaN(x), x, value);
    }
};

struct SoftplusOp {
    template <class D, class V>
    static HWY_INLINE V apply(D d, V x, double)
    {
        const auto limit = number(d, 20);
        const auto value = hn::Log1p(d, exponential(d, hn::Min(x, limit)));
        return hn::IfThenElse(hn::Or(hn::Gt(x, limit), hn::IsNaN(x)), x, value);
    }
};

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#endif
