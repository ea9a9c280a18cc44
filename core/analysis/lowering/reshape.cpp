#include "analysis/lowering/reshape.h"

namespace hopscope::analysis {

namespace {

bool isPrime(std::int64_t n)
{
    for (std::int64_t q = 2; q * q <= n; ++q)
        if (n % q == 0) return false;
    return true;
}

// One side of the grouping: the dimensions that are not 1 (rows always count), consumed from the left.
struct Side {
    std::vector<std::size_t> positions;
    std::size_t next = 0;

    [[nodiscard]] bool done() const { return next == positions.size(); }
    std::size_t take() { return positions[next++]; }
};

}  // namespace

std::int64_t pseudoSize(SpaceId space)
{
    static thread_local std::vector<std::int64_t> primes;
    while (primes.size() <= space.at()) {
        std::int64_t n = primes.empty() ? 99990 : primes.back();
        do ++n;
        while (!isPrime(n));
        primes.push_back(n);
    }
    return primes[space.at()];
}

std::vector<std::int64_t> resolveMinusOne(const std::vector<std::int64_t>& shape, std::vector<std::int64_t> wanted)
{
    std::int64_t total = 1, rest = 1;
    for (std::int64_t s : shape) total *= s;
    for (std::int64_t w : wanted)
        if (w != -1) rest *= w;
    for (std::int64_t& w : wanted)
        if (w == -1) w = rest != 0 && total % rest == 0 ? total / rest : -7;  // -7 divides nothing: regroup fails
    return wanted;
}

std::optional<std::vector<SpaceId>> regroup(const std::vector<std::int64_t>& shape, const std::vector<SpaceId>& dims,
                                            const std::vector<std::int64_t>& target,
                                            const std::function<bool(SpaceId)>& labelled)
{
    Side in, out;
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] != 1 || labelled(dims[i])) in.positions.push_back(i);
    for (std::size_t j = 0; j < target.size(); ++j)
        if (target[j] != 1) out.positions.push_back(j);
    std::vector<SpaceId> result(target.size());
    while (!in.done()) {
        std::vector<std::size_t> from{in.take()}, to;
        std::int64_t a = shape[from[0]], b = 1;
        while (a != b) {
            const bool growOut = b < a;
            if (growOut ? out.done() : in.done()) return std::nullopt;
            if (growOut) b *= target[to.emplace_back(out.take())];
            else a *= shape[from.emplace_back(in.take())];
            if (b <= 0) return std::nullopt;
        }
        bool rows = false;
        for (std::size_t i : from) rows = rows || labelled(dims[i]);
        if (!rows) continue;
        if (from.size() != 1 || to.size() != 1) return std::nullopt;
        result[to[0]] = dims[from[0]];
    }
    return result;
}

std::vector<int> movedDims(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to, int rank)
{
    std::vector<int> order(static_cast<std::size_t>(rank), -1);
    std::vector<bool> moved(order.size(), false);
    const auto place = [&](std::int64_t d) { return static_cast<std::size_t>(d < 0 ? d + rank : d); };
    for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
        order.at(place(to[i])) = static_cast<int>(place(from[i]));
        moved.at(place(from[i])) = true;
    }
    int next = 0;
    for (int& d : order) {
        if (d >= 0) continue;
        while (moved[static_cast<std::size_t>(next)]) ++next;
        d = next++;
    }
    return order;
}

}  // namespace hopscope::analysis
