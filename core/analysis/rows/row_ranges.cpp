#include "analysis/rows/row_ranges.h"

#include <algorithm>
#include <map>

#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"
#include "analysis/rows/other_rows.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using Rewritten = std::optional<base::Result<std::vector<ValueId>>>;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t endless = std::int64_t{1} << 31;

// The beginning or the end of a part: an argument, and its size if that is known.
struct Bound {
    Arg arg;
    Linear size;
};

Bound literal(std::int64_t number) { return {Arg{number}, constant(number)}; }

// Numbers that cannot be negative whatever the graph is.
bool neverNegative(const Linear& l)
{
    return l.atoms.empty() && l.constant >= 0 &&
           std::ranges::all_of(l.sizes, [](const auto& size) { return size.second >= 0; });
}

std::optional<Bound> boundOf(const RuleContext& c, const Arg& arg)
{
    if (const std::int64_t* number = arg.integer()) return literal(*number);
    const ValueId* v = arg.value();
    if (!v || c.value(*v).kind != ir::ValueKind::Int) return std::nullopt;
    const auto& size = c.of(*v).size;
    return Bound{arg, size ? *size : atom(*v)};
}

std::int64_t sampleOf(const RuleContext& c, const Bound& bound)
{
    const ValueId* v = bound.arg.value();
    return v ? static_cast<std::int64_t>(c.value(*v).number) : *bound.arg.integer();
}

// Emits what tells rows by their numbers.
class Positions {
public:
    Positions(Chain& chain, Emitter& emitter, const RuleContext& c, ValueId x, int d)
        : m_chain(chain),
          m_builder(emitter.builder()),
          m_c(c),
          m_rows(c.dim(x, d)),
          m_count(c.extent(x, d)),
          m_x(x),
          m_dim(d)
    {}

    // A mask of the rows from `start` on, before `end` (to the last one if there is none), every `step`-th of them. The same
    // part of a table is the same mask, whatever the sizes in its bounds were read from.
    ValueId part(const Bound& start, const std::optional<Bound>& end, std::int64_t step)
    {
        const RowPart wanted{m_rows, start.size, end ? std::optional(end->size) : std::nullopt, step};
        for (const auto& [known, mask] : m_builder.rowParts)
            if (known == wanted) return mask;
        const Bound first = wrapped(start);
        ValueId mask = compared("ge.Scalar", numbers(), first.arg);
        if (end) mask = both(mask, compared("lt.Scalar", numbers(), wrapped(*end).arg));
        if (step > 1) mask = both(mask, compared("eq.Scalar", phase(first, step), Arg{std::int64_t{0}}));
        if (mask.valid()) m_builder.rowParts.emplace_back(wanted, mask);
        return mask;
    }

    ValueId otherThan(const Bound& row) { return compared("ne.Scalar", numbers(), wrapped(row).arg); }

private:
    ValueId numbers()
    {
        const auto known = m_builder.rowNumbers.find(m_rows);
        if (known != m_builder.rowNumbers.end()) return known->second;
        const Arg none{};
        const ValueId made = m_chain.call("arange", {Arg{size()}, Arg{dtypeCode(base::DType::Int64)}, none, none, none},
                                          {m_count}, base::DType::Int64);
        if (made.valid()) m_builder.rowNumbers.emplace(m_rows, made);
        return made;
    }

    ValueId size() { return m_chain.number("scalar::size", {Arg{m_x}, Arg{std::int64_t{m_dim}}}, m_count); }

    ValueId compared(const char* how, ValueId numbers, const Arg& with)
    {
        return m_chain.call(how, {Arg{numbers}, with}, {m_count}, base::DType::Bool);
    }

    ValueId both(ValueId a, ValueId b)
    {
        return m_chain.call("logical_and", {Arg{a}, Arg{b}}, {m_count}, base::DType::Bool);
    }

    ValueId phase(const Bound& first, std::int64_t step)
    {
        const ValueId from = m_chain.call("sub.Scalar", {Arg{numbers()}, first.arg, Arg{std::int64_t{1}}}, {m_count},
                                          base::DType::Int64);
        return m_chain.call("remainder.Scalar", {Arg{from}, Arg{step}}, {m_count}, base::DType::Int64);
    }

