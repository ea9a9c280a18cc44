#include <tuple>

#include "analysis/roles/role_inference.h"

namespace hopscope::analysis::inference {

namespace {

// The numbers of rows that tables have, as far as features and the numbers of edges imply them.
class RowCounts {
public:
    RowCounts(const Draft& draft, const Item& offsets)
    {
        for (const Item& item : draft.items) {
            if (&item != &offsets && item.hint == Hint::Feature && item.rows() > 1) m_features.insert(item.rows());
            for (int end = 0; end < 2; ++end)
                if (item.is(RoleKind::Index) && hasEnd(item.role.form, end)) m_ids.insert(item.ranges[end].high + 1);
        }
    }

    // The strength of the evidence: an input with this number of rows, or a largest number that counts them.
    [[nodiscard]] int evidence(std::int64_t rows) const
    {
        return m_features.contains(rows) ? 2 : m_ids.contains(rows) ? 1 : 0;
    }
    // Edges may leave a few rows out.
    [[nodiscard]] bool possible(std::int64_t rows) const
    {
        const bool ids = std::ranges::any_of(m_ids, [&](std::int64_t n) { return n <= rows && rows <= 2 * n; });
        return m_features.contains(rows) || ids || (m_features.empty() && m_ids.empty());
    }

private:
    std::set<std::int64_t> m_features, m_ids;
};

bool mayBeOffsets(const Item& item)
{
    static const std::set<std::string> words{"ptr",    "ptrs",    "rowptr",  "colptr", "indptr", "pointers",
                                             "crow",   "rowptrs", "starts",  "start",  "begin",  "begins",
                                             "offset", "offsets", "indptrs", "splits", "bags"};
    return item.open() && item.integral() && item.vector() && item.rows() > 1 &&
           names::has(names::words(item.key), words);
}

}  // namespace

Item* itemsOf(Draft& draft, const Item& offsets)
{
    const std::int64_t least = edgeCount(*offsets.view, EdgeForm::Offsets), rows = offsets.rows();
    Item* best = nullptr;
    const auto rank = [&](const Item& i) {
        const bool ofRows = i.rows() == rows || i.rows() == rows - 1;
        return std::tuple(ofRows, -names::affinity(i.key, offsets.key), i.rows());
    };
    for (Item& item : draft.items) {
        const bool fits = &item != &offsets && !mayBeOffsets(item) && item.open() && item.integral() && item.vector() &&
                          item.rows() >= least && (item.hint == Hint::None || item.hint == Hint::Index);
        if (fits && (!best || rank(item) < rank(*best))) best = &item;
    }
    return best;
}

std::optional<EdgeForm> formOfOffsets(const Draft& draft, const Item& offsets, std::int64_t items)
{
    const RowCounts counts(draft, offsets);
    const std::int64_t rows = offsets.rows(), last = edgeCount(*offsets.view, EdgeForm::Offsets);
    if (items < last) return std::nullopt;
    const bool starts = counts.possible(rows), whole = items == last && counts.possible(rows - 1);
    if (starts && whole)
        return counts.evidence(rows) > counts.evidence(rows - 1) ? EdgeForm::Starts : EdgeForm::Offsets;
    if (!starts && !whole) return std::nullopt;
    return starts ? EdgeForm::Starts : EdgeForm::Offsets;
}

base::Status findBags(Draft& draft)
{
    for (Item& offsets : draft.items) {
        if (!mayBeOffsets(offsets) || !isOffsets(offsets)) continue;
        Item* const items = itemsOf(draft, offsets);
        const auto form = items ? formOfOffsets(draft, offsets, items->rows()) : std::nullopt;
        if (!form) continue;
        draft.note(offsets.key + ": assumed to say where the bag of each row begins in " + items->key);
        offsets.items = items->rows();
        if (!namedSources(*items)) decide(*items, RoleKind::Edge, offsets.tensorKey());
        else if (auto status = decideIndex(*items, EdgeForm::Source, offsets.tensorKey()); !status) return status;
        if (auto status = decideIndex(offsets, *form, offsets.tensorKey()); !status) return status;
    }
    return {};
}

base::Status declareBags(Draft& draft)
{
    for (const Item& item : draft.items) {
        const bool bags = item.is(RoleKind::Index) && isCompressed(item.role.form) && !hasSources(draft, item);
        const std::int64_t rows = item.ranges[1].high + 1;
        if (!bags || !item.role.second.empty() || !draft.nodes.ofSize(rows).empty()) continue;
        (void)draft.nodes.add(draft.nodes.types().empty() ? "node" : item.key + "_rows", rows, item.key);
    }
    return {};
}

}  // namespace hopscope::analysis::inference
