#pragma once

// Device code of strips: the work of a group of threads, within a warp, on one destination or one piece of a hub. The steps
// are those of a shape (kShapes), known when the kernel is compiled, or are read when it runs: the code is the same.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_runtime.h>

#include "kernels/elements_device.cuh"
#include "kernels/group_device.cuh"
#include "kernels/strip_launch.h"
#include "kernels/strip_rows_device.cuh"
#include "kernels/strip_shapes.h"

namespace hopscope::kernels {

namespace {

// `shape`: that of the program (kShapes), or kNoShape: any.
template <class T, int shape>
class Strip {
public:
    using C = ComputeOf<T>;

    __device__ Strip(const StripLaunch& launch, const Group& group, std::byte* memory)
        : m_l(launch),
          m_group(group),
          m_edges(memory),
          m_sums(memory + launch.edgeBytes),
          m_rows(memory + launch.edgeBytes + launch.sumBytes),
          m_first(number(launch.offsets, 0))
    {}

    // Leaves hubs to the functions below.
    __device__ void destination(std::int64_t d)
    {
        m_d = d;
        const std::int64_t begin = number(m_l.offsets, d), end = number(m_l.offsets, d + 1);
        if (end - begin > kPiece) return;
        if (end - begin <= m_l.rows) {
            m_begin = begin;
            m_inPhases = false;
            if (begin < end) startAll(~0u);
            eachStep([&](const auto& s) { whole(s, static_cast<int>(end - begin)); });
            return;
        }
        for (std::uint32_t phase = 1; phase != 0 && phase <= m_l.phases; phase <<= 1) {
            walk(begin, end, phase);
            eachStep([&](const auto& s) {
                if ((s.phases & phase) != 0) onDestination(s, end - begin);
            });
        }
    }

    // Adds up one piece of a hub.
    __device__ void piece(std::int64_t at, std::uint32_t phase)
    {
        const HubPiece p = m_l.pieces[at];
        m_d = p.destination - m_l.pieceFirst;
        m_sums = m_l.work + at * m_l.sumBytes;
        m_rows = hubRows(at - (p.begin - number(m_l.offsets, m_d)) / kPiece);
        walk(p.begin, p.end, phase);
    }

    // The rest of a phase for a hub, given its first piece.
    __device__ void hub(std::int64_t first, std::uint32_t phase)
    {
        m_d = m_l.pieces[first].destination - m_l.pieceFirst;
        const std::int64_t begin = number(m_l.offsets, m_d), end = number(m_l.offsets, m_d + 1);
        if (m_l.pieces[first].begin != begin) return;
        m_rows = hubRows(first);
        const std::int64_t last = first + (end - begin + kPiece - 1) / kPiece;
        eachStep([&](const auto& s) {
            if ((s.phases & phase) == 0) return;
            if (s.op == StripOp::Aggregate) merge(s, first, last);
            onDestination(s, end - begin);
        });
    }

private:
    // ---- whole destinations, and parts of them

    template <class Work>
    __device__ void eachStep(const Work& work) const
    {
        if constexpr (shape == kNoShape)
            for (int s = 0; s < m_l.stepCount; ++s) work(m_l.steps[s]);
        else eachKnown(work, std::make_integer_sequence<int, kShapes[shape].count>());
    }

    template <class Work, int... steps>
    __device__ void eachKnown(const Work& work, std::integer_sequence<int, steps...>) const
    {
        (known<steps>(work), ...);
    }

    template <int step, class Work>
    __device__ void known(const Work& work) const
    {
        using Step = KnownStep<shape, step>;
        if constexpr (!Step::inlined) work(Step(m_l.steps[step]));
    }

    template <class Step>
    __device__ void whole(const Step& s, int count)
    {
        if (s.op != StripOp::Aggregate) return compute(s, s.perDestination ? 1 : count);
        if (count == 0) return fill(s);
        accumulate(s, count);
        finish(s, count);
    }

    __device__ void startAll(std::uint32_t phases) const
    {
        eachStep([&](const auto& s) {
            if (s.op == StripOp::Aggregate && (s.phases & phases) != 0) start(s);
        });
    }

