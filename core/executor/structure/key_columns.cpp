#include "executor/structure/key_columns.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "executor/failure.h"

namespace hopscope::executor {

using analysis::KeyKind;
using analysis::SpaceKind;
using base::ErrorCode;

namespace {

constexpr std::int64_t grain = 1 << 16;
constexpr std::uint64_t mostNarrow = std::numeric_limits<std::int32_t>::max();

std::int64_t chunksOf(std::int64_t rows) { return (rows + grain - 1) / grain; }

// body(chunk, first, last) for each chunk of `grain` rows.
template <class Body>
void forEachChunk(std::int64_t rows, Body&& body)
{
    at::parallel_for(0, chunksOf(rows), 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t c = first; c < last; ++c) body(c, c * grain, std::min((c + 1) * grain, rows));
    });
}

template <class Number>
Number* writable(const Number* column)
{
    return const_cast<Number*>(column);
}

// to[row] = keyOf(row). Returns all bits that are set in some key.
template <class KeyOf, class Number>
std::uint64_t writeKeys(std::int64_t rows, KeyOf&& keyOf, Number* to)
{
    std::atomic<std::uint64_t> bits = 0;
    forEachChunk(rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        std::uint64_t seen = 0;
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t key = keyOf(i);
            to[i] = static_cast<Number>(key);
            seen |= static_cast<std::uint64_t>(key);
        }
        bits |= seen;
    });
    return bits;
}

Column fromTensor(at::Tensor tensor)
{
    if (tensor.scalar_type() != at::kLong) tensor = tensor.to(at::kLong);
    require(tensor.dim() == 1, "a key column does not have one dimension");
    Column column;
    column.stride = tensor.stride(0);
    column.rows = tensor.size(0);
    // An empty tensor may have no address; a column without an address means row numbers.
    static const std::int64_t nothing = 0;
    column.data = column.rows ? tensor.const_data_ptr<std::int64_t>() : &nothing;
    column.owner = std::make_shared<at::Tensor>(std::move(tensor));
    return column;
}

}  // namespace

const KeyColumns::Selection& KeyColumns::selection(ir::SpaceId filter)
{
    const auto it = m_selections.find(filter);
    if (it != m_selections.end()) return it->second;
    Selection made{m_value(m_analysis.tables.space(filter).selector).contiguous(), {}};
    made.starts.assign(static_cast<std::size_t>(chunksOf(made.mask.numel())) + 1, 0);
    const bool* const selected = made.mask.const_data_ptr<bool>();
    forEachChunk(made.mask.numel(), [&](std::int64_t c, std::int64_t first, std::int64_t last) {
        made.starts[static_cast<std::size_t>(c) + 1] = std::count(selected + first, selected + last, true);
    });
    std::partial_sum(made.starts.begin(), made.starts.end(), made.starts.begin());
    return m_selections.emplace(filter, std::move(made)).first->second;
}

const Column& KeyColumns::column(ir::SpaceId space, ir::KeyId key)
{
    const auto it = m_columns.find({space, key});
    if (it != m_columns.end()) return it->second;
    Column made = make(space, key);
    return m_columns[{space, key}] = std::move(made);
}

Column KeyColumns::passing(ir::SpaceId space, ir::KeyId key)
{
    const auto it = m_columns.find({space, key});
    return it != m_columns.end() ? it->second : make(space, key);
}

Column KeyColumns::make(ir::SpaceId space, ir::KeyId key)
{
    const analysis::Space& s = m_analysis.tables.space(space);
    const analysis::Key& k = m_analysis.tables.key(key);
    if (k.kind == KeyKind::Of)
        return compose(space, key, column(m_analysis.tables.target(space, k.first), k.second), column(space, k.first));
    if (s.kind == SpaceKind::Filter) return k.kind == KeyKind::Pos ? parentRows(space) : written(space, key);
    if (s.kind == SpaceKind::Perm) {
        if (k.kind == KeyKind::Pos) return parentRows(space);
        return compose(space, key, column(s.parent, key), parentRows(space));
    }
    switch (k.kind) {
    case KeyKind::Id:
    case KeyKind::Pos:
        return Column{.data = nullptr, .narrow = nullptr, .stride = 1, .rows = m_size(space), .owner = nullptr};
    case KeyKind::End: {
        if (s.columns[k.end].valid()) return of(s.columns[k.end], m_value(s.columns[k.end]));
        const int pairDim = m_analysis.rowDim(s.index) == 0 ? 1 : 0;
        return of(s.index, m_value(s.index).select(pairDim, k.end));
    }
    case KeyKind::Foreign: {
        const bool pair = !m_analysis.info(k.column).pairRoles.empty();
        const int pairDim = m_analysis.rowDim(k.column) == 0 ? 1 : 0;
        return of(k.column, pair ? m_value(k.column).select(pairDim, k.end) : m_value(k.column).reshape({-1}));
    }
    case KeyKind::Parts: return written(space, key);
    case KeyKind::Of: break;
    }
    raise(ErrorCode::Internal, "the table " + analysis::tableLabel(m_analysis.tables, space) + " has no column " +
                                   analysis::nameOfKey(m_analysis, key));
}

// The column of a value, or of a part of it.
Column KeyColumns::of(ir::ValueId value, at::Tensor tensor) const
{
    const bool given = m_analysis.program.value(value).origin == ir::Origin::Input &&
                       tensor.scalar_type() == at::kLong && tensor.is_alias_of(m_value(value));
    Column column = fromTensor(std::move(tensor));
    column.given = given;
    return column;
}

