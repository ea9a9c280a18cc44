#pragma once

// Device code of strips: arithmetic that rounds one operation at a time, so that results equal those of stripCpu bit
// for bit.

#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "kernels/elements_device.cuh"
#include "kernels/group_device.cuh"
#include "kernels/strip.h"

namespace hopscope::kernels {

namespace {

__device__ inline double widen(double value) { return value; }
__device__ inline void narrow(double value, double& to) { to = value; }

template <class T>
using ComputeOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float divided(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double divided(double a, double b) { return __ddiv_rn(a, b); }
__device__ inline float root(float a) { return __fsqrt_rn(a); }
__device__ inline double root(double a) { return __dsqrt_rn(a); }
__device__ inline std::uint32_t bitsOf(float a) { return __float_as_uint(a); }
__device__ inline std::uint64_t bitsOf(double a) { return static_cast<std::uint64_t>(__double_as_longlong(a)); }
__device__ inline float ofBits(std::uint32_t bits) { return __uint_as_float(bits); }
__device__ inline double ofBits(std::uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }

// The arithmetic of the formulas.
template <class C>
struct NumberMath {
    using V = C;
    using Number = C;

    __device__ static C set(C value) { return value; }
    __device__ static C infinity() { return static_cast<C>(__builtin_huge_val()); }
    __device__ static C add(C a, C b) { return added(a, b); }
    __device__ static C sub(C a, C b) { return added(a, -b); }
    __device__ static C mul(C a, C b) { return times(a, b); }
    __device__ static C div(C a, C b) { return divided(a, b); }
    __device__ static C neg(C a) { return -a; }
    __device__ static C abs(C a) { return ofBits(bitsOf(a) << 1 >> 1); }
    __device__ static C min(C a, C b) { return a < b ? a : b; }
    __device__ static C max(C a, C b) { return a > b ? a : b; }
    __device__ static bool less(C a, C b) { return a < b; }
    __device__ static bool lessOrEqual(C a, C b) { return a <= b; }
    __device__ static bool isNaN(C a) { return a != a; }
    __device__ static C select(bool which, C yes, C no) { return which ? yes : no; }
    __device__ static C withSign(C a, C sign)
    {
        constexpr int last = 8 * sizeof(C) - 1;
        return ofBits(bitsOf(a) | bitsOf(sign) >> last << last);
    }
    __device__ static C plusBits(C a, C b) { return ofBits(bitsOf(a) + bitsOf(b)); }
    template <int count>
    __device__ static C shiftLeft(C a)
    {
        return ofBits(bitsOf(a) << count);
    }
};

#undef HOPSCOPE_FORMULA
#define HOPSCOPE_FORMULA __device__ inline
#include "kernels/strip_formulas_inl.h"

template <class C>
__device__ C computed(StripOp op, C a, C b, C parameter)
{
    using A = NumberMath<C>;
    switch (op) {
    case StripOp::Add: return A::add(a, b);
    case StripOp::Sub: return A::sub(a, b);
    case StripOp::Mul: return A::mul(a, b);
    case StripOp::Div: return A::div(a, b);
    case StripOp::Neg: return -a;
    case StripOp::Abs: return A::abs(a);
    case StripOp::Sqrt: return root(a);
    case StripOp::Relu: return a < 0 ? C(0) : a;
    case StripOp::LeakyRelu: return a > 0 ? a : A::mul(a, parameter);
    case StripOp::Exp: return formulaExp<A>(a);
    case StripOp::Sigmoid: return formulaSigmoid<A>(a);
    case StripOp::Tanh: return formulaTanh<A>(a);
    case StripOp::Silu: return formulaSilu<A>(a);
    case StripOp::Softplus: return formulaSoftplus<A>(a);
    default: return a;
    }
}

}  // namespace

}  // namespace hopscope::kernels
