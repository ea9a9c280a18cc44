#pragma once

// The answer to plan/graph: the nodes and edges that the batches of a plan move along, all of a small graph or the
// surroundings of a node. docs/protocol.md has every member. Tables and keys have the names of plan.json.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace hopscope::schema {

// Of a node type: the rows that are in the part, and those of them of which all that they gather is in it, too.
struct PartTable {
    std::string table{}, label{};              // by plan.json, and for people
    std::int64_t rows = 0;                     // of the whole table
    std::vector<std::int64_t> ids{}, whole{};  // both ascending
    bool operator==(const PartTable&) const = default;
};

// The rows of `table` that its key `owner` assigns to nodes of type `to`, and the nodes of type `from` that its key `key`
// names: where nothing is gathered along them, `key` and `from` are empty, and `fromIds` are the rows themselves.
struct PartRelation {
    std::string table{}, owner{}, key{};
    std::string label{};  // of the table, for people
    std::string from{}, to{};
    std::int64_t of = 0;                           // rows of the table
    std::vector<std::int64_t> fromIds{}, toIds{};  // one entry for each row whose owner is whole, by owner
    bool operator==(const PartRelation&) const = default;
};

struct GraphPart {
    std::vector<PartTable> tables{};
    std::vector<PartRelation> relations{};
    bool complete = false;               // all nodes and edges are in it
    std::string table{};                 // else: of the node in the middle
    std::optional<std::int64_t> node{};  // in the middle; none where the part is complete
    bool operator==(const GraphPart&) const = default;
};

inline constexpr std::int64_t mostNodesOfAll = 200;  // that a complete part has
inline constexpr std::int64_t mostNodesOfPart = 60;  // that another one has
inline constexpr std::int64_t mostEdgesOfPart = 2000;

json::Value graphPartValue(const GraphPart& part);
// Fails with Input and a JSON pointer.
base::Result<GraphPart> graphPartFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
