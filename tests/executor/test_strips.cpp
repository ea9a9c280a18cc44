#include <cmath>
#include <limits>
#include <random>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "kernels/strip.h"

// Strip kernels beside LibTorch's operators in float64, on random segments.

namespace hopscope::tests {

namespace {

using namespace kernels;
using From = StripOperand::From;

struct Dtype {
    StripElement element;
    at::ScalarType type;
    double tolerance;  // of a result, by its magnitude
};

constexpr Dtype dtypes[] = {{StripElement::Float32, at::kFloat, 2e-5},
                            {StripElement::Float64, at::kDouble, 1e-12},
                            {StripElement::Float16, at::kHalf, 2e-2},
                            {StripElement::BFloat16, at::kBFloat16, 1e-1}};
constexpr std::int64_t widths[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 47, 64, 65, 100, 128, 129, 255, 256, 513, 1030};

// A random graph: empty destinations, duplicates and, often, one huge row.
struct Graph {
    std::vector<std::int64_t> offsets{0};
    at::Tensor columns, owners;  // by edge
    std::int64_t nodes = 0;

    Graph(std::mt19937_64& random, bool wide)
    {
        const auto below = [&](std::int64_t n) {
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
        };
        const std::int64_t destinations = 1 + below(wide ? 12 : 150);
        const std::int64_t huge = below(3) == 0 ? below(destinations) : -1;
        nodes = 1 + below(60);
        std::vector<std::int64_t> to;
        for (std::int64_t d = 0; d < destinations; ++d) {
            const std::int64_t degree = d == huge ? (wide ? 300 : 2500) + below(700) : below(4) == 0 ? 0 : below(12);
            offsets.push_back(offsets.back() + degree);
            to.insert(to.end(), static_cast<std::size_t>(degree), d);
        }
        owners = at::tensor(to, at::kLong);
        columns = at::randint(nodes, {offsets.back()}, at::kLong);
    }
    [[nodiscard]] std::int64_t destinations() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
    [[nodiscard]] std::int64_t edges() const { return offsets.back(); }
};

// A program, its tables, and the same in float64 by LibTorch.
class Case {
public:
    explicit Case(std::uint64_t seed) : m_random(seed)
    {
        at::manual_seed(seed);
        dtype = dtypes[seed % 4];
        width = widths[below(std::size(widths))];
        heads = 1 + below(8);
        graph = std::make_unique<Graph>(m_random, width > 200);
        program.element = dtype.element;
        kind = static_cast<int>(seed / 4 % 4);
        if (kind == 0) attention();
        else if (kind == 1) chain();
        else if (kind == 2) several();
        else scored();
        REQUIRE(setPhases(program));
        arguments.offsets = graph->offsets.data();
        for (const std::int64_t w : program.destinations) {
            made.push_back(at::full({graph->destinations(), w}, 77, dtype.type));
            arguments.out.push_back(made.back().data_ptr());
        }
    }

