#pragma once

// The role that the name of a data key suggests. Names only suggest: sizes and dtypes decide (see roles.cpp).

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hopscope::analysis::names {

// Feature: a table of nodes of its own; Node: a column of such a table (labels, masks, positions).
enum class Hint : std::uint8_t { None, Index, Edge, Feature, Node, Key, Neighbours, Graph, Plain };

// The parts of a data key: "xs.user" -> argument "xs", item "user"; "adj.user__item.csr_col" -> argument "adj", item
// "user__item", part "csr_col" of a sparse tensor; "xs.user.0" -> one of several items "user"; "x" -> argument "x".
struct KeyName {
    std::string argument, item, part;

    [[nodiscard]] bool listItem() const { return !item.empty() && std::ranges::all_of(item, isDigit); }
    [[nodiscard]] bool dictItem() const { return !item.empty() && !listItem(); }
    static bool isDigit(char c) { return c >= '0' && c <= '9'; }
};

inline KeyName splitKey(const std::string& key)
{
    static const std::set<std::string> parts{"coo_indices", "coo_values", "coo_size", "csr_crow",
                                             "csr_col",     "csr_values", "csr_size"};
    const auto last = key.rfind('.');
    const bool sparse = last != std::string::npos && parts.contains(key.substr(last + 1));
    const std::string whole = sparse ? key.substr(0, last) : key;
    const auto dot = whole.find('.');
    KeyName name{.argument = whole.substr(0, dot),
                 .item = dot == std::string::npos ? "" : whole.substr(dot + 1),
                 .part = sparse ? key.substr(last + 1) : ""};
    const auto place = name.item.rfind('.');
    if (place != std::string::npos && KeyName{{}, name.item.substr(place + 1), {}}.listItem()) name.item.resize(place);
    return name;
}

// Splits a name into lower-case words, separated by underscores, dots or digits: "x_user2" -> x, user.
inline std::vector<std::string> words(std::string_view name)
{
    std::vector<std::string> list(1);
    for (const char c : name) {
        if (std::isalpha(static_cast<unsigned char>(c))) list.back() += static_cast<char>(std::tolower(c));
        else if (!list.back().empty()) list.emplace_back();
    }
    if (list.back().empty()) list.pop_back();
    return list;
}

inline std::string joined(const std::vector<std::string>& list)
{
    std::string text;
    for (const std::string& word : list) text += (text.empty() ? "" : "_") + word;
    return text;
}

inline bool has(const std::vector<std::string>& list, const std::set<std::string>& wanted)
{
    return std::ranges::any_of(list, [&](const std::string& word) { return wanted.contains(word); });
}

inline Hint hintOfWord(std::string_view name)
{
    const std::vector<std::string> list = words(name);
    const std::string whole = joined(list);
    static const std::set<std::string> indexNames{"ei",   "eis",   "es",    "eli",       "adj",
                                                  "adjs", "adj_t", "edges", "edge_list", "pairs"};
    static const std::set<std::string> edgeNames{"e", "ea", "ew", "et", "eas", "ews"};
    if (has(list, {"ptr", "crow"})) return Hint::Plain;
    if (indexNames.contains(whole)) return Hint::Index;
    if (has(list, {"nbr", "nbrs", "neigh", "neighs", "neighbor", "neighbour", "neighbors", "neighbours", "knn"}) &&
        !has(list, {"mask", "weight", "weights", "attr", "count", "counts", "dist", "distance", "edge"}))
        return Hint::Neighbours;
    if (has(list, {"index", "indices"}) && has(list, {"edge", "hyperedge"})) return Hint::Index;
    if (edgeNames.contains(whole) || has(list, {"edge"})) return Hint::Edge;
    if (has(list, {"batch", "cluster", "clusters", "assign", "assignment", "segment", "segments"})) return Hint::Key;
    if (whole == "graph_id" || whole == "graph_ids" || whole == "graph_index") return Hint::Key;
    if (whole == "u" || has(list, {"graph", "global", "globals"})) return Hint::Graph;
    if (has(list, {"mask", "y", "label", "labels", "target", "pos", "deg", "degree"})) return Hint::Node;
    if (has(list, {"x", "xs", "h", "z", "feat", "feats", "feature", "features", "node", "nodes"})) return Hint::Feature;
    return Hint::None;
}

// Returns the hint of the argument's name or, if that gives none, of a Dict item's name ("data.edge_index").
inline Hint hintOf(const KeyName& name)
{
    const Hint hint = hintOfWord(name.argument);
    return hint == Hint::None && name.dictItem() ? hintOfWord(name.item) : hint;
}

// Returns the words that can name a node type: "x_user" -> "user"; "x" -> "".
inline std::string typeWords(std::string_view name)
{
    static const std::set<std::string> generic{
        "x",     "xs",      "h",    "z",     "feat", "feats", "feature", "features", "attr", "node", "nodes", "emb",
        "index", "indices", "edge", "edges", "to",   "adj",   "t",       "ei",       "dict", "pos",  "neg"};
    std::vector<std::string> list = words(name);
    std::erase_if(list, [](const std::string& word) { return generic.contains(word); });
    return joined(list);
}

// Splits the name of a relation into its ends: "user__to__item" -> user, item. Known types that match take precedence.
// Empty if the item names no relation.
inline std::pair<std::string, std::string> relationEnds(const std::string& item, const std::set<std::string>& known)
{
    const auto first = item.find("__");
    const auto last = item.rfind("__");
    if (first == std::string::npos || first == 0 || last + 2 >= item.size()) return {};
    std::pair<std::string, std::string> ends{item.substr(0, first), item.substr(last + 2)};
    for (const std::string& type : known) {
        if (item.starts_with(type + "__") && type.size() > ends.first.size()) ends.first = type;
        if (item.ends_with("__" + type) && type.size() > ends.second.size()) ends.second = type;
    }
    return ends;
}

// Returns the number of words that two names share.
inline int affinity(std::string_view a, std::string_view b)
{
    const std::vector<std::string> left = words(a), right = words(b);
    return static_cast<int>(
        std::ranges::count_if(left, [&](const std::string& w) { return std::ranges::count(right, w) > 0; }));
}

}  // namespace hopscope::analysis::names
