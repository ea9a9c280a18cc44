#include "analysis/roles/roles.h"

#include <limits>
#include <tuple>

#include "analysis/roles/role_inference.h"

namespace hopscope::analysis {

namespace inference {

using base::ErrorCode;

base::Status RoleInference::collect()
{
    for (const auto& [key, view] : m_inputs) {
        Item item;
        item.key = key;
        item.view = &view;
        item.name = names::splitKey(key);
        item.hint = names::hintOf(item.name);
        if (item.name.item.starts_with("csr_") || item.sparsePart("coo_size")) item.hint = Hint::Plain;
        if (item.name.item.starts_with("csr_row") || item.name.item == "csr_crow")
            note(key + ": compressed rows are passed on unchanged; coo_indices can be split");
        m_items.push_back(std::move(item));
    }
    for (const Item& item : m_items)
        if (item.name.dictItem() && item.relationItem().empty()) m_known.insert(item.name.item);
    return applyOverrides();
}

base::Status RoleInference::applyOverrides()
{
    for (const auto& [name, role] : m_overrides) {
        const auto item = std::ranges::find(m_items, name, &Item::key);
        if (item != m_items.end()) {
            item->role = role;
            item->role.overridden = item->forced = true;
            continue;
        }
        if (m_parameters.contains(name)) {
            m_schema.roles[name] = role;
            m_schema.roles[name].overridden = true;
            continue;
        }
        std::string known;
        for (const Item& i : m_items) known += (known.empty() ? "" : ", ") + i.key;
        return base::fail(ErrorCode::Input, "--role names " + name + ", which is neither an input nor a parameter",
                          "the inputs are " + known);
    }
    return {};
}

void RoleInference::decide(Item& item, RoleKind kind, std::string first, std::string second)
{
    item.role.kind = kind;
    item.role.first = std::move(first);
    item.role.second = std::move(second);
    item.decided = true;
}

base::Status RoleInference::findIndices()
{
    for (Item& item : m_items) {
        const bool pair = item.view->shape.size() == 2 && item.view->shape[0] == 2;
        const bool wanted =
            item.is(RoleKind::Index) || item.sparsePart("coo_indices") || (item.open() && item.hint == Hint::Index);
        const bool free = item.open() && item.hint == Hint::None;
        if (!pair || !item.integral()) {
            const bool clear =
                item.is(RoleKind::Index) || (item.open() && item.key.find("edge_index") != std::string::npos &&
                                             !item.vector() && item.name.item.find("coo_") == std::string::npos);
            if (!clear || !wanted) continue;
            return base::fail(ErrorCode::Input,
                              item.key + " is " + base::dtypeName(item.view->dtype) + " " + shapeText(*item.view) +
                                  ", but an edge index is an integer [2, E]",
                              item.integral() ? "transpose it" : "store it as int64", item.view->origin);
        }
        if (!wanted &&
            (!free || rangeOf(IntColumn(*item.view, 0)).low < 0 || rangeOf(IntColumn(*item.view, 1)).low < 0))
            continue;
        item.role.kind = RoleKind::Index;
        item.role.relation = item.relation();
        item.decided = true;
        if (auto status = scanIndex(item); !status) return status;
    }
    return {};
}

base::Status RoleInference::scanIndex(Item& item)
{
    for (int row = 0; row < 2; ++row) {
        const IntColumn column(*item.view, row);
        item.ranges[row] = rangeOf(column);
        if (item.ranges[row].low >= 0) continue;
        return checkIds(item, column, std::to_string(row) + ", ", std::numeric_limits<std::int64_t>::max(), {});
    }
    return {};
}

base::Status RoleInference::checkIds(const Item& item, const IntColumn& column, const std::string& where,
                                     std::int64_t size, const std::string& type) const
{
    std::int64_t first = -1, count = 0;
    for (std::int64_t i = 0; i < column.size(); ++i) {
        if (column[i] >= 0 && column[i] < size) continue;
        if (count++ == 0) first = i;
    }
    if (count == 0) return {};
    std::string text = item.key + "[" + where + std::to_string(first) + "] is " + std::to_string(column[first]);
    if (type.empty()) text += ", but row numbers cannot be negative";
    else text += ", but \"" + type + "\" has " + std::to_string(size) + " rows";
    text += " (" + std::to_string(count) + " of " + std::to_string(column.size()) + " numbers are invalid)";
    return base::fail(ErrorCode::Input, text,
                      type.empty() ? "" : "if it does not point into \"" + type + "\", say so with --role",
                      item.view->origin);
}

base::Status RoleInference::addTable(const std::string& type, std::int64_t size, const std::string& key)
{
    if (m_nodes.add(type, size, key)) return {};
    return base::fail(ErrorCode::Input,
                      key + " has " + std::to_string(size) + " rows and " + m_nodes.origin(type) + " has " +
                          std::to_string(m_nodes.rows(type)) + ", but both hold rows of \"" + type + "\"",
                      "correct it with --role");
}

// Tables in order of certainty: the user's word, Dict keys, names of features, sizes.
base::Status RoleInference::declareTables()
{
    for (Item& item : m_items) {
        if (!item.is(RoleKind::Node) || item.role.first.empty()) continue;
        if (item.rows() < 0)
            return base::fail(ErrorCode::Input, item.key + " has no rows, so it cannot be --role node");
        if (auto status = addTable(item.role.first, item.rows(), item.key); !status) return status;
        item.decided = true;
    }
    for (Item& item : m_items) {
        if (!item.open() || item.hint != Hint::Feature || !item.name.dictItem() || item.rows() < 0) continue;
        if (!item.relationItem().empty() || names::hintOfWord(item.name.item) != Hint::None) continue;
        if (auto status = addTable(item.name.item, item.rows(), item.key); !status) return status;
        decide(item, RoleKind::Node, item.name.item);
    }
    if (auto status = declareFeatures(); !status) return status;
    if (m_nodes.types().empty()) declareFallback();
    declareUnfitted();
    return {};
}

bool RoleInference::namedInIndices(const std::string& word) const
{
    return std::ranges::any_of(
        m_items, [&](const Item& i) { return i.is(RoleKind::Index) && names::affinity(i.key, word) > 0; });
}

std::string RoleInference::typeNameFor(const Item& item, bool several) const
{
    const bool inDict = item.name.dictItem() && names::hintOfWord(item.name.argument) == Hint::None;
    const std::string word = item.name.listItem() ? "" : names::typeWords(inDict ? item.name.item : item.key);
    const bool telling = word == "src" || word == "dst" || (!word.empty() && namedInIndices(word));
    if (telling || (several && !word.empty())) return word;
    return m_nodes.has("node") && several ? item.key : "node";
}

base::Status RoleInference::declareFeatures()
{
    std::set<std::int64_t> sizes;
    const auto candidate = [](const Item& i) {
        return (i.open() && i.hint == Hint::Feature && i.rows() >= 0 && i.relationItem().empty()) ||
               (i.forced && !i.decided && i.role.kind == RoleKind::Node && i.role.first.empty());
    };
    for (const Item& item : m_items)
        if (candidate(item)) sizes.insert(item.rows());
    // A column beside a table that is there already makes no table of its own.
    for (const std::string& type : m_nodes.types()) sizes.insert(m_nodes.rows(type));
    for (Item& item : m_items) {
        if (!candidate(item)) continue;
        if (item.rows() < 0)
            return base::fail(ErrorCode::Input, item.key + " has no rows, so it cannot be --role node");
        const std::string word = typeNameFor(item, false);
        const std::vector<std::string> same = m_nodes.ofSize(item.rows());
        if (word == "node" && !same.empty()) continue;
        if (!item.forced && isEdgeCount(item.rows()) && sizes.size() > 1 && item.key != "x") continue;
        const std::string type = typeNameFor(item, sizes.size() > 1 && !(item.key == "x" && !m_nodes.has("node")));
        if (auto status = addTable(type, item.rows(), item.key); !status) return status;
        decide(item, RoleKind::Node, type);
    }
    return {};
}

std::int64_t RoleInference::largestId() const
{
    std::int64_t largest = -1;
    for (const Item& item : m_items)
        if (item.is(RoleKind::Index)) largest = std::max({largest, item.ranges[0].high, item.ranges[1].high});
    return largest;
}

bool RoleInference::isEdgeCount(std::int64_t rows) const
{
    return std::ranges::any_of(m_items,
                               [&](const Item& i) { return i.is(RoleKind::Index) && i.view->shape[1] == rows; });
}

// No input is called like features: the table is the smallest one that every id fits into, floats and matrices first.
void RoleInference::declareFallback()
{
    const std::int64_t needed = largestId() + 1;
    const bool named = std::ranges::any_of(m_items, [](const Item& i) {
        return i.is(RoleKind::Index) && (!i.role.first.empty() || !i.relationItem().empty());
    });
    if (named) return;
    const Item* best = nullptr;
    const auto rank = [&](const Item& i) {
        return std::tuple(i.rows() != needed && isEdgeCount(i.rows()), i.integral(), i.vector(), i.rows(), i.key);
    };
    for (const Item& item : m_items) {
        if (!item.open() || item.rows() < needed || (item.hint != Hint::None && item.hint != Hint::Node)) continue;
        if (isEdgeCount(item.rows()) && item.rows() != needed) continue;
        if (best == nullptr || rank(item) < rank(*best)) best = &item;
    }
    if (best == nullptr) return;
    note(best->key + ": assumed to be the table of \"node\", as its " + std::to_string(best->rows()) +
         " rows fit the largest id " + std::to_string(needed - 1));
    (void)addTable("node", best->rows(), best->key);
}

// An end that points exactly to the last row of an unnamed matrix makes that matrix a table of its own.
void RoleInference::declareUnfitted()
{
    for (const Item& index : m_items) {
        if (!index.is(RoleKind::Index) || !index.role.first.empty() || !index.relationItem().empty()) continue;
        for (const Range& range : index.ranges) {
            const std::int64_t needed = range.high + 1;
            for (const Item& item : m_items) {
                if (!item.open() || item.hint != Hint::None || item.view->shape.size() < 2 || item.rows() != needed ||
                    needed < 2)
                    continue;
                if (!base::isFloating(item.view->dtype) || isEdgeCount(needed) || !m_nodes.ofSize(needed).empty())
                    continue;
                const std::string word = names::typeWords(item.key);
                note(item.key + ": assumed to be a separate node table, because " + index.key + " points into " +
                     std::to_string(needed) + " rows");
                (void)addTable(word.empty() ? item.key : word, needed, item.key);
            }
        }
    }
}

void RoleInference::setEnds(Item& item, const std::string& first, const std::string& second)
{
    item.role.first = first;
    item.role.second = second;
    const std::string* ends[2] = {&first, &second};
    for (int row = 0; row < 2; ++row) {
        if (m_nodes.has(*ends[row])) continue;
        m_nodes.addLoose(*ends[row], item.ranges[row].high + 1);
    }
}

// Ends that the key itself spells out: "user_item_index", "edge_index_user", or tables called src and dst.
std::pair<std::string, std::string> RoleInference::namedEnds(const Item& item) const
{
    std::vector<std::string> spelled;
    for (const std::string& word : names::words(item.key))
        if (m_nodes.has(word) && word != "node") spelled.push_back(word);
    if (spelled.size() >= 2) return {spelled[0], spelled[1]};
    const auto fits = [&](int row, const std::string& type) { return m_nodes.rows(type) > item.ranges[row].high; };
    if (spelled.size() == 1 && spelled[0] != "hyperedge" && fits(0, spelled[0]) && fits(1, spelled[0]))
        return {spelled[0], spelled[0]};
    if (m_nodes.has("src") && m_nodes.has("dst")) return {"src", "dst"};
    return {};
}

// The table with the least room above the largest id; a table that is too small only where all are.
std::string RoleInference::pickEnd(const Item& item, int row) const
{
    std::string best;
    for (const std::string& type : m_nodes.types()) {
        const std::int64_t room = m_nodes.rows(type) - 1 - item.ranges[row].high;
        if (best.empty()) best = type;
        const std::int64_t bestRoom = m_nodes.rows(best) - 1 - item.ranges[row].high;
        if (room >= 0 ? bestRoom < 0 || room < bestRoom : bestRoom < 0 && room > bestRoom) best = type;
    }
    return best.empty() ? "node" : best;
}

base::Status RoleInference::findEnds()
{
    for (Item& item : m_items) {
        if (!item.is(RoleKind::Index)) continue;
        auto [first, second] = names::relationEnds(item.relationItem(), m_known);
        if (!item.role.first.empty()) first = item.role.first, second = item.role.second;
        if (first.empty()) std::tie(first, second) = namedEnds(item);
        if (first.empty()) {
            first = pickEnd(item, 0);
            second = pickEnd(item, 1);
            if (m_nodes.types().size() > 1)
                note(item.key + ": assumed to be " + first + " > " + second + ", judging by its largest ids");
        }
        setEnds(item, first, second);
        m_schema.sizes[item.role.relation] = item.view->shape[1];
    }
    return applySparseSizes();
}

// A sparse tensor states its own size; that counts where no table does.
base::Status RoleInference::applySparseSizes()
{
    for (const Item& item : m_items) {
        if (!item.sparsePart("coo_indices") || !item.is(RoleKind::Index)) continue;
        const auto size = std::ranges::find(m_items, item.name.argument + ".coo_size", &Item::key);
        if (size == m_items.end() || !size->integral() || !size->vector() || size->rows() < 2) continue;
        const IntColumn numbers(*size->view);
        const std::string* ends[2] = {&item.role.first, &item.role.second};
        for (int row = 0; row < 2; ++row) {
            if (!m_nodes.has(*ends[row])) m_nodes.addLoose(*ends[row], numbers[row]);
            else if (m_nodes.rows(*ends[row]) != numbers[row])
                return base::fail(ErrorCode::Input, size->key + "[" + std::to_string(row) + "] is " +
                                                        std::to_string(numbers[row]) + ", but " +
                                                        m_nodes.origin(*ends[row]) + " has " +
                                                        std::to_string(m_nodes.rows(*ends[row])) + " rows");
        }
    }
    return {};
}

base::Status RoleInference::checkIndices()
{
    for (const Item& item : m_items) {
        if (!item.is(RoleKind::Index)) continue;
        const std::string* ends[2] = {&item.role.first, &item.role.second};
        for (int row = 0; row < 2; ++row) {
            const std::int64_t size = m_nodes.sizeOf(*ends[row]);
            if (item.ranges[row].high < size) continue;
            const std::string where = std::to_string(row) + ", ";
            if (auto status = checkIds(item, IntColumn(*item.view, row), where, size, *ends[row]); !status)
                return status;
        }
    }
    return {};
}

base::Status RoleInference::publish()
{
    for (const auto& tables : {m_nodes.sizes(), m_graphs}) {
        for (const auto& [name, size] : tables) {
            if (m_schema.sizes.emplace(name, size).second) continue;
            return base::fail(ErrorCode::Input, "two tables are called \"" + name + "\"", "rename one with --role");
        }
    }
    for (const Item& item : m_items) m_schema.roles[item.key] = item.role;
    return {};
}

base::Result<InputSchema> RoleInference::run()
{
    base::Status (RoleInference::*const steps[])() = {&RoleInference::collect,       &RoleInference::findIndices,
                                                      &RoleInference::declareTables, &RoleInference::findEnds,
                                                      &RoleInference::checkIndices,  &RoleInference::placeRest,
                                                      &RoleInference::publish};
    for (const auto step : steps)
        if (auto status = (this->*step)(); !status) return base::forward(status);
    return std::move(m_schema);
}

}  // namespace inference

namespace {

using base::ErrorCode;

constexpr const char* kRoleHint = "write NAME=node:T, index:S>T, edge:R, key:T>U, graph or plain";

base::Result<InputRole> parseKind(const std::string& text, const std::string& kind, const std::string& rest, bool named)
{
    InputRole role;
    role.overridden = true;
    const auto bad = [&] { return base::fail(ErrorCode::Usage, "--role " + text + " is not a role", kRoleHint); };
    const auto arrow = rest.find('>');
    const bool pair = arrow != std::string::npos && arrow > 0 && arrow + 1 < rest.size() &&
                      rest.find('>', arrow + 1) == std::string::npos;
    if (named && rest.empty()) return bad();
    if (kind == "index" || kind == "key") {
        if (named && !pair) return bad();
        role.kind = kind == "index" ? RoleKind::Index : RoleKind::Key;
        if (named) role.first = rest.substr(0, arrow), role.second = rest.substr(arrow + 1);
        return role;
    }
    if (kind == "node" || kind == "edge") {
        if (arrow != std::string::npos) return bad();
        role.kind = kind == "node" ? RoleKind::Node : RoleKind::Edge;
        role.first = rest;
        return role;
    }
    if ((kind != "graph" && kind != "plain") || named) return bad();
    role.kind = kind == "graph" ? RoleKind::Graph : RoleKind::Plain;
    return role;
}

}  // namespace

base::Result<std::pair<std::string, InputRole>> parseRole(const std::string& text)
{
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
        return base::fail(ErrorCode::Usage, "--role " + text + " is not a role", kRoleHint);
    const std::string kind = text.substr(equals + 1);
    const auto colon = kind.find(':');
    const bool named = colon != std::string::npos;
    auto role = parseKind(text, kind.substr(0, colon), named ? kind.substr(colon + 1) : "", named);
    if (!role) return base::forward(role);
    return std::pair(text.substr(0, equals), *role);
}

base::Result<InputSchema> inferSchema(const base::TensorMap& inputs, const std::map<std::string, InputRole>& overrides,
                                      const std::set<std::string>& parameters)
{
    return inference::RoleInference(inputs, overrides, parameters).run();
}

}  // namespace hopscope::analysis