Column KeyColumns::own(std::int64_t rows, bool narrow)
{
    auto bytes = unwrap(m_scratch.allocate(std::max<std::int64_t>(rows, 1) * (narrow ? 4 : 8), graph::Fill::Any));
    if (narrow)
        return Column{.data = nullptr,
                      .narrow = reinterpret_cast<const std::int32_t*>(bytes.get()),
                      .stride = 1,
                      .rows = rows,
                      .owner = bytes};
    return Column{.data = reinterpret_cast<const std::int64_t*>(bytes.get()),
                  .narrow = nullptr,
                  .stride = 1,
                  .rows = rows,
                  .owner = bytes};
}

// Whether the key's numbers fit into 32 bits, provided that they are valid.
bool KeyColumns::fitsNarrow(ir::SpaceId space, ir::KeyId key)
{
    const ir::SpaceId target = m_analysis.tables.target(space, key);
    if (!target.valid() || m_analysis.tables.space(target).kind == SpaceKind::Opaque) return false;
    return static_cast<std::uint64_t>(m_size(target)) <= mostNarrow;
}

void KeyColumns::raiseOutside(ir::SpaceId space, ir::KeyId key)
{
    raise(ErrorCode::Input,
          "a row number lies outside its table, whose number of rows is " +
              std::to_string(m_size(m_analysis.tables.target(space, key))),
          {}, analysis::tableLabel(m_analysis.tables, space) + ", " + analysis::nameOfKey(m_analysis, key));
}

// outer[inner[row]] for every row.
Column KeyColumns::compose(ir::SpaceId space, ir::KeyId key, const Column& outer, const Column& inner)
{
    if (outer.identity()) return inner;
    if (inner.identity()) return outer;
    const bool narrow = fitsNarrow(space, key);
    const Column result = own(inner.rows, narrow);
    const auto keyOf = [&](std::int64_t row) { return outer[inner[row]]; };
    if (!narrow) writeKeys(inner.rows, keyOf, writable(result.data));
    else if (writeKeys(inner.rows, keyOf, writable(result.narrow)) > mostNarrow) raiseOutside(space, key);
    return result;
}

// The keys of a table that is derived from others, without a column for each of these.
Column KeyColumns::written(ir::SpaceId space, ir::KeyId key)
{
    const bool narrow = fitsNarrow(space, key);
    const Column result = own(m_size(space), narrow);
    if (narrow) write(space, key, writable(result.narrow));
    else write(space, key, writable(result.data));
    return result;
}

template <class Number>
void KeyColumns::write(ir::SpaceId space, ir::KeyId key, Number* to)
{
    const analysis::Space& s = m_analysis.tables.space(space);
    const analysis::Key& k = m_analysis.tables.key(key);
    if (s.kind == SpaceKind::Filter && k.kind != KeyKind::Of) return writeSelected(space, key, to);
    if (k.kind == KeyKind::Parts) {
        for (std::size_t p = 0; p < s.parts.size(); to += m_size(s.parts[p]), ++p) write(s.parts[p], k.parts.at(p), to);
        return;
    }
    const Column& from = column(space, key);
    from.with([&](auto keyOf) {
        if (writeKeys(from.rows, keyOf, to) > mostNarrow && sizeof(Number) == 4) raiseOutside(space, key);
    });
}

template <class Number>
void KeyColumns::writeSelected(ir::SpaceId filter, ir::KeyId key, Number* to)
{
    const Selection& rows = selection(filter);
    const ir::SpaceId parent = m_analysis.tables.space(filter).parent;
    const bool position = m_analysis.tables.key(key).kind == KeyKind::Pos;
    const Column from =
        position ? Column{.data = nullptr, .narrow = nullptr, .stride = 1, .rows = m_size(parent), .owner = nullptr}
                 : column(parent, key);
    std::atomic<std::uint64_t> bits = 0;
    from.with([&, selected = rows.mask.const_data_ptr<bool>()](auto keyOf) {
        forEachChunk(rows.mask.numel(), [&](std::int64_t c, std::int64_t first, std::int64_t last) {
            Number* next = to + rows.starts[static_cast<std::size_t>(c)];
            std::uint64_t seen = 0;
            for (std::int64_t i = first; i < last; ++i) {
                if (!selected[i]) continue;
                *next++ = static_cast<Number>(keyOf(i));
                seen |= static_cast<std::uint64_t>(keyOf(i));
            }
            bits |= seen;
        });
    });
    if (sizeof(Number) == 4 && bits > mostNarrow) raiseOutside(filter, key);
}

const Column& KeyColumns::parentRows(ir::SpaceId space)
{
    const auto it = m_parents.find(space);
    if (it != m_parents.end()) return it->second;
    const analysis::Space& s = m_analysis.tables.space(space);
    Column made =
        s.kind == SpaceKind::Perm ? fromTensor(m_value(s.selector)) : written(space, m_analysis.tables.posKey());
    return m_parents[space] = std::move(made);
}

Column KeyColumns::checked(ir::SpaceId space, ir::KeyId key)
{
    Column keys = passing(space, key);
    if (keys.identity()) keys = written(space, key);
    const auto targets = static_cast<std::uint64_t>(m_size(m_analysis.tables.target(space, key)));
    std::atomic<bool> outside = false;
    keys.with([&](auto keyOf) {
        forEachChunk(keys.rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
            std::uint64_t most = 0;
            for (std::int64_t i = first; i < last; ++i) most = std::max(most, static_cast<std::uint64_t>(keyOf(i)));
            if (first < last && most >= targets) outside = true;
        });
    });
    if (outside) raiseOutside(space, key);
    return keys;
}

}  // namespace hopscope::executor
