#include "analysis/roles/role_inference.h"

#include <limits>
#include <optional>

namespace hopscope::analysis::inference {

namespace {

using base::ErrorCode;

base::Status scanIndex(Item& item)
{
    if (isCompressed(item.role.form)) {
        item.ranges[1] = {0, item.rows() - extraOffsets(item.role.form) - 1};
        return {};
    }
    for (int end = 0; end < 2; ++end) {
        if (!hasEnd(item.role.form, end)) continue;
        const IntColumn column = endColumn(*item.view, item.role.form, end, item.edges());
        item.ranges[end] = rangeOf(column);
        if (item.ranges[end].low >= 0) continue;
        return checkIds(item, column, placeOf(item, end), std::numeric_limits<std::int64_t>::max(), {});
    }
    return {};
}

}  // namespace

base::Status decideIndex(Item& item, EdgeForm form, std::string relation)
{
    item.role.kind = RoleKind::Index;
    item.role.form = form;
    item.role.relation = std::move(relation);
    item.decided = true;
    return scanIndex(item);
}

bool isOffsets(const Item& item, EdgeForm form)
{
    const IntColumn numbers(*item.view);
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < numbers.size(); before = numbers[i++])
        if (numbers[i] < before) return false;
    return numbers.size() > 0 && offsetAt(numbers, form, 0, 0) == 0;
}

bool namedSources(const Item& item)
{
    static const std::set<std::string> columns{"col",    "cols",    "column",    "columns",    "indices", "index",
                                               "colind", "colidx",  "src",       "source",     "sources", "row",
                                               "adj",    "senders", "neighbors", "neighbours", "nbr",     "nbrs"};
    return names::has(names::words(item.key), columns);
}

