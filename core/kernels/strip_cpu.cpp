#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/instruction_sets.h"
#include "kernels/strip_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/strip_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/strip_narrow_inl.h"

// The interpreter of strips, once per instruction set. Its loops are separate functions: they take a few thousand
// elements, which is worth a call.

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
namespace HWY_NAMESPACE {

template <class T>
class Strip {
public:
    using C = ComputeOf<T>;
    using From = StripOperand::From;

    Strip(const StripProgram& program, const StripArguments& arguments, std::byte* scratch)
        : m_program(program),
          m_a(arguments),
          m_layout(layoutOf(program)),
          m_scratch(scratch)
    {
        for (const StripStep& s : program.steps) m_phases |= s.phases;
    }

    void run(std::int64_t first, std::int64_t last)
    {
        m_limit = m_a.offsets[last];
        for (m_d = first; m_d < last; m_d = m_last) {
            m_begin = m_a.offsets[m_d];
            m_end = m_a.offsets[m_d + 1];
            m_last = m_d + 1;
            if (m_end - m_begin > m_layout.capacity) {
                inPieces();
                continue;
            }
            while (m_last < last && m_last - m_d < kStripDestinations &&
                   m_a.offsets[m_last + 1] - m_begin <= m_layout.packed)
                m_end = m_a.offsets[++m_last];
            for (std::size_t s = 0; s < m_program.steps.size(); ++s) step(s);
        }
    }

private:
    // ---- strips of whole destinations

    void step(std::size_t at)
    {
        const StripStep& s = m_program.steps[at];
        if (s.op == StripOp::Aggregate) return aggregate(s, at);
        compute(s, s.perDestination ? m_last - m_d : m_end - m_begin);
    }

    void aggregate(const StripStep& s, std::size_t at)
    {
        const Messages<T> m = messagesOf(s);
        if (s.a.from == From::Edge && areNarrow(m)) return aggregateNarrow(s, m);
        C* const sums = sumsOf(at);
        eachDestination(s, [&](std::int64_t begin, std::int64_t end, T* out) HWY_ATTR {
            if constexpr (std::is_same_v<T, C>) {
                if (m.combine == Combine::Sum) return sumUp(m, begin, end, out);
            }
            start(m, sums);
            accumulate(m, begin, end, sums);
            finish(m, sums, end - begin, out);
        });
    }

    // In place: there is nothing to divide or to round.
    HWY_INLINE void sumUp(const Messages<T>& m, std::int64_t begin, std::int64_t end, C* out)
    {
        start(m, out);
        accumulate(m, begin, end, out);
    }

    void aggregateNarrow(const StripStep& s, const Messages<T>& m)
    {
        switch (s.width) {
        case 1: return aggregateNarrow<1>(s, m);
        case 2: return aggregateNarrow<2>(s, m);
        default: return aggregateNarrow<4>(s, m);
        }
    }

    template <int kWidth>
    void aggregateNarrow(const StripStep& s, const Messages<T>& m)
    {
        eachDestination(s, [&](std::int64_t begin, std::int64_t end, T* out)
                               HWY_ATTR { aggregateRows<kWidth>(m, begin, end, out); });
    }

    // For each destination with edges, their places in the strip and its row.
    template <class Work>
    HWY_INLINE void eachDestination(const StripStep& s, Work&& work)
    {
        for (std::int64_t d = m_d; d < m_last; ++d) {
            const std::int64_t begin = m_a.offsets[d], end = m_a.offsets[d + 1];
            T* const out = destinationRow(s.to, d);
            if (begin == end) std::fill(out, out + s.width, narrowTo<T>(static_cast<C>(s.empty)));
            else work(begin - m_begin, end - m_begin, out);
        }
    }

    // ---- a destination with more edges than a strip

    void inPieces()
    {
        const std::int64_t begin = m_begin, end = m_end;
        for (std::uint32_t phase = 1; phase != 0 && phase <= m_phases; phase <<= 1) {
            for (m_begin = begin; m_begin < end; m_begin = m_end) {
                m_end = std::min(m_begin + m_layout.capacity, end);
                onEdges(phase, m_begin - begin, end - begin);
            }
            m_begin = begin;
            for (std::size_t at = 0; at < m_program.steps.size(); ++at) onDestination(at, phase, end - begin);
        }
    }

    void onEdges(std::uint32_t phase, std::int64_t done, std::int64_t degree)
    {
        for (std::size_t at = 0; at < m_program.steps.size(); ++at) {
            const StripStep& s = m_program.steps[at];
            if (s.perDestination || (s.phases & phase) == 0) continue;
            if (s.op == StripOp::Aggregate) addPiece(s, at, done, degree);
            else compute(s, m_end - m_begin);
        }
    }