    // The steps on edges of a phase, strip by strip.
    __device__ void walk(std::int64_t begin, std::int64_t end, std::uint32_t phase)
    {
        m_inPhases = true;
        startAll(phase);
        for (m_begin = begin; m_begin < end; m_begin += m_l.rows) {
            const int count = static_cast<int>(end - m_begin < m_l.rows ? end - m_begin : m_l.rows);
            eachStep([&](const auto& s) {
                if (s.perDestination || (s.phases & phase) == 0) return;
                if (s.op == StripOp::Aggregate) accumulate(s, count);
                else compute(s, count);
            });
        }
    }

    template <class Step>
    __device__ void onDestination(const Step& s, std::int64_t degree)
    {
        if (s.perDestination) compute(s, 1);
        else if (s.op == StripOp::Aggregate) finish(s, degree);
    }

    // ---- where rows lie

    __device__ T* edgeBuffer(int at) const
    {
        const LaunchBuffer& b = m_l.edges[at];
        if (m_inPhases && b.out != nullptr) return static_cast<T*>(b.out) + (m_begin - m_first) * b.width;
        return reinterpret_cast<T*>(m_edges + b.at);
    }

    __device__ T* destinationRow(int at) const
    {
        const LaunchBuffer& b = m_l.destinations[at];
        if (b.out != nullptr) return static_cast<T*>(b.out) + m_d * b.width;
        return reinterpret_cast<T*>(m_rows + b.at);
    }

    __device__ std::byte* hubRows(std::int64_t piece) const
    {
        return m_l.work + m_l.pieceCount * m_l.sumBytes + piece * m_l.rowBytes;
    }

    template <class Step>
    __device__ C* sums(const Step& s) const
    {
        return reinterpret_cast<C*>(m_sums + s.sums);
    }

    __device__ auto source(const LaunchOperand& o) const { return inMemory<UnknownOperand>(o); }

    template <int step, bool second>
    __device__ auto source(const KnownOperand<shape, step, second>& o) const
    {
        using Operand = KnownOperand<shape, step, second>;
        if constexpr (Operand::inlined) {
            using Step = KnownStep<shape, Operand::before>;
            const Step s(m_l.steps[Operand::before]);
            const auto a = source(s.a);
            const auto b = source(s.b);
            return ComputedSource<T, Step::op, decltype(a), decltype(b)>{a, b, static_cast<C>(s.parameter)};
        } else {
            return inMemory<Operand>(o);
        }
    }

    template <class Facts, class Operand>
    __device__ Source<T, Facts> inMemory(const Operand& o) const
    {
        Source<T, Facts> rows;
        rows.width = o.width;
        rows.inner = o.inner;
        if (o.from == StripOperand::From::Edge) {
            rows.base = edgeBuffer(o.at);
            rows.stride = o.width;
        } else if (o.from == StripOperand::From::Destination) {
            rows.base = destinationRow(o.at);
        } else if (o.from == StripOperand::From::Table) {
            inTable(m_l.tables[o.at], rows);
        }
        return rows;
    }

    template <class Facts>
    __device__ void inTable(const LaunchTable& t, Source<T, Facts>& rows) const
    {
        StripRows kind = t.rows;
        if constexpr (Facts::known) kind = Facts::rows;
        rows.base = static_cast<const T*>(t.data);
        if (kind == StripRows::Destinations) rows.base += (m_d - t.first) * t.stride;
        if (kind != StripRows::Edges && kind != StripRows::Gathered) return;
        rows.stride = static_cast<typename Source<T, Facts>::Distance>(t.stride);
        const std::int64_t at = m_begin - t.first;
        if (kind == StripRows::Edges) {
            rows.base += at * t.stride;
            return;
        }
        constexpr bool any = shape == kNoShape;  // others have numbers of 32 bits, and no rows on the host
        if (any && t.host >= 0) rows.host = m_l.hosts[t.host];
        rows.columns.wide = any && t.wide;
        rows.columns.data = static_cast<const std::byte*>(t.columns) + at * (any && t.wide ? 8 : 4);
    }

    // ---- steps