namespace {

// Both ends of a list of edges as people call them, as words of a key.
constexpr std::pair<const char*, const char*> endNames[] = {
    {"src", "dst"},
    {"row", "col"},
    {"source", "target"},
    {"source", "destination"},
    {"sources", "targets"},
    {"senders", "receivers"},
    {"head", "tail"},
    {"from", "to"},
    {"u", "v"},
    {"kj", "ji"},
    {"j", "i"},  // neighbours of atoms, and the atoms
};

// The key without the word: "edge" for "edge_src"; nullopt if the key does not contain the word.
std::optional<std::string> without(const std::string& key, const char* word)
{
    std::vector<std::string> list = names::words(key);
    const auto found = std::ranges::find(list, word);
    if (found == list.end()) return std::nullopt;
    list.erase(found);
    return names::joined(list);
}

// A column with a row per node, such as a pixel's, is none of edges.
bool isColumn(const Draft& draft, const Item& item)
{
    const bool ofNodes = std::ranges::any_of(
        draft.items, [&](const Item& i) { return i.hint == Hint::Feature && i.rows() == item.rows(); });
    const bool named = item.name.item.empty() || (item.name.dictItem() && item.relationItem().empty());
    return !ofNodes && item.open() && item.integral() && item.vector() && named && item.name.part.empty() &&
           rangeOf(IntColumn(*item.view)).low >= 0;
}

// The text to search for the word for an end: the items of one Dict, or the names of arguments.
const std::string& endNameOf(const Item& item) { return item.name.dictItem() ? item.name.item : item.key; }

bool haveOneDict(const Item& one, const Item& other)
{
    return one.name.dictItem() == other.name.dictItem() &&
           (!one.name.dictItem() || one.name.argument == other.name.argument);
}

bool namedOffsets(const Item& item)
{
    static const std::set<std::string> pointers{"ptr",  "rowptr", "colptr",  "indptr",  "pointers",
                                                "crow", "offset", "offsets", "rowptrs", "indptrs"};
    return names::has(names::words(item.key), pointers) && item.vector() && item.integral() && !item.forced &&
           !item.decided;
}

// The column of the sources that offsets belong to: by name, with as many numbers as the offsets say. nullptr if there
// is none.
Item* columnOf(Draft& draft, const Item& offsets)
{
    if (offsets.sparsePart("csr_crow")) {
        const auto column = std::ranges::find(draft.items, offsets.tensorKey() + ".csr_col", &Item::key);
        return column == draft.items.end() ? nullptr : &*column;
    }
    Item* best = nullptr;
    for (Item& item : draft.items) {
        const bool fits = item.integral() && item.vector() && item.open() && item.hint != Hint::Key &&
                          namedSources(item) && item.rows() == edgeCount(*offsets.view, EdgeForm::Offsets);
        if (fits && (!best || names::affinity(item.key, offsets.key) > names::affinity(best->key, offsets.key)))
            best = &item;
    }
    return best;
}

// True if it has one number more than a table has rows, as offsets of any name would.
bool countsRows(const Draft& draft, const Item& item)
{
    return std::ranges::any_of(draft.items, [&](const Item& i) {
        return i.hint == Hint::Feature && i.rows() > 1 && i.rows() + 1 == item.rows();
    });
}

// Under any name: the column with the largest numbers that are all rows of some table. nullptr if there is none.
Item* anyColumnOf(Draft& draft, const Item& offsets)
{
    Item* best = nullptr;
    std::int64_t most = -1;
    for (Item& item : draft.items) {
        const bool fits = &item != &offsets && item.open() && item.integral() && item.vector() &&
                          item.rows() == edgeCount(*offsets.view, EdgeForm::Offsets) && item.hint == Hint::None;
        if (!fits) continue;
        const Range range = rangeOf(IntColumn(*item.view));
        const bool ids = range.low >= 0 && std::ranges::any_of(draft.items, [&](const Item& i) {
                             return i.hint == Hint::Feature && i.rows() > range.high && i.rows() <= 2 * range.high + 2;
                         });
        if (ids && range.high > most) best = &item, most = range.high;
    }
    return best;
}

// Compressed rows: rowptr and col, or what looks like them.
base::Status findOffsets(Draft& draft)
{
    for (Item& offsets : draft.items) {
        const bool named = namedOffsets(offsets);
        const bool candidate = named || (offsets.open() && offsets.hint == Hint::None && offsets.integral() &&
                                         offsets.vector() && countsRows(draft, offsets));
        if (!candidate || !isOffsets(offsets)) continue;
        Item* const column = named ? columnOf(draft, offsets) : anyColumnOf(draft, offsets);
        if (!column) continue;
        if (!named) draft.note(offsets.key + ": assumed to say where the edges of each row begin in " + column->key);
        const bool only = !relationNamed(draft, "edge") && !offsets.sparsePart("csr_crow");
        const std::string relation = only ? "edge" : column->tensorKey();
        if (auto status = decideIndex(*column, EdgeForm::Source, relation); !status) return status;
        offsets.items = column->rows();
        const EdgeForm form = formOfOffsets(draft, offsets, offsets.items).value_or(EdgeForm::Offsets);
        if (auto status = decideIndex(offsets, form, relation); !status) return status;
    }
    return {};
}

// Two columns whose names differ in the word for their end.
base::Status findColumns(Draft& draft)
{
    for (const auto& [sourceWord, destinationWord] : endNames) {
        for (Item& source : draft.items) {
            const auto rest = without(endNameOf(source), sourceWord);
            if (!rest || !isColumn(draft, source)) continue;
            const auto other = std::ranges::find_if(draft.items, [&, word = destinationWord](const Item& i) {
                return without(endNameOf(i), word) == rest && haveOneDict(i, source) && i.rows() == source.rows() &&
                       isColumn(draft, i);
            });
            if (other == draft.items.end()) continue;
            const std::string relation = rest->empty() ? "edge" : *rest;
            if (auto status = decideIndex(source, EdgeForm::Source, relation); !status) return status;
            if (auto status = decideIndex(*other, EdgeForm::Destination, relation); !status) return status;
        }
    }
    return {};
}

// The hint for an input that is no edge index.
std::string indexHint(const Item& item)
{
    const std::vector<std::int64_t>& shape = item.view->shape;
    const bool pair = shape.size() == 2 && shape[0] == 2, turned = shape.size() == 2 && !pair && shape[1] == 2;
    if (pair) return "store it as int64";
    if (turned) return item.integral() ? "transpose it" : "transpose it, and store it as int64";
    if (item.vector())
        return "if it is one end of each edge, declare both ends: --role NAME=source and --role NAME=destination";
    return "give it two rows: the sources of the edges, and their destinations";
}

// By --role: a source column and a destination column, or its offsets, make a relation.
base::Status checkForced(const Item& item)
{
    if (!item.is(RoleKind::Index) || !isOneEnd(item.role.form)) return {};
    if (!item.integral() || !item.vector())
        return base::fail(ErrorCode::Input, "--role " + item.key +
                                                " is one end of each edge, which needs an integer vector, but it is " +
                                                base::dtypeName(item.view->dtype) + " " + shapeText(*item.view));
    if (isCompressed(item.role.form) && !isOffsets(item, item.role.form))
        return base::fail(ErrorCode::Input,
                          "--role " + item.key + "=" + wordOf(item.role).name + ": its numbers do not ascend from 0");
    return {};
}

// True if one has the sources of the edges whose offsets, or ends, the other has.
bool haveSameEdges(const Item& one, const Item& other)
{
    const bool ends = other.is(RoleKind::Index) && isOneEnd(other.role.form) &&
                      hasEnd(one.role.form, 0) != hasEnd(other.role.form, 0);
    if (!ends) return false;
    const Item &sources = hasEnd(one.role.form, 0) ? one : other, &ends1 = hasEnd(one.role.form, 0) ? other : one;
    const std::int64_t least = edgeCount(*ends1.view, ends1.role.form);
    return lacksTotal(ends1.role.form) ? sources.rows() >= least : sources.rows() == least;
}

// The number of items of bags without sources; -1 if no input has as many rows.
std::int64_t itemsForced(Draft& draft, const Item& offsets)
{
    for (const Item& item : draft.items)
        if (item.forced && item.role.kind == RoleKind::Edge && item.role.first == offsets.key) return item.rows();
    const Item* const items = itemsOf(draft, offsets);
    const std::int64_t last = edgeCount(*offsets.view, offsets.role.form);
    return items && (lacksTotal(offsets.role.form) || items->rows() == last) ? items->rows() : -1;
}

base::Status pairForced(Draft& draft)
{
    for (const Item& item : draft.items)
        if (auto status = checkForced(item); !status) return status;
    for (Item& item : draft.items) {
        if (!item.is(RoleKind::Index) || !isOneEnd(item.role.form)) continue;
        const auto other = std::ranges::find_if(draft.items, [&](const Item& i) { return haveSameEdges(item, i); });
        const bool alone = other == draft.items.end();
        if (isCompressed(item.role.form)) item.items = alone ? itemsForced(draft, item) : other->rows();
        if (alone && item.items < 0)
            return base::fail(ErrorCode::Input,
                              "--role " + item.key + " is one end of each edge, which needs an input with the same " +
                                  "number of edges for the other end",
                              "give both --role NAME=source and --role NAME=destination, or NAME=offsets");
        const std::string relation = alone ? item.tensorKey() : "edge";
        if (auto status = decideIndex(item, item.role.form, relation); !status) return status;
    }
    return {};
}

// A sparse tensor states its own size: as if its last rows had edges.
void stateSizes(Draft& draft)
{
    for (Item& item : draft.items) {
        const Item* const size = sizeOfSparse(draft, item);
        if (!size) continue;
        const IntColumn numbers(*size->view);
        const bool compressed = item.sparsePart("csr_col");  // its rows are the destinations
        for (int end : {0, 1})
            if (hasEnd(item.role.form, end))
                item.ranges[end].high = std::max(item.ranges[end].high, numbers[compressed ? 1 - end : end] - 1);
    }
}

}  // namespace