    // Like segmentCpu: a hub starts as any destination and takes its pieces in order.
    void addPiece(const StripStep& s, std::size_t at, std::int64_t done, std::int64_t degree)
    {
        const Messages<T> messages = messagesOf(s);
        C *const sums = sumsOf(at), *const all = sums + s.width;
        if (done == 0) start(messages, all);
        if (done % kPiece == 0) start(messages, sums);
        accumulate(messages, 0, m_end - m_begin, sums);
        const std::int64_t now = done + m_end - m_begin;
        if (degree <= kPiece) std::copy(sums, sums + s.width, all);
        else if (now == degree || now % kPiece == 0) addSums(messages, sums, all);
    }

    void onDestination(std::size_t at, std::uint32_t phase, std::int64_t degree)
    {
        const StripStep& s = m_program.steps[at];
        if ((s.phases & phase) == 0) return;
        if (s.perDestination) compute(s, 1);
        else if (s.op == StripOp::Aggregate)
            finish(messagesShape(s), sumsOf(at) + s.width, degree, destinationRow(s.to, m_d));
    }

    // ---- where rows lie

    T* edgeBuffer(int at) const { return at_<T>(m_layout.edges[static_cast<std::size_t>(at)]); }

    T* destinationRow(int at, std::int64_t d) const
    {
        const auto b = static_cast<std::size_t>(at);
        if (m_a.out[b] != nullptr) return static_cast<T*>(m_a.out[b]) + d * m_program.destinations[b];
        return at_<T>(m_layout.destinations[b]) + (d - m_d) * m_program.destinations[b];
    }

    C* sumsOf(std::size_t step) const { return at_<C>(m_layout.sums[step]); }

    template <class Type>
    Type* at_(std::int64_t bytes) const
    {
        return reinterpret_cast<Type*>(m_scratch + bytes);
    }

    // The rows of an operand, one per destination or per edge of the strip.
    Rows<T> rows(const StripOperand& o, bool perDestination, int operand) const
    {
        const auto at = static_cast<std::size_t>(o.at);
        if (o.from == From::Edge) return {edgeBuffer(o.at), m_program.edges[at], m_program.edges[at]};
        if (o.from == From::Destination) {
            const std::int64_t width = m_program.destinations[at];
            return ofDestinations({destinationRow(o.at, m_d), width, width}, perDestination, operand);
        }
        const StripTable& t = m_a.tables[at];
        const T* const data = static_cast<const T*>(t.data);
        const std::int64_t width = m_program.tableWidths[at];
        switch (m_program.tables[at]) {
        case StripRows::Single: return {data, 0, width};
        case StripRows::Edges: return {data + (m_begin - t.first) * t.stride, t.stride, width};
        case StripRows::Destinations:
            return ofDestinations({data + (m_d - t.first) * t.stride, t.stride, width}, perDestination, operand);
        case StripRows::Gathered: break;
        }
        return gathered(t, width, operand);
    }

    // Rows of destinations, for each of their edges.
    Rows<T> ofDestinations(Rows<T> own, bool perDestination, int operand) const
    {
        if (perDestination) return own;
        const bool narrow = own.width <= kNarrow, one = m_last == m_d + 1;
        if (one && (!narrow || own.width == 1)) return {own.base, 0, own.width};
        T* const copies = at_<T>(m_layout.copies[operand]);
        const T** const pointers = at_<const T*>(m_layout.pointers[operand]);
        for (std::int64_t d = m_d; d < m_last; ++d) {
            const T* const row = own.base + (d - m_d) * own.stride;
            const std::int64_t begin = one ? 0 : m_a.offsets[d] - m_begin;
            const std::int64_t end = (one ? m_end : m_a.offsets[d + 1]) - m_begin;
            if (narrow) repeat(row, end - begin, own.width, copies + begin * own.width);
            else std::fill(pointers + begin, pointers + end, row);
        }
        if (narrow) return {copies, own.width, own.width};
        return {nullptr, 0, own.width, pointers, false};
    }

    Rows<T> gathered(const StripTable& t, std::int64_t width, int operand) const
    {
        const std::int64_t first = m_begin - t.first;
        if (t.columns.wide)
            return gathered(t, static_cast<const std::int64_t*>(t.columns.data) + first, width, operand);
        return gathered(t, static_cast<const std::int32_t*>(t.columns.data) + first, width, operand);
    }

    template <class Number>
    Rows<T> gathered(const StripTable& t, const Number* columns, std::int64_t width, int operand) const
    {
        const T* const data = static_cast<const T*>(t.data);
        const std::int64_t count = m_end - m_begin;
        const auto row = [=](std::int64_t i) HWY_ATTR { return data + columns[i] * t.stride; };
        if (width <= kNarrow) {
            T* const copies = at_<T>(m_layout.copies[operand]);
            const std::int64_t all = m_limit - m_begin;  // those of the next strip are wanted soon
            const auto fetched = [&](std::int64_t i) HWY_ATTR {
                if (i + kNarrowAhead < all) hwy::Prefetch(row(i + kNarrowAhead));
                return row(i);
            };
            pack(fetched, count, width, copies);
            return {copies, width, width};
        }
        const T** const pointers = at_<const T*>(m_layout.pointers[operand]);
        for (std::int64_t i = 0; i < count; ++i) pointers[i] = row(i);
        return {nullptr, 0, width, pointers, true};
    }

