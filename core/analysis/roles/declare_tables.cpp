#include "analysis/roles/role_inference.h"

#include <tuple>

#include "base/units.h"

namespace hopscope::analysis::inference {

namespace {

using base::ErrorCode;

base::Status addTable(Draft& draft, const std::string& type, std::int64_t size, const std::string& key)
{
    if (draft.nodes.add(type, size, key)) return {};
    return base::fail(ErrorCode::Input,
                      key + " has " + base::counted(size, "row") + " and " + draft.nodes.origin(type) + " has " +
                          base::grouped(draft.nodes.rows(type)) + ", but both hold rows of \"" + type + "\"",
                      "name another table for one of them: --role " + key + "=node:T");
}

bool namedInIndices(const Draft& draft, const std::string& word)
{
    return std::ranges::any_of(
        draft.items, [&](const Item& i) { return i.is(RoleKind::Index) && names::affinity(i.key, word) > 0; });
}

std::string typeNameFor(const Draft& draft, const Item& item, bool several)
{
    const bool inDict = item.name.dictItem() && names::hintOfWord(item.name.argument) == Hint::None;
    const std::string word = item.name.listItem() ? "" : names::typeWords(inDict ? item.name.item : item.key);
    const bool telling = word == "src" || word == "dst" || (!word.empty() && namedInIndices(draft, word));
    if (telling || (several && !word.empty())) return word;
    return draft.nodes.has("node") && several ? item.key : "node";
}

// Whether a batch vector counts as many graphs as it has rows, and no end of edges fits into it: descriptors of graphs.
bool describesGraphs(const Draft& draft, const Item& item)
{
    const bool anEnd = std::ranges::any_of(draft.items, [&](const Item& index) {
        return index.is(RoleKind::Index) && std::min(index.ranges[0].high, index.ranges[1].high) < item.rows();
    });
    if (anEnd || item.name.dictItem()) return false;
    return std::ranges::any_of(draft.items, [&](const Item& key) {
        return key.hint == Hint::Key && key.open() && key.integral() && key.vector() && key.rows() > item.rows() &&
               rangeOf(IntColumn(*key.view)).high + 1 == item.rows();
    });
}

base::Status declareFeatures(Draft& draft)
{
    std::set<std::int64_t> sizes;
    const auto candidate = [](const Item& i) {
        return (i.open() && i.hint == Hint::Feature && i.rows() >= 0 && i.relationItem().empty()) ||
               (i.forced && !i.decided && i.role.kind == RoleKind::Node && i.role.first.empty());
    };
    for (const Item& item : draft.items)
        if (candidate(item)) sizes.insert(item.rows());
    // A column beside a table that is there already makes no table of its own.
    for (const std::string& type : draft.nodes.types()) sizes.insert(draft.nodes.rows(type));
    for (Item& item : draft.items) {
        if (!candidate(item)) continue;
        if (item.rows() < 0)
            return base::fail(ErrorCode::Input, item.key + " has no rows, so it cannot be --role node");
        const std::string word = typeNameFor(draft, item, false);
        const std::vector<std::string> same = draft.nodes.ofSize(item.rows());
        if (word == "node" && !same.empty()) continue;
        if (!item.forced && isEdgeCount(draft, item.rows()) && sizes.size() > 1 && item.key != "x") continue;
        if (!item.forced && describesGraphs(draft, item)) continue;
        const std::string type =
            typeNameFor(draft, item, sizes.size() > 1 && !(item.key == "x" && !draft.nodes.has("node")));
        if (auto status = addTable(draft, type, item.rows(), item.key); !status) return status;
        decide(item, RoleKind::Node, type);
    }
    return {};
}

// x = (sources, destinations)
base::Status declarePairs(Draft& draft)
{
    for (Item& item : draft.items) {
        const int place = item.open() && item.rows() >= 0 ? placeInPair(draft, item) : -1;
        const bool own = place >= 0 && (item.hint == Hint::Feature || item.view->shape.size() >= 2);
        if (!own || otherOfPair(draft, item).rows() == item.rows()) continue;
        const std::vector<std::string> same = draft.nodes.ofSize(item.rows());
        const std::string type = !same.empty() ? same.front() : draft.nodes.has("node") ? item.key : "node";
        if (auto status = addTable(draft, type, item.rows(), item.key); !status) return status;
        draft.note(item.key + ": assumed to be rows of the " + (place == 0 ? "sources" : "destinations") +
                   " of the edges, by its position in " + item.name.argument);
        decide(item, RoleKind::Node, type);
    }
    return {};
}

std::int64_t largestId(const Draft& draft)
{
    std::int64_t largest = -1;
    for (const Item& item : draft.items)
        if (item.is(RoleKind::Index)) largest = std::max({largest, item.ranges[0].high, item.ranges[1].high});
    return largest;
}

// The numbers of rows that sparse matrices state.
std::set<std::int64_t> statedSizes(const Draft& draft)
{
    std::set<std::int64_t> sizes;
    for (const Item& item : draft.items) {
        const Item* const size = sizeOfSparse(draft, item);
        if (!size) continue;
        const IntColumn numbers(*size->view);
        for (std::int64_t i = 0; i < numbers.size(); ++i) sizes.insert(numbers[i]);
    }
    return sizes;
}

// No input is called like features: the table is the smallest one that every id fits into, floats and matrices first.
void declareFallback(Draft& draft)
{
    const std::int64_t needed = largestId(draft) + 1;
    const bool named = std::ranges::any_of(draft.items, [](const Item& i) {
        return i.is(RoleKind::Index) && (!i.role.first.empty() || !i.relationItem().empty());
    });
    if (named) return;
    const std::set<std::int64_t> stated = statedSizes(draft);
    const Item* best = nullptr;
    const auto rank = [&](const Item& i) {
        return std::tuple(i.rows() != needed && isEdgeCount(draft, i.rows()), i.integral(), i.vector(), i.rows(),
                          i.key);
    };
    for (const Item& item : draft.items) {
        if (!item.open() || item.rows() < needed || (item.hint != Hint::None && item.hint != Hint::Node)) continue;
        if (isEdgeCount(draft, item.rows()) && item.rows() != needed) continue;
        if (!stated.empty() && !stated.contains(item.rows())) continue;
        if (best == nullptr || rank(item) < rank(*best)) best = &item;
    }
    if (best == nullptr) return;
    const std::string fits = needed == 0 ? ""
                                         : ", as its number of rows, " + std::to_string(best->rows()) +
                                               ", fits the largest id, " + std::to_string(needed - 1);
    draft.note(best->key + ": assumed to be the table of \"node\"" + fits);
    (void)addTable(draft, "node", best->rows(), best->key);
}

// An end that points exactly to the last row of an unnamed matrix makes that matrix a table of its own.
void declareUnfitted(Draft& draft)
{
    for (const Item& index : draft.items) {
        if (!index.is(RoleKind::Index) || !index.role.first.empty() || !index.relationItem().empty()) continue;
        for (const Range& range : index.ranges) {
            const std::int64_t needed = range.high + 1;
            for (const Item& item : draft.items) {
                if (!item.open() || item.hint != Hint::None || item.view->shape.size() < 2 || item.rows() != needed ||
                    needed < 2)
                    continue;
                if (!base::isFloating(item.view->dtype) || isEdgeCount(draft, needed) ||
                    !draft.nodes.ofSize(needed).empty())
                    continue;
                const std::string word = names::typeWords(item.key);
                draft.note(item.key + ": assumed to be a separate node table, because " + index.key + " points into " +
                           std::to_string(needed) + " rows");
                (void)addTable(draft, word.empty() ? item.key : word, needed, item.key);
            }
        }
    }
}

}  // namespace

// In order of certainty: the user's word, Dict keys, names of features, sizes.
base::Status declareTables(Draft& draft)
{
    for (Item& item : draft.items) {
        if (!item.is(RoleKind::Node) || item.role.first.empty()) continue;
        if (item.rows() < 0)
            return base::fail(ErrorCode::Input, item.key + " has no rows, so it cannot be --role node");
        if (auto status = addTable(draft, item.role.first, item.rows(), item.key); !status) return status;
        item.decided = true;
    }
    for (Item& item : draft.items) {
        if (!item.open() || item.hint != Hint::Feature || !item.name.dictItem() || item.rows() < 0) continue;
        if (!item.relationItem().empty() || names::hintOfWord(item.name.item) != Hint::None) continue;
        if (auto status = addTable(draft, item.name.item, item.rows(), item.key); !status) return status;
        decide(item, RoleKind::Node, item.name.item);
    }
    if (auto status = declarePairs(draft); !status) return status;
    if (auto status = declareFeatures(draft); !status) return status;
    if (draft.nodes.types().empty()) declareFallback(draft);
    declareUnfitted(draft);
    return {};
}

}  // namespace hopscope::analysis::inference