    // On `count` rows of edges, or on the row of the destination. The result may overwrite an operand, element by
    // element.
    template <class Step>
    __device__ void compute(const Step& s, int count) const
    {
        if (s.op == StripOp::RowSum) return sumRows(s, count);
        T* const out = s.perDestination ? destinationRow(s.to) : edgeBuffer(s.to);
        const auto a = source(s.a);
        const auto b = source(s.b);
        const bool two = s.b.from != StripOperand::From::None;
        const int all = count * s.width;
        m_group.turn([&](int lane) {
            for (int first = lane; first < all; first += kAtOnce * m_group.lanes) {
                C x[kAtOnce], y[kAtOnce];
#pragma unroll
                for (int u = 0; u < kAtOnce; ++u) {
                    const int at = element(first, u, all), i = at / s.width;
                    x[u] = a.at(i, at - i * s.width);
                    y[u] = two ? b.at(i, at - i * s.width) : C(0);
                }
#pragma unroll
                for (int u = 0; u < kAtOnce; ++u)
                    if (const int at = element(first, u, all); u == 0 || at != first)
                        narrow(computed(s.op, x[u], y[u], static_cast<C>(s.parameter)), out[at]);
            }
        });
    }

    // The thread's uth element from `first` on; beyond the last one, `first` itself.
    __device__ int element(int first, int u, int all) const
    {
        const int at = first + u * m_group.lanes;
        return at < all ? at : first;
    }

    // In the order of sumOf() of strip_loops_inl.h.
    template <class Step>
    __device__ void sumRows(const Step& s, int count) const
    {
        T* const out = s.perDestination ? destinationRow(s.to) : edgeBuffer(s.to);
        const auto a = source(s.a);
        const int part = s.a.width / s.width, whole = part / 16 * 16, all = count * s.width;
        const auto from = [&](int at) { return a.row(at / s.width).from(at % s.width * part); };
        const auto rest = [&](C sum, const auto& row, int c) {
#pragma unroll 1
            for (; c + 4 <= part; c += 4) {
                const C even = added(row[c], row[c + 2]), odd = added(row[c + 1], row[c + 3]);
                sum = added(sum, added(even, odd));
            }
#pragma unroll 1
            for (; c < part; ++c) sum = added(sum, row[c]);
            return sum;
        };
        if (whole == 0) {
            m_group.turn([&](int lane) {
                for (int at = lane; at < all; at += m_group.lanes) narrow(rest(C(0), from(at), 0), out[at]);
            });
            return;
        }
        m_group.template folds<C>(
            all,
            [&](int at, int k) {
                const auto row = from(at);
                C sum = row[k];
#pragma unroll 1
                for (int c = k + 16; c < whole; c += 16) sum = added(sum, row[c]);
                return sum;
            },
            [&](int at, C sum) { narrow(rest(added(C(0), sum), from(at), whole), out[at]); });
    }

    // ---- aggregations

    template <class Step>
    __device__ static bool adds(const Step& s)
    {
        return s.combine == Combine::Sum || s.combine == Combine::Mean;
    }

    template <class Step>
    __device__ static C startOf(const Step& s)
    {
        if (adds(s)) return 0;
        return static_cast<C>(s.combine == Combine::Max ? -__builtin_huge_val() : __builtin_huge_val());
    }

    template <class Step>
    __device__ static C combined(const Step& s, C all, C value)
    {
        if (adds(s)) return added(all, value);
        const bool better = s.combine == Combine::Max ? value > all : value < all;
        return better || value != value ? value : all;
    }