    // Distant rows keep the memory system busy, and narrow ones, one cache line each, have to wait for it: those of the
    // next strip are prefetched during this one. nullptr: there are none.
    const T* const* nextNarrow() const
    {
        for (std::size_t at = 0; at < m_a.tables.size(); ++at)
            if (m_program.tables[at] == StripRows::Gathered && m_program.tableWidths[at] <= kNarrow)
                return nextNarrow(m_a.tables[at]);
        return nullptr;
    }

    const T* const* nextNarrow(const StripTable& t) const
    {
        const std::int64_t count = m_end - m_begin, next = std::min(m_limit - m_end, count);
        const T** const pointers = at_<const T*>(m_layout.next);
        const T* const data = static_cast<const T*>(t.data);
        for (std::int64_t i = 0; i < next; ++i) pointers[i] = data + t.columns[m_end - t.first + i] * t.stride;
        std::fill(pointers + next, pointers + count, data);
        return pointers;
    }

    // ---- steps

    Messages<T> messagesShape(const StripStep& s) const
    {
        Messages<T> m;
        m.width = s.width;
        m.combine = s.combine;
        return m;
    }

    Messages<T> messagesOf(const StripStep& s) const
    {
        Messages<T> m = messagesShape(s);
        m.rows = rows(s.a, false, 0);
        m.count = m_end - m_begin;
        if (m.rows.far) m.next = nextNarrow();
        if (s.b.from == From::None) return m;
        m.factor = rows(s.b, false, 1);
        m.part = s.b.inner;
        return m;
    }

    void compute(const StripStep& s, std::int64_t count) const
    {
        if (count == 0) return;
        T* const out = s.perDestination ? destinationRow(s.to, m_d) : edgeBuffer(s.to);
        const Rows<T> a = rows(s.a, s.perDestination, 0);
        if (s.op == StripOp::RowSum) return rowSums(a, out, count, s.width);
        if (s.b.from == From::None) return oneOperand(s, a, out, count);
        const Rows<T> b = rows(s.b, s.perDestination, 1);
        const Pair<T> pair{a, b, s.a, s.b, out, count, s.width};
        switch (s.op) {
        case StripOp::Add: return pairs<AddOp>(pair);
        case StripOp::Sub: return pairs<SubOp>(pair);
        case StripOp::Mul: return pairs<MulOp>(pair);
        default: return pairs<DivOp>(pair);
        }
    }

    static void oneOperand(const StripStep& s, const Rows<T>& a, T* out, std::int64_t count)
    {
        switch (s.op) {
        case StripOp::Neg: return singles<NegOp>(a, s.parameter, out, count);
        case StripOp::Abs: return singles<AbsOp>(a, s.parameter, out, count);
        case StripOp::Sqrt: return singles<SqrtOp>(a, s.parameter, out, count);
        case StripOp::LeakyRelu: return singles<LeakyReluOp>(a, s.parameter, out, count);
        case StripOp::Exp: return singles<ExpOp>(a, s.parameter, out, count);
        case StripOp::Sigmoid: return singles<SigmoidOp>(a, s.parameter, out, count);
        case StripOp::Tanh: return singles<TanhOp>(a, s.parameter, out, count);
        case StripOp::Silu: return singles<SiluOp>(a, s.parameter, out, count);
        case StripOp::Softplus: return singles<SoftplusOp>(a, s.parameter, out, count);
        default: return singles<ReluOp>(a, s.parameter, out, count);
        }
    }

    const StripProgram& m_program;
    const StripArguments& m_a;
    StripLayout m_layout;
    std::byte* m_scratch;
    std::uint32_t m_phases = 0;
    std::int64_t m_d = 0, m_last = 0;     // destinations of the strip
    std::int64_t m_begin = 0, m_end = 0;  // its positions
    std::int64_t m_limit = 0;             // of the positions of all destinations
};

void strip(const StripProgram& program, const StripArguments& arguments, std::int64_t first, std::int64_t last,
           std::byte* scratch)
{
    switch (program.element) {
    case StripElement::Float32: return Strip<float>(program, arguments, scratch).run(first, last);
    case StripElement::Float64: return Strip<double>(program, arguments, scratch).run(first, last);
    case StripElement::Float16: return Strip<Float16>(program, arguments, scratch).run(first, last);
    case StripElement::BFloat16: return Strip<BFloat16>(program, arguments, scratch).run(first, last);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopscope::kernels {

HWY_EXPORT(strip);

void stripCpu(const StripProgram& program, const StripArguments& arguments, std::int64_t first, std::int64_t last,
              std::byte* scratch)
{
    HWY_DYNAMIC_DISPATCH(strip)(program, arguments, first, last, scratch);
}

}  // namespace hopscope::kernels
#endif