base::Status findIndices(Draft& draft)
{
    for (Item& item : draft.items) {
        if (item.forced && isOneEnd(item.role.form)) continue;
        const bool matrix = item.view->shape.size() == 2, pair = matrix && item.view->shape[0] == 2;
        const bool wanted =
            item.is(RoleKind::Index) || item.sparsePart("coo_indices") || (item.open() && item.hint == Hint::Index);
        const bool free = item.open() && item.hint == Hint::None;
        const bool named = item.key.find("edge_index") != std::string::npos;
        const bool pairs = !pair && matrix && item.view->shape[1] == 2 && item.integral() && (item.forced || !named);
        if (pairs && wanted) {
            if (auto status = decideIndex(item, EdgeForm::Pairs, item.tensorKey()); !status) return status;
            continue;
        }
        if (!pair || !item.integral()) {
            const bool clear =
                item.is(RoleKind::Index) || (item.open() && named && !item.vector() && item.name.part.empty());
            if (!clear || !wanted) continue;
            return base::fail(ErrorCode::Input,
                              item.key + " is " + base::dtypeName(item.view->dtype) + " " + shapeText(*item.view) +
                                  ", but an edge index is an integer [2, E]",
                              indexHint(item), item.view->origin);
        }
        if (!wanted &&
            (!free || rangeOf(IntColumn(*item.view, 0, 0)).low < 0 || rangeOf(IntColumn(*item.view, 1, 0)).low < 0))
            continue;
        if (auto status = decideIndex(item, EdgeForm::Rows, item.tensorKey()); !status) return status;
    }
    if (auto status = pairForced(draft); !status) return status;
    if (auto status = findOffsets(draft); !status) return status;
    stateSizes(draft);
    if (auto status = findColumns(draft); !status) return status;
    return findBags(draft);
}

}  // namespace hopscope::analysis::inference