    // Negative numbers count from the end.
    Bound wrapped(const Bound& bound)
    {
        if (neverNegative(bound.size)) return bound;
        const std::int64_t now = sampleOf(m_c, bound);
        const auto number = [&](const char* how, const Arg& a, const Arg& b, std::int64_t value) {
            return Arg{m_chain.number(how, {a, b}, value)};
        };
        const Arg rows{size()};
        if (bound.size.isConstant()) return {number("scalar::add", rows, bound.arg, m_count + now), {}};
        const std::int64_t below = std::clamp<std::int64_t>(-now, 0, 1);
        const Arg turned = number("scalar::mul", bound.arg, Arg{std::int64_t{-1}}, -now);
        const Arg positive = number("scalar::max", turned, Arg{std::int64_t{0}}, std::max<std::int64_t>(-now, 0));
        const Arg sign = number("scalar::min", positive, Arg{std::int64_t{1}}, below);
        const Arg shift = number("scalar::mul", rows, sign, m_count * below);
        return {number("scalar::add", bound.arg, shift, now + m_count * below), {}};
    }

    Chain& m_chain;
    Builder& m_builder;
    const RuleContext& m_c;
    SpaceId m_rows;
    std::int64_t m_count;
    ValueId m_x;
    int m_dim;
};

struct Part {
    Bound start;
    std::optional<Bound> end;
    std::int64_t step = 1;
};

std::optional<Part> narrowed(const RuleContext& c)
{
    const auto start = boundOf(c, c.arg("start")), length = boundOf(c, c.arg("length"));
    if (!start || !length || !start->size.isConstant() || !length->size.isConstant()) return std::nullopt;
    if (start->size.constant < 0) return std::nullopt;
    return Part{*start, literal(start->size.constant + length->size.constant), 1};
}

// The part that slice, narrow or slice_scatter is about; nullopt for all rows, and where it is not known.
std::optional<Part> partOf(const RuleContext& c, SpaceId rows)
{
    if (c.name == "narrow") return narrowed(c);
    const auto start = c.has("start") ? boundOf(c, c.arg("start")) : literal(0);
    const std::int64_t step = c.integer("step", 1);
    if (!start || step < 1) return std::nullopt;
    Part part{*start, std::nullopt, step};
    if (c.has("end")) {
        part.end = boundOf(c, c.arg("end"));
        if (!part.end) return std::nullopt;
        const Linear& end = part.end->size;
        if ((end.isConstant() && end.constant >= endless) || end == sizeOf(rows)) part.end.reset();
    }
    const bool whole = start->size == constant(0) && !part.end && step == 1;
    return whole ? std::nullopt : std::optional(part);
}

// Rows of a table that can be selected from.
bool selectable(const RuleContext& c, ValueId x, int d)
{
    const ValueInfo& info = c.of(x);
    return c.isRow(c.dim(x, d)) && c.space(c.dim(x, d)).kind != SpaceKind::Opaque && !info.sparse && !info.compressed;
}

Arg indicesAt(int d, ValueId mask)
{
    ArgList list(static_cast<std::size_t>(d));
    list.push_back(Arg{mask});
    return Arg{std::move(list)};
}

Rewritten selectPart(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const auto part = partOf(c, c.dim(x, d));
    if (!part) return std::nullopt;
    Chain chain(emitter, c.op);
    const ValueId mask = Positions(chain, emitter, c, x, d).part(part->start, part->end, part->step);
    return chain.done(chain.call("index.Tensor", {Arg{x}, indicesAt(d, mask)}, c.outputs[0].shape, c.outputs[0].dtype));
}

Rewritten selectParts(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    std::vector<Bound> sizes;
    for (const Arg& item : c.items(c.index("split_sizes") >= 0 ? "split_sizes" : "split_size")) {
        const auto size = boundOf(c, item);
        if (!size) return std::nullopt;
        sizes.push_back(*size);
    }
    if (sizes.size() < 2 || sizes.size() != c.outputs.size()) return std::nullopt;
    Chain chain(emitter, c.op);
    Positions positions(chain, emitter, c, x, d);
    std::vector<ValueId> parts;
    Bound start = literal(0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const ir::Value& out = c.outputs[i];
        std::optional<Bound> end;
        if (i + 1 < sizes.size()) {
            const Linear sum = add(start.size, sizes[i].size);
            end = sum.isConstant() ? literal(sum.constant)
                                   : Bound{Arg{chain.number("scalar::add", {start.arg, sizes[i].arg},
                                                            sampleOf(c, start) + sampleOf(c, sizes[i]))},
                                           sum};
        }
        const ValueId mask = positions.part(start, end, 1);
        parts.push_back(chain.call("index.Tensor", {Arg{x}, indicesAt(d, mask)}, out.shape, out.dtype));
        if (end) start = *end;
    }
    const auto done = chain.done(parts.back());
    if (!done) return base::Result<std::vector<ValueId>>(base::forward(done));
    return base::Result<std::vector<ValueId>>(parts);
}

