#include "analysis/roles/role_inference.h"

#include <limits>
#include <optional>

namespace hopscope::analysis::inference {

namespace {

using base::ErrorCode;

base::Status scanIndex(Item& item)
{
    for (int end = 0; end < 2; ++end) {
        if (!hasEnd(item.role.form, end)) continue;
        const IntColumn column = endColumn(*item.view, item.role.form, end);
        item.ranges[end] = rangeOf(column);
        if (item.ranges[end].low >= 0) continue;
        return checkIds(item, column, placeOf(item, end), std::numeric_limits<std::int64_t>::max(), {});
    }
    return {};
}

base::Status decideIndex(Item& item, EdgeForm form, std::string relation)
{
    item.role.kind = RoleKind::Index;
    item.role.form = form;
    item.role.relation = std::move(relation);
    item.decided = true;
    return scanIndex(item);
}

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
};

// What is left of the key without the word: "edge" of "edge_src"; nullopt where the word is not in it.
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
    return !ofNodes && item.open() && item.integral() && item.vector() && item.name.item.empty() &&
           rangeOf(IntColumn(*item.view)).low >= 0;
}

// Two columns whose names differ in the word for their end.
base::Status findColumns(Draft& draft)
{
    for (const auto& [sourceWord, destinationWord] : endNames) {
        for (Item& source : draft.items) {
            const auto rest = without(source.key, sourceWord);
            if (!rest || !isColumn(draft, source)) continue;
            const auto other = std::ranges::find_if(draft.items, [&, word = destinationWord](const Item& i) {
                return without(i.key, word) == rest && i.rows() == source.rows() && isColumn(draft, i);
            });
            if (other == draft.items.end()) continue;
            const std::string relation = rest->empty() ? "edge" : *rest;
            if (auto status = decideIndex(source, EdgeForm::Source, relation); !status) return status;
            if (auto status = decideIndex(*other, EdgeForm::Destination, relation); !status) return status;
        }
    }
    return {};
}

bool isOneEnd(EdgeForm form) { return form == EdgeForm::Source || form == EdgeForm::Destination; }

// By --role: a source column and a destination column make a relation.
base::Status pairForced(Draft& draft)
{
    for (Item& item : draft.items) {
        if (!item.is(RoleKind::Index) || !isOneEnd(item.role.form)) continue;
        const auto other = std::ranges::find_if(draft.items, [&](const Item& i) {
            return i.is(RoleKind::Index) && isOneEnd(i.role.form) && i.role.form != item.role.form &&
                   i.rows() == item.rows();
        });
        if (!item.integral() || !item.vector() || other == draft.items.end())
            return base::fail(ErrorCode::Input,
                              "--role " + item.key + " is one end of each edge, which needs an integer vector and " +
                                  "another of the same length for the other end",
                              "give both --role NAME=source and --role NAME=destination");
        if (auto status = decideIndex(item, item.role.form, "edge"); !status) return status;
    }
    return {};
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
            if (auto status = decideIndex(item, EdgeForm::Pairs, item.relation()); !status) return status;
            continue;
        }
        if (!pair || !item.integral()) {
            const bool clear = item.is(RoleKind::Index) || (item.open() && named && !item.vector() &&
                                                            item.name.item.find("coo_") == std::string::npos);
            if (!clear || !wanted) continue;
            return base::fail(ErrorCode::Input,
                              item.key + " is " + base::dtypeName(item.view->dtype) + " " + shapeText(*item.view) +
                                  ", but an edge index is an integer [2, E]",
                              item.integral() ? "transpose it" : "store it as int64", item.view->origin);
        }
        if (!wanted &&
            (!free || rangeOf(IntColumn(*item.view, 0, 0)).low < 0 || rangeOf(IntColumn(*item.view, 1, 0)).low < 0))
            continue;
        if (auto status = decideIndex(item, EdgeForm::Rows, item.relation()); !status) return status;
    }
    if (auto status = pairForced(draft); !status) return status;
    return findColumns(draft);
}

}  // namespace hopscope::analysis::inference
