#pragma once

// receptive-field.json: which rows and edges the result of one node follows from, round by round, and what computing every
// node from its own receptive field would repeat. docs/format-receptive-field.md has every member.

#include <cstdint>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/result.h"
#include "json/json.h"

namespace hopscope::schema {

// Rows of one table that the node needs at a depth.
struct FieldRows {
    std::string table{};
    std::int64_t rows = 0, of = 0;    // of the table's rows
    std::int64_t rowBytes = 0;        // of the values that pass from this depth to the next one, per row
    std::vector<std::int64_t> ids{};  // ascending row numbers in the input; empty where they are not listed
    bool operator==(const FieldRows&) const = default;
};

// The rows of an input behind some rows of a derived table: an edge of the data, or the node of an added self-loop.
struct FieldParent {
    std::string table{};
    std::int64_t rows = 0;
    std::vector<std::int64_t> ids{};  // ascending; empty where they are not listed
    bool operator==(const FieldParent&) const = default;
};

// The edges that are combined into the rows of a depth.
struct FieldEdges {
    std::string table{};       // "edge_index", "edge_index + self-loops"
    std::string from{}, to{};  // tables of their ends, as messages flow
    std::int64_t edges = 0, of = 0;
    std::vector<FieldParent> parents{};
    std::vector<std::int64_t> fromIds{}, toIds{};  // the ends of each edge; empty where they are not listed
    bool operator==(const FieldEdges&) const = default;
};

struct FieldLevel {
    int depth = 0;
    std::vector<FieldRows> rows{};
    std::vector<FieldEdges> edges{};
    bool operator==(const FieldLevel&) const = default;
};

// The edges along which one round of the layer-wise run gathers for the node.
struct FieldBlock {
    int depth = 0;
    std::string table{};
    std::int64_t edges = 0, sources = 0;  // into the node; different rows that they come from
    bool operator==(const FieldBlock&) const = default;
};

// Rows of one table that one round of the layer-wise run reads for the node: the sources of its edges, and its own row where
// the round uses it.
struct FieldRead {
    int depth = 0, from = 0;  // of the round; of the values, which are stored or inputs
    std::string table{};
    std::int64_t rows = 0;  // different ones
    bool operator==(const FieldRead&) const = default;
};

// A count of the receptive field of a node, averaged over nodes.
struct FieldMean {
    int depth = 0;
    std::string table{};
    bool edges = false;              // else rows
    double mean = 0, error = 0;      // standard error; 0 where exact
    double repeated = 0;             // all nodes' fields together / rows or edges of the table: 1 in a layer-wise run
    double bytes = 0, ownBytes = 0;  // rows: of all fields together; of the table once
    bool operator==(const FieldMean&) const = default;
};

enum class MeanMethod : std::uint8_t { Exact, Sampled };

constexpr auto namesOf(MeanMethod)
{
    return std::to_array<base::Named<MeanMethod>>({{MeanMethod::Exact, "exact"}, {MeanMethod::Sampled, "sampled"}});
}

struct FieldExplosion {
    MeanMethod method = MeanMethod::Exact;
    std::int64_t nodes = 0;  // that were looked at
    std::uint64_t seed = 0;
    std::vector<FieldMean> means{};  // by descending depth
    bool operator==(const FieldExplosion&) const = default;
};

struct ReceptiveField {
    std::string table{};  // of the destination
    std::int64_t node = 0, nodes = 0;
    int depth = 0;
    std::vector<FieldLevel> levels{};  // by descending depth: the node itself first, the inputs last
    std::vector<FieldBlock> blocks{};  // by descending depth
    std::vector<FieldRead> reads{};    // by descending depth
    FieldExplosion explosion{};
    std::vector<std::string> notes{};
    double seconds = 0;
    bool operator==(const ReceptiveField&) const = default;
};

// Lists at most so many row numbers in the document; a field with more has counts only.
inline constexpr std::int64_t mostFieldIds = 20'000;

json::Value receptiveFieldValue(const ReceptiveField& field);
std::string writeReceptiveField(const ReceptiveField& field);
// Fails with Input and a JSON pointer.
base::Result<ReceptiveField> receptiveFieldFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
