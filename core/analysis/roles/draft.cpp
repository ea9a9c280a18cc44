#include "analysis/roles/draft.h"

#include <mutex>

#include "base/clones.h"
#include "base/parallel.h"
#include "base/units.h"

namespace hopscope::analysis::inference {

using base::ErrorCode;

namespace {

// For contiguous numbers of 64 bits, which edges usually are.
HOPSCOPE_CLONES("avx512f", "avx2")
Range rangeOfEdges(const std::byte* first, std::int64_t begin, std::int64_t end)
{
    Range range{IntColumn::at<std::int64_t>(first, begin), IntColumn::at<std::int64_t>(first, begin)};
    for (std::int64_t i = begin; i < end; ++i) {
        range.low = std::min(range.low, IntColumn::at<std::int64_t>(first, i));
        range.high = std::max(range.high, IntColumn::at<std::int64_t>(first, i));
    }
    return range;
}

Range rangeWithin(const IntColumn& column, std::int64_t begin, std::int64_t end)
{
    if (column.dtype() == base::DType::Int64 && column.follows<std::int64_t>())
        return rangeOfEdges(column.data(), begin, end);
    Range range{column[begin], column[begin]};
    withNumbers(column, [&](auto number) {
        for (std::int64_t i = begin; i < end; ++i) {
            range.low = std::min(range.low, number(i));
            range.high = std::max(range.high, number(i));
        }
    });
    return range;
}

}  // namespace

Range rangeOf(const IntColumn& column)
{
    constexpr std::int64_t grain = 1 << 18;
    if (column.size() == 0) return {};
    Range all{column[0], column[0]};
    std::mutex mutex;
    base::parallelParts(column.size(), base::hardwareThreads(), grain, [&](int, std::int64_t begin, std::int64_t end) {
        const Range range = rangeWithin(column, begin, end);
        const std::lock_guard lock(mutex);
        all = {std::min(all.low, range.low), std::max(all.high, range.high)};
    });
    return all;
}

void decide(Item& item, RoleKind kind, std::string first, std::string second)
{
    item.role.kind = kind;
    item.role.first = std::move(first);
    item.role.second = std::move(second);
    item.decided = true;
}

std::string placeOf(const Item& index, int end)
{
    return traitsOf(index.role.form).edgeDim == 1 ? std::to_string(end) + ", " : "";
}

namespace {

const Item* elementOf(const Draft& draft, const std::string& argument, const std::string& place)
{
    const auto item = std::ranges::find(draft.items, argument + "." + place, &Item::key);
    return item == draft.items.end() ? nullptr : &*item;
}

// True if some extent of the shape holds all ids; which one is decided later.
bool holds(const Item& item, const Range& ids)
{
    return std::ranges::any_of(item.view->shape, [&](std::int64_t extent) { return extent > ids.high; });
}

}  // namespace

const Item* sizeOfSparse(const Draft& draft, const Item& item)
{
    const bool compressed = item.sparsePart("csr_col");
    if ((!compressed && !item.sparsePart("coo_indices")) || !item.is(RoleKind::Index)) return nullptr;
    const auto size =
        std::ranges::find(draft.items, item.tensorKey() + (compressed ? ".csr_size" : ".coo_size"), &Item::key);
    const bool given = size != draft.items.end() && size->integral() && size->vector() && size->rows() >= 2;
    return given ? &*size : nullptr;
}

int placeInPair(const Draft& draft, const Item& item)
{
    const bool beside = item.hint == Hint::Feature || item.hint == Hint::Node || item.hint == Hint::None;
    const Item *first = elementOf(draft, item.name.argument, "0"), *second = elementOf(draft, item.name.argument, "1");
    if (!beside || !first || !second || elementOf(draft, item.name.argument, "2")) return -1;
    if (item.is(RoleKind::Index) || second->integral() != first->integral()) return -1;
    const bool fits = std::ranges::any_of(draft.items, [&](const Item& index) {
        return index.is(RoleKind::Index) && index.role.first.empty() && index.relationItem().empty() &&
               holds(*first, index.ranges[endInPair(index, 0)]) && holds(*second, index.ranges[endInPair(index, 1)]);
    });
    return !fits ? -1 : &item == first ? 0 : &item == second ? 1 : -1;
}

const Item& otherOfPair(const Draft& draft, const Item& item)
{
    return *elementOf(draft, item.name.argument, item.name.item == "0" ? "1" : "0");
}

bool hasSources(const Draft& draft, const Item& index)
{
    return std::ranges::any_of(draft.items, [&](const Item& i) {
        return i.is(RoleKind::Index) && i.role.relation == index.role.relation && hasEnd(i.role.form, 0);
    });
}

bool isEdgeCount(const Draft& draft, std::int64_t rows)
{
    return std::ranges::any_of(draft.items, [&](const Item& i) { return i.is(RoleKind::Index) && i.edges() == rows; });
}

const Item* relationNamed(const Draft& draft, const std::string& name)
{
    for (const Item& item : draft.items)
        if (item.is(RoleKind::Index) && (item.role.relation == name || item.key == name || item.name.item == name))
            return &item;
    return nullptr;
}

namespace {

// The hint for numbers that are no rows of `type`; empty: negative ones.
std::string idsHint(const Item& item, const Range& numbers, std::int64_t size, const std::string& type)
{
    const bool edges = item.role.kind == RoleKind::Index;
    if (type.empty())
        return edges ? "remove these edges, and what belongs to them, from the data" : "number them from 0";
    const std::int64_t low = edges ? std::min(item.ranges[0].low, item.ranges[1].low) : numbers.low;
    if (low == 1 && numbers.high == size) return "its numbers start at 1, but rows are counted from 0: subtract 1";
    return "each number has to be below the number of rows; if the input points into another table, use --role " +
           item.key + "=" + wordOf(item.role).name + ":S>T";
}

}  // namespace

base::Status checkIds(const Item& item, const IntColumn& column, const std::string& where, std::int64_t size,
                      const std::string& type)
{
    std::int64_t first = -1, count = 0;
    for (std::int64_t i = 0; i < column.size(); ++i) {
        if (column[i] >= 0 && column[i] < size) continue;
        if (count++ == 0) first = i;
    }
    if (count == 0) return {};
    std::string text = item.key + "[" + where + std::to_string(first) + "] is " + std::to_string(column[first]);
    if (type.empty()) text += ", but row numbers cannot be negative";
    else text += ", but \"" + type + "\" has " + base::counted(size, "row");
    text += " (invalid: " + base::grouped(count) + " of " + base::counted(column.size(), "number") + ")";
    return base::fail(ErrorCode::Input, text, idsHint(item, rangeOf(column), size, type), item.view->origin);
}

}  // namespace hopscope::analysis::inference