// x[i]: the sum of this row alone; the sum of the others is not used.
Rewritten selectRow(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const auto row = boundOf(c, c.arg("index"));
    const base::DType dtype = c.value(x).dtype;
    if (!row || dtype == base::DType::Bool || c.structure(x)) return std::nullopt;
    Shape two = c.shape(x);
    two[static_cast<std::size_t>(d)] = 2;
    for (int i = 0; i < c.rank(x); ++i)
        if (i != d && c.dim(x, i).valid()) return std::nullopt;
    const std::int64_t count = c.extent(x, d);
    Chain chain(emitter, c.op);
    const ValueId others = Positions(chain, emitter, c, x, d).otherThan(*row);
    const Arg none{}, along{std::int64_t{d}}, one{std::int64_t{1}};
    const ValueId place =
        chain.call("to.dtype", {Arg{others}, Arg{dtypeCode(base::DType::Int64)}, Arg{false}, Arg{false}}, {count},
                   base::DType::Int64);
    ArgList size;
    for (const std::int64_t extent : two) size.push_back(Arg{extent});
    const ValueId table = chain.call("new_full", {Arg{x}, Arg{std::move(size)}, Arg{std::int64_t{0}}}, two, dtype);
    const ValueId sums = chain.call("index_add", {Arg{table}, along, Arg{place}, Arg{x}, one}, two, dtype);
    return chain.done(chain.call("select.int", {Arg{sums}, along, Arg{std::int64_t{0}}}, c.outputs[0].shape, dtype));
}

// A mask of rows, shaped so that it meets whole rows of x.
ValueId besides(Chain& chain, ValueId mask, const Shape& shape, int d)
{
    Shape now{shape[static_cast<std::size_t>(d)]};
    for (std::size_t i = static_cast<std::size_t>(d) + 1; i < shape.size(); ++i) {
        now.push_back(1);
        mask = chain.call("unsqueeze", {Arg{mask}, Arg{std::int64_t{-1}}}, now, base::DType::Bool);
    }
    return mask;
}

ValueId chosen(Chain& chain, const RuleContext& c, ValueId mask, ValueId yes, ValueId no, int d)
{
    const Shape shape = c.outputs[0].shape;
    const ValueId wide = besides(chain, mask, shape, d);
    return chain.call("where.self", {Arg{wide}, Arg{yes}, Arg{no}}, shape, c.outputs[0].dtype);
}

Rewritten writePart(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const ValueId src = c.tensor("src");
    const SpaceId rows = c.dim(x, d), written = c.dim(src, d);
    const auto part = partOf(c, rows);
    if (!part || c.value(src).dtype != c.value(x).dtype) return std::nullopt;
    const std::int64_t count = c.extent(x, d);
    Chain chain(emitter, c.op);
    const ValueId mask = Positions(chain, emitter, c, x, d).part(part->start, part->end, part->step);
    if (!mask.valid()) return std::nullopt;
    const bool ofThisPart = written.valid() && written == emitter.builder().filter(rows, mask);
    if (!ofThisPart) return std::nullopt;
    const ValueId whole = OtherRows::wholeOf(emitter, written, count).of(src);
    if (!whole.valid()) return std::nullopt;
    return chain.done(chosen(chain, c, mask, whole, x, d));
}

Rewritten writeRow(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const ValueId src = c.tensor("src");
    const auto row = boundOf(c, c.arg("index"));
    if (!row || c.anyRow(c.dims(src)) || c.value(src).dtype != c.value(x).dtype) return std::nullopt;
    Shape one = c.shape(x);
    one[static_cast<std::size_t>(d)] = 1;
    Chain chain(emitter, c.op);
    const ValueId others = Positions(chain, emitter, c, x, d).otherThan(*row);
    const ValueId line = chain.call("unsqueeze", {Arg{src}, Arg{std::int64_t{d}}}, one, c.outputs[0].dtype);
    return chain.done(chosen(chain, c, others, x, line, d));
}

}  // namespace

Rewritten decomposeRowRanges(Emitter& emitter, const RuleContext& c)
{
    using Step = Rewritten (*)(Emitter&, const RuleContext&, ValueId, int);
    static const std::map<std::string, Step> steps{
        {"slice", selectPart}, {"narrow", selectPart},       {"split_with_sizes", selectParts}, {"split", selectParts},
        {"select", selectRow}, {"slice_scatter", writePart}, {"select_scatter", writeRow},
    };
    const auto step = steps.find(c.name);
    const ValueId x = c.tensor("self");
    if (step == steps.end() || !x.valid() || c.rank(x) == 0) return std::nullopt;
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    return selectable(c, x, d) ? step->second(emitter, c, x, d) : std::nullopt;
}

}  // namespace hopscope::analysis
