#pragma once

// Device code of strips: the rows that a step reads, in memory or computed, and steps that are known when a kernel is
// compiled.

#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "kernels/strip_launch.h"
#include "kernels/strip_numbers_device.cuh"
#include "kernels/strip_shapes.h"

namespace hopscope::kernels {

namespace {

// Operands and steps of a shape, with the members of LaunchOperand and LaunchStep.
template <int shape, int step, bool second>
struct KnownOperand {
    static constexpr ShapeOperand is = second ? kShapes[shape].steps[step].b : kShapes[shape].steps[step].a;
    static constexpr StripOperand::From from = is.from;
    static constexpr std::uint8_t at = is.at;
    static constexpr StripRows rows = is.rows;
    static constexpr bool known = true, whole = is.whole;
    static constexpr bool gathers = from == StripOperand::From::Table && rows == StripRows::Gathered;
    // The step before, which is computed for each element that is read if it is `inlined`.
    static constexpr int before = leaderOf(kShapes[shape], step) - 1;
    static constexpr bool inlined =
        before >= 0 && isInlined(kShapes[shape], before) && same(is, shapes::edge(kShapes[shape].steps[before].to));
    std::int32_t width, inner;
};

template <int shape, int step>
struct KnownStep {
    static constexpr ShapeStep is = kShapes[shape].steps[step];
    static constexpr StripOp op = is.op;
    static constexpr Combine combine = is.combine;
    static constexpr bool perDestination = is.perDestination;
    static constexpr std::uint8_t to = is.to;
    static constexpr bool inlined = isInlined(kShapes[shape], step);
    static constexpr bool follows = joins(kShapes[shape], step);
    static constexpr int together = togetherFrom(kShapes[shape], step);
    std::int32_t width, sums;
    std::uint32_t phases;
    double parameter, empty;
    KnownOperand<shape, step, false> a;
    KnownOperand<shape, step, true> b;

    __device__ explicit KnownStep(const LaunchStep& s)
        : width(s.width),
          sums(s.sums),
          phases(s.phases),
          parameter(s.parameter),
          empty(s.empty),
          a{s.a.width, s.a.inner},
          b{s.b.width, s.b.inner}
    {}
};

// An operand of a program that is read while the kernel runs.
struct UnknownOperand {
    static constexpr bool known = false, whole = false;
};

// A row in memory, from any element on.
template <class T>
struct Row {
    const T* begin;

    __device__ ComputeOf<T> operator[](int c) const { return widen(begin[c]); }
    __device__ Row from(int c) const { return {begin + c}; }
};

// Element c of the result's row i is element c / inner, or c modulo the width, of row i: at a constant distance, or by
// number. `Operand`: its facts that are known when the kernel is compiled.
template <class T, class Operand>
struct Source {
    using Distance = std::conditional_t<Operand::known, std::int32_t, std::int64_t>;
    const T* base = nullptr;
    Distance stride = 0;
    Index columns;
    HostRows host;
    int width = 1, inner = 1;

    __device__ Row<T> row(int i) const
    {
        if constexpr (Operand::known) {
            if constexpr (!Operand::gathers) return {base + i * stride};
        } else if (columns.data == nullptr) {
            return {base + i * stride};
        }
        return {rowAt(base, host, kernels::number(columns, i), stride)};
    }
    __device__ int place(int c) const { return Operand::whole ? c : inner > 1 ? c / inner : c < width ? c : c % width; }
    __device__ ComputeOf<T> at(int i, int c) const { return row(i)[place(c)]; }
};

// The rows of a step that is computed for each element that is read.
template <class T, StripOp op, class A, class B>
struct ComputedRow {
    A a;
    B b;
    ComputeOf<T> parameter;

    __device__ ComputeOf<T> operator[](int c) const
    {
        constexpr bool two = op <= StripOp::Div;
        T rounded;
        narrow(computed(op, a[c], two ? b[c] : ComputeOf<T>(0), parameter), rounded);
        return widen(rounded);
    }
    __device__ ComputedRow from(int c) const { return {a.from(c), b.from(c), parameter}; }
};

template <class T, StripOp op, class A, class B>
struct ComputedSource {
    A a;
    B b;
    ComputeOf<T> parameter;

    __device__ auto row(int i) const
    {
        const auto x = a.row(i);
        const auto y = b.row(i);
        return ComputedRow<T, op, decltype(x), decltype(y)>{x, y, parameter};
    }
    __device__ int place(int c) const { return c; }
    __device__ ComputeOf<T> at(int i, int c) const { return row(i)[c]; }
};

}  // namespace

}  // namespace hopscope::kernels