    template <class Step>
    __device__ void start(const Step& s) const
    {
        C* const to = sums(s);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes) to[c] = startOf(s);
        });
    }

    // Adds up rows of edges, in order.
    __device__ void accumulate(const LaunchStep& s, int count) const { addUp(count, s.width, addend(s)); }

    // Together with those of the next steps that aggregate the same rows.
    template <int step>
    __device__ void accumulate(const KnownStep<shape, step>&, int count) const
    {
        using Step = KnownStep<shape, step>;
        if constexpr (!Step::follows) accumulateFrom<step>(count, std::make_integer_sequence<int, Step::together>());
    }

    template <int step, int... next>
    __device__ void accumulateFrom(int count, std::integer_sequence<int, next...>) const
    {
        addUp(count, m_l.steps[step].width, addend(KnownStep<shape, step + next>(m_l.steps[step + next]))...);
    }

    template <class Step, class A, class B>
    struct Addend {
        const Step& s;
        A a;
        B b;
        C* to;
        int factor;  // of the element's column
        C all, values[kAtOnce];

        __device__ void begin(int c) { all = to[c], factor = b.place(c); }
        __device__ void load(int u, int i, int c)
        {
            values[u] = a.at(i, c);
            if (s.b.from != StripOperand::From::None) values[u] = times(b.row(i)[factor], values[u]);
        }
        __device__ void add(int u) { all = combined(s, all, values[u]); }
        __device__ void end(int c) { to[c] = all; }
    };

    template <class Step>
    __device__ auto addend(const Step& s) const
    {
        const auto a = source(s.a);
        const auto b = source(s.b);
        return Addend<Step, decltype(a), decltype(b)>{s, a, b, sums(s), 0, 0, {}};
    }

    template <class... Addends>
    __device__ void addUp(int count, int width, Addends... addends) const
    {
        m_group.turn([&](int lane) {
            for (int c = lane; c < width; c += m_group.lanes) {
                (addends.begin(c), ...);
                for (int first = 0; first < count; first += kAtOnce) {
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u)
                        (addends.load(u, first + u < count ? first + u : count - 1, c), ...);
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u)
                        if (first + u < count) (addends.add(u), ...);
                }
                (addends.end(c), ...);
            }
        });
    }

    template <class Step>
    __device__ void finish(const Step& s, std::int64_t degree) const
    {
        const C* const from = sums(s);
        T* const out = destinationRow(s.to);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes)
                narrow(s.combine == Combine::Mean ? divided(from[c], static_cast<C>(degree)) : from[c], out[c]);
        });
    }

    template <class Step>
    __device__ void fill(const Step& s) const
    {
        T* const out = destinationRow(s.to);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes) narrow(static_cast<C>(s.empty), out[c]);
        });
    }

    // The sums of a hub's pieces, in order.
    template <class Step>
    __device__ void merge(const Step& s, std::int64_t first, std::int64_t last) const
    {
        C* const to = sums(s);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes) {
                C all = startOf(s);
                for (std::int64_t i = first; i < last; ++i)
                    all = combined(s, all, reinterpret_cast<const C*>(m_l.work + i * m_l.sumBytes + s.sums)[c]);
                to[c] = all;
            }
        });
    }

    const StripLaunch& m_l;
    const Group& m_group;
    std::byte *m_edges, *m_sums, *m_rows;
    std::int64_t m_first;               // position of all
    std::int64_t m_d = 0, m_begin = 0;  // the destination, and the first position of the strip
    bool m_inPhases = false;            // not all steps at once
};

// ---- kernels

// The memory of a group: a part of its block's shared memory, or of `work`.
__device__ inline std::byte* memoryOf(const StripLaunch& l, const Group& group, std::byte* shared)
{
    if (!l.shared) return l.work + l.hubBytes + group.number * l.groupBytes;
    return shared + threadIdx.x / static_cast<unsigned>(l.lanes) * l.groupBytes;
}

// One destination after the other, except for hubs.
template <class T, int shape>
__global__ void __launch_bounds__(kLaunchThreads) stripKernel(const __grid_constant__ StripLaunch l)
{
    HOPSCOPE_SHARED(memory);
    const Group group(l);
    if (group.idle()) return;
    Strip<T, shape> strip(l, group, memoryOf(l, group, memory));
    for (std::int64_t d = group.number; d < l.count; d += group.all) strip.destination(d);
}

// The pieces of hubs.
template <class T, int shape>
__global__ void __launch_bounds__(kLaunchThreads)
    stripPieceKernel(const __grid_constant__ StripLaunch l, std::uint32_t phase)
{
    HOPSCOPE_SHARED(memory);
    const Group group(l);
    if (group.idle()) return;
    Strip<T, shape> strip(l, group, memoryOf(l, group, memory));
    for (std::int64_t at = group.number; at < l.pieceCount; at += group.all) strip.piece(at, phase);
}

// Hubs, by the groups that meet their first pieces.
template <class T>
__global__ void __launch_bounds__(kLaunchThreads)
    stripHubKernel(const __grid_constant__ StripLaunch l, std::uint32_t phase)
{
    HOPSCOPE_SHARED(memory);
    const Group group(l);
    if (group.idle()) return;
    Strip<T, kNoShape> strip(l, group, memoryOf(l, group, memory));
    for (std::int64_t at = group.number; at < l.pieceCount; at += group.all) strip.hub(at, phase);
}

}  // namespace

}  // namespace hopscope::kernels
