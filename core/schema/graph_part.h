#pragma once

// The answer to plan/graph: nodes and edges from which the batches of a plan gather. It contains all of a small graph,
// or the neighbourhood of a node in a larger one. Tables and keys have the names of plan.json.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "json/json.h"

namespace hopscope::schema {

// The nodes of one type in the part. All edges into the nodes in `whole` are in the part as well.
struct PartTable {
    std::string table{}, label{};
    std::int64_t rows = 0;
    std::vector<std::int64_t> ids{}, whole{};
    bool operator==(const PartTable&) const = default;
};

template <std::same_as<PartTable> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("table", field("table", &T::table, "a node type that batches compute or gather from"),
                           field("label", &T::label, "for display"),
                           field("rows", &T::rows, "of the whole table", base::Quantity::Count),
                           field("ids", &T::ids, "rows that are sent, ascending"),
                           field("whole", &T::whole, "the ids of nodes whose incoming edges are all sent, ascending"));
}

// The rows of `table` in the part. The key `owner` assigns them to nodes of type `to`; the key `key` refers to nodes of
// type `from`. If nothing is gathered along them, `key` and `from` are empty, and `fromIds` are the rows themselves.
struct PartRelation {
    std::string table{}, owner{}, key{};
    std::string label{}, from{}, to{};
    std::int64_t of = 0;
    std::vector<std::int64_t> fromIds{}, toIds{};
    bool operator==(const PartRelation&) const = default;
};

template <std::same_as<PartRelation> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "relation", field("table", &T::table, "the table that the rows belong to"),
        field("owner", &T::owner, "the key of the table that assigns the rows to nodes of type `to`"),
        field("key", &T::key,
              "the key of the table that refers to nodes of type `from`; empty if nothing is gathered along the rows"),
        field("label", &T::label, "of the table, for display"),
        field("from", &T::from, "the node type; empty if `key` is empty"), field("to", &T::to, "the node type"),
        field("of", &T::of, "rows of the table", base::Quantity::Count),
        field("from_ids", &T::fromIds,
              "one for each row whose owner is whole, by owner; where `key` is empty the row itself"),
        field("to_ids", &T::toIds, "the owners"));
}

struct GraphPart {
    std::vector<PartTable> tables{};
    std::vector<PartRelation> relations{};
    bool complete = false;
    std::string table{};
    std::optional<std::int64_t> node{};
    bool operator==(const GraphPart&) const = default;
};

template <std::same_as<GraphPart> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "graph_part", field("complete", &T::complete, "all nodes and edges are sent"),
        field("table", &T::table, "the type of the node in the middle; empty if the part is complete"),
        field("node", &T::node, "the number of the node in the middle; null if the part is complete"),
        field("tables", &T::tables, "node types"),
        field("relations", &T::relations, "rows along which batches gather, or that they compute"));
}

inline constexpr std::int64_t mostNodesOfAll = 200;  // the most in a part that is the whole graph
inline constexpr std::int64_t mostNodesOfPart = 60;  // the most in any other part
inline constexpr std::int64_t mostEdgesOfPart = 2000;

json::Value graphPartValue(const GraphPart& part);
// Reads the answer. Fails with Input and a JSON pointer.
base::Result<GraphPart> graphPartFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