    void run(std::int64_t first, std::int64_t last)
    {
        const at::Tensor scratch = at::full({stripScratchBytes(program) + 64}, 0xff, at::kByte);
        auto* at = static_cast<std::byte*>(scratch.data_ptr());
        at += (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64;
        stripCpu(program, arguments, first, last, at);
    }

    Dtype dtype{};
    int kind = 0;
    std::int64_t width = 1, heads = 1;
    std::unique_ptr<Graph> graph;
    StripProgram program;
    StripArguments arguments;
    std::vector<at::Tensor> made, wanted, scale;  // by buffer of destinations; undefined: not compared

private:
    std::int64_t below(std::size_t n) { return static_cast<std::int64_t>(m_random() % n); }

    struct Value {
        StripOperand operand;
        at::Tensor exact;  // by edge or by destination, [rows, width]
    };

    // ---- tables

    Value table(StripRows rows, std::int64_t count, std::int64_t w)
    {
        // Rows with a gap between them.
        const at::Tensor whole = at::randn({std::max<std::int64_t>(count, 1), w + 3}).to(dtype.type);
        const at::Tensor part = whole.narrow(1, 1, w);
        m_held.push_back(whole);
        program.tables.push_back(rows);
        program.tableWidths.push_back(w);
        StripTable t;
        t.data = static_cast<const std::byte*>(part.data_ptr());
        t.stride = w + 3;
        if (rows == StripRows::Gathered) t.columns = graph->columns.data_ptr<std::int64_t>();
        arguments.tables.push_back(t);
        return {{From::Table, static_cast<int>(program.tables.size()) - 1}, part.to(at::kDouble)};
    }
    Value gathered(std::int64_t w)
    {
        Value v = table(StripRows::Gathered, graph->nodes, w);
        v.exact = v.exact.index_select(0, graph->columns);
        return v;
    }
    Value along(std::int64_t w)
    {
        Value v = table(StripRows::Edges, graph->edges(), w);
        v.exact = v.exact.narrow(0, 0, graph->edges());
        return v;
    }
    Value own(std::int64_t w) { return spread(table(StripRows::Destinations, graph->destinations(), w)); }
    Value spread(const Value& v) { return {v.operand, v.exact.index_select(0, graph->owners)}; }
    Value single(std::int64_t w)
    {
        Value v = table(StripRows::Single, 1, w);
        return v;
    }

    // ---- steps

    Value step(StripOp op, const Value& a, const Value& b, std::int64_t w, const at::Tensor& exact,
               double parameter = 0, bool perDestination = false)
    {
        StripStep s;
        s.op = op;
        s.a = a.operand;
        s.b = b.operand;
        s.width = w;
        s.parameter = parameter;
        s.perDestination = perDestination;
        auto& buffers = perDestination ? program.destinations : program.edges;
        buffers.push_back(w);
        s.to = static_cast<int>(buffers.size()) - 1;
        program.steps.push_back(s);
        if (perDestination) compared(exact, exact.abs());
        return {{perDestination ? From::Destination : From::Edge, s.to}, exact};
    }
    void compared(const at::Tensor& exact, const at::Tensor& magnitude)
    {
        wanted.push_back(exact);
        scale.push_back(magnitude);
    }

    Value unary(StripOp op, const Value& a, std::int64_t w)
    {
        const at::Tensor& x = a.exact;
        switch (op) {
        case StripOp::Neg: return step(op, a, {}, w, x.neg());
        case StripOp::Abs: return step(op, a, {}, w, x.abs());
        case StripOp::Sqrt: return step(op, unary(StripOp::Abs, a, w), {}, w, x.abs().sqrt());
        case StripOp::LeakyRelu: return step(op, a, {}, w, at::leaky_relu(x, 0.25), 0.25);
        case StripOp::Exp: return step(op, unary(StripOp::Tanh, a, w), {}, w, x.tanh().exp());
        case StripOp::Sigmoid: return step(op, a, {}, w, x.sigmoid());
        case StripOp::Tanh: return step(op, a, {}, w, x.tanh());
        case StripOp::Silu: return step(op, a, {}, w, at::silu(x));
        case StripOp::Softplus: return step(op, a, {}, w, at::softplus(x));
        default: return step(StripOp::Relu, a, {}, w, x.relu());
        }
    }

    Value binary(StripOp op, const Value& a, const Value& b, std::int64_t w)
    {
        switch (op) {
        case StripOp::Add: return step(op, a, b, w, a.exact + b.exact);
        case StripOp::Sub: return step(op, a, b, w, a.exact - b.exact);
        case StripOp::Mul: return step(op, a, b, w, a.exact * b.exact);
        default: return step(op, a, b, w, a.exact / b.exact);
        }
    }

    Value aggregate(const Value& a, Combine combine, std::int64_t w, const Value& factor = {})
    {
        StripStep s;
        s.op = StripOp::Aggregate;
        s.a = a.operand;
        s.b = factor.operand;
        s.width = w;
        s.combine = combine;
        s.empty = 0;
        program.destinations.push_back(w);
        s.to = static_cast<int>(program.destinations.size()) - 1;
        program.steps.push_back(s);
        const at::Tensor rows = factor.exact.defined() ? a.exact * factor.exact : a.exact;
        constexpr const char* names[] = {"sum", "mean", "amax", "amin"};
        const at::Tensor none = at::zeros({graph->destinations(), w}, at::kDouble);
        const auto how = [&](const at::Tensor& from, const char* name) {
            const at::Tensor index = graph->owners.unsqueeze(1).expand({graph->edges(), w});
            return none.scatter_reduce(0, index, from, name, false);
        };
        const char* const name = names[static_cast<int>(combine)];
        compared(how(rows, name), how(rows.abs(), combine == Combine::Min ? "amax" : name));
        return {{From::Destination, s.to}, wanted.back()};
    }

    Value repeated(Value v, std::int64_t inner)
    {
        v.operand.inner = inner;
        v.exact = v.exact.repeat_interleave(inner, 1);
        return v;
    }

    // ---- programs

    // exp(score - max) / (sum + 1e-16), and the sum of rows weighted by it.
    void softmaxed(const Value& score)
    {
        const std::int64_t part = std::max<std::int64_t>(width / heads, 1);
        const Value most = spread(aggregate(score, Combine::Max, heads));
        const Value weight = binary(StripOp::Sub, score, most, heads);
        const Value power = step(StripOp::Exp, weight, {}, heads, weight.exact.exp());
        const Value sum = aggregate(power, Combine::Sum, heads);
        Value tiny = repeated(single(1), heads);
        const Value below = step(StripOp::Add, sum, tiny, heads, sum.exact + tiny.exact, 0, true);
        // A random number in place of 1e-16 would change signs.
        m_held.back().fill_(1);
        wanted.back() = sum.exact + 1;
        const Value alpha = binary(StripOp::Div, power, spread({below.operand, wanted.back()}), heads);
        aggregate(gathered(part * heads), Combine::Sum, part * heads, repeated(alpha, part));
        scale.back() = scale.back() + 1;
    }

    void attention()
    {
        const Value score = binary(StripOp::Add, gathered(heads), own(heads), heads);
        softmaxed(step(StripOp::LeakyRelu, score, {}, heads, at::leaky_relu(score.exact, 0.2), 0.2));
    }

    void scored()
    {
        const std::int64_t part = std::max<std::int64_t>(width / heads, 1), w = part * heads;
        Value all = binary(StripOp::Add, own(w), gathered(w), w);
        all = unary(StripOp::Tanh, all, w);
        Value row = single(part);
        row.operand.outer = heads;
        row.exact = row.exact.repeat({1, heads});
        all = binary(StripOp::Mul, all, row, w);
        StripOperand parts = all.operand;
        const at::Tensor sums = all.exact.reshape({graph->edges(), heads, part}).sum(-1) / std::sqrt(double(part));
        Value score = step(StripOp::RowSum, {parts, {}}, {}, heads, sums * std::sqrt(double(part)));
        softmaxed(score);
    }

    void chain()
    {
        constexpr StripOp unaries[] = {StripOp::Neg,       StripOp::Abs,     StripOp::Sqrt, StripOp::Relu,
                                       StripOp::LeakyRelu, StripOp::Sigmoid, StripOp::Tanh, StripOp::Silu,
                                       StripOp::Softplus,  StripOp::Exp};
        Value v = gathered(width);
        for (std::int64_t n = 1 + below(4); n > 0; --n) {
            const Value other = below(3) == 0 ? own(width) : below(2) == 0 ? along(width) : gathered(width);
            constexpr StripOp binaries[] = {StripOp::Add, StripOp::Sub, StripOp::Mul};
            const StripOp op = binaries[below(3)];
            v = below(2) == 0 ? binary(op, v, other, width) : binary(op, other, v, width);
            v = unary(unaries[below(std::size(unaries))], v, width);
        }
        if (below(2) == 0) v = binary(StripOp::Mul, repeated(along(1), width), v, width);
        const Value factor = along(width);
        if (below(2) == 0) aggregate(v, Combine::Sum, width, factor);
        else aggregate(v, static_cast<Combine>(below(4)), width);
        scale.back() = scale.back() + 1;
    }

    void several()
    {
        const Value v = binary(StripOp::Add, gathered(width), along(width), width);
        for (const Combine c : {Combine::Sum, Combine::Mean, Combine::Max, Combine::Min}) aggregate(v, c, width);
        aggregate(v, Combine::Sum, width, v);
        aggregate(binary(StripOp::Mul, v, v, width), Combine::Mean, width);
    }

    std::mt19937_64 m_random;
    std::vector<at::Tensor> m_held;
};

void check(std::uint64_t seed)
{
    Case c(seed);
    CAPTURE(seed);
    CAPTURE(c.kind);
    CAPTURE(c.width);
    CAPTURE(c.heads);
    CAPTURE(c.graph->destinations());
    CAPTURE(c.graph->edges());
    c.run(0, c.graph->destinations());
    for (std::size_t k = 0; k < c.made.size(); ++k) {
        CAPTURE(k);
        const at::Tensor off = (c.made[k].to(at::kDouble) - c.wanted[k]).abs();
        const double worst = (off / (c.scale[k] + 1)).max().item<double>();
        CHECK_MESSAGE(worst <= c.dtype.tolerance, "off by ", worst);
    }
}

}  // namespace

TEST_CASE("strips compute what LibTorch does on random segments, in every dtype and width")
{
    for (std::uint64_t seed = 0; seed < 400; ++seed) check(seed);
}

TEST_CASE("the bits of a destination do not depend on which others are computed with it")
{
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        Case together(seed), apart(seed);
        CAPTURE(seed);
        const std::int64_t all = together.graph->destinations();
        together.run(0, all);
        std::mt19937_64 random(seed);
        for (std::int64_t first = 0; first < all;) {
            const std::int64_t last = std::min<std::int64_t>(all, first + 1 + static_cast<std::int64_t>(random() % 5));
            apart.run(first, last);
            first = last;
        }
        for (std::size_t k = 0; k < together.made.size(); ++k) CHECK(at::equal(together.made[k], apart.made[k]));
    }
}

namespace {

// An aggregation of gathered rows of `heads` parts, by strips and by the segment kernels.
void compareWithSegments(std::uint64_t seed, std::int64_t heads, std::int64_t part)
{
    std::mt19937_64 random(seed);
    at::manual_seed(seed);
    const std::int64_t width = heads * part;
    CAPTURE(seed);
    CAPTURE(heads);
    CAPTURE(part);
    const Graph graph(random, width > 200);
    const at::Tensor source = at::randn({graph.nodes, width}), weight = at::randn({graph.edges(), heads});
    const bool weighted = heads > 1 || seed % 2 == 1;
    const at::Tensor one = at::empty({graph.destinations(), width}), other = at::empty_like(one);
    SegmentArguments a;
    a.offsets = graph.offsets.data();
    a.columns = graph.columns.const_data_ptr<std::int64_t>();
    a.source = source.data_ptr();
    a.weight = weighted ? weight.data_ptr() : nullptr;
    a.out = one.data_ptr();
    a.destinations = graph.destinations(), a.width = a.sourceStride = width;
    a.heads = heads;
    a.combine = weighted ? Combine::Sum : static_cast<Combine>(seed / 2 % 4);
    segmentCpu(a, 0, a.destinations);
    StripProgram p;
    StripStep s;
    s.op = StripOp::Aggregate;
    s.a = {From::Table, 0};
    if (weighted) s.b = {From::Table, 1, part};
    s.width = width;
    s.combine = a.combine;
    p.steps = {s};
    p.destinations = {width};
    p.tables = {StripRows::Gathered, StripRows::Edges};
    p.tableWidths = {width, heads};
    REQUIRE(setPhases(p));
    StripArguments b;
    b.offsets = a.offsets;
    b.tables = {{source.data_ptr(), width, 0, a.columns}, {weight.data_ptr(), heads, 0, {}}};
    b.out = {other.data_ptr()};
    const at::Tensor scratch = at::empty({stripScratchBytes(p)}, at::kByte);
    stripCpu(p, b, 0, a.destinations, static_cast<std::byte*>(scratch.data_ptr()));
    CHECK(at::equal(one, other));
}

}  // namespace

TEST_CASE("sums, means and extremes of gathered rows have the bits of the segment kernels")
{
    for (std::uint64_t seed = 0; seed < 60; ++seed) compareWithSegments(seed, 1, widths[seed * 7 % std::size(widths)]);
}

TEST_CASE("at every width, of one head or several, vectors that overlap give the bits of the segment kernels")
{
    for (std::int64_t part = 1; part <= 180; ++part) {
        compareWithSegments(static_cast<std::uint64_t>(part), 1, part);
        compareWithSegments(static_cast<std::uint64_t>(part) + 2, 1, part);
        compareWithSegments(static_cast<std::uint64_t>(part), 2 + part % 3, part);
    }
}

TEST_CASE("NaN, infinities and large numbers come out as in LibTorch")
{
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
        const at::Tensor x =
            at::tensor({nan,   inf,    -inf,   0.0,  -0.0,  88.6, 88.8, 104.5, -87.5, -104.0, -200.0, 709.7,
                        710.0, -745.0, -800.0, 1e30, -1e30, 19.9, 20.1, -20.1, 1e-30, 9.5,    -9.5},
                       at::kDouble)
                .to(type);
        const std::pair<StripOp, at::Tensor> rows[] = {
            {StripOp::Neg, x.neg()},         {StripOp::Abs, x.abs()},
            {StripOp::Sqrt, x.sqrt()},       {StripOp::Relu, x.relu()},
            {StripOp::Exp, x.exp()},         {StripOp::LeakyRelu, at::leaky_relu(x, 0.25)},
            {StripOp::Sigmoid, x.sigmoid()}, {StripOp::Tanh, x.tanh()},
            {StripOp::Silu, at::silu(x)},    {StripOp::Softplus, at::softplus(x)}};
        for (const auto& [op, want] : rows) {
            CAPTURE(static_cast<int>(op));
            StripProgram p;
            p.element = type == at::kFloat ? StripElement::Float32 : StripElement::Float64;
            StripStep s, sum;
            s.op = op;
            s.a = {From::Table, 0};
            s.width = sum.width = x.numel();
            s.parameter = 0.25;
            sum.op = StripOp::Aggregate;
            sum.a = {From::Edge, 0};
            sum.combine = Combine::Max;
            p.steps = {s, sum};
            p.edges = p.destinations = {x.numel()};
            p.tables = {StripRows::Edges};
            p.tableWidths = {x.numel()};
            REQUIRE(setPhases(p));
            const at::Tensor out = at::empty_like(x), scratch = at::empty({stripScratchBytes(p)}, at::kByte);
            const std::int64_t offsets[] = {0, 1};
            StripArguments a;
            a.offsets = offsets;
            a.tables = {{x.data_ptr(), x.numel(), 0, {}}};
            a.out = {out.data_ptr()};
            stripCpu(p, a, 0, 1, static_cast<std::byte*>(scratch.data_ptr()));
            CHECK_MESSAGE(at::allclose(out, want, type == at::kFloat ? 2e-6 : 1e-14, 1e-38, true), out, want);
        }
    }
}

}  // namespace hopscope::tests
