#pragma once

// The document that `receptive-field --json` prints: the rows and edges that the result of one node depends on in each
// round of message passing, and the work that would be repeated if every node were computed from its own receptive
// field.

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/names.h"
#include "base/result.h"
#include "json/json.h"

namespace hopscope::schema {

// The rows of one table that the node needs at one depth.
struct FieldRows {
    std::string table{};
    std::int64_t rows = 0, of = 0;
    std::int64_t rowBytes = 0;
    std::vector<std::int64_t> ids{};
    bool operator==(const FieldRows&) const = default;
};

template <std::same_as<FieldRows> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "rows", field("table", &T::table, ""),
        field("rows", &T::rows, "different rows that are needed", Quantity::Count),
        field("of", &T::of, "rows of the table", Quantity::Count),
        field("row_bytes", &T::rowBytes,
              "of the inputs (depth 0), of the values that the next round gathers, or of the outputs, per row",
              Quantity::Bytes),
        field("ids", &T::ids, "row numbers in the input, ascending; empty where they are not listed"));
}

// The rows of an input from which rows of a derived table are made: edges of the data, or the nodes of added
// self-loops.
struct FieldParent {
    std::string table{};
    std::int64_t rows = 0;
    std::vector<std::int64_t> ids{};
    bool operator==(const FieldParent&) const = default;
};

template <std::same_as<FieldParent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("parent", field("table", &T::table, "of the input"),
                           field("rows", &T::rows, "different ones", base::Quantity::Count),
                           field("ids", &T::ids, "ascending"));
}

// The edges that are aggregated into the rows of one depth.
struct FieldEdges {
    std::string table{}, from{}, to{};
    std::int64_t edges = 0, of = 0;
    std::vector<FieldParent> parents{};
    std::vector<std::int64_t> fromIds{}, toIds{};
    bool operator==(const FieldEdges&) const = default;
};

template <std::same_as<FieldEdges> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "edges", field("table", &T::table, "`edge_index`, `edge_index + self-loops`"),
        field("from", &T::from, "table of the ends that messages come from"),
        field("to", &T::to, "table of the ends that they go to"),
        field("edges", &T::edges, "different edges that are combined", Quantity::Count),
        field("of", &T::of, "edges of the table", Quantity::Count),
        field("parents", &T::parents,
              "the rows of the inputs behind them: edges of the data, and the nodes of self-loops that the model adds; "
              "empty where they are not listed"),
        field("from_ids", &T::fromIds, "an end of each edge; empty where they are not listed"),
        field("to_ids", &T::toIds, "the other end of each edge"));
}

struct FieldLevel {
    int depth = 0;
    std::vector<FieldRows> rows{};
    std::vector<FieldEdges> edges{};
    bool operator==(const FieldLevel&) const = default;
};

template <std::same_as<FieldLevel> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("level", field("depth", &T::depth, "of the values at this level", base::Quantity::Count),
                           field("rows", &T::rows, "that are needed at this depth"),
                           field("edges", &T::edges, "that are combined into rows of this depth"));
}

// The edges along which the layer-wise run gathers for the node in one round.
struct FieldBlock {
    int depth = 0;
    std::string table{};
    std::int64_t edges = 0, sources = 0;
    bool operator==(const FieldBlock&) const = default;
};

template <std::same_as<FieldBlock> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described("block", field("depth", &T::depth, "of the round", Quantity::Count),
                           field("table", &T::table, "of the edges"),
                           field("edges", &T::edges, "into the node", Quantity::Count),
                           field("sources", &T::sources, "different rows that they come from", Quantity::Count));
}

// The rows of one table that the layer-wise run reads for the node in one round: the sources of its edges, and its own
// row if the round uses it.
struct FieldRead {
    int depth = 0, from = 0;
    std::string table{};
    std::int64_t rows = 0;
    bool operator==(const FieldRead&) const = default;
};

template <std::same_as<FieldRead> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "read", field("depth", &T::depth, "of the round", Quantity::Count),
        field("from", &T::from, "depth of the values: 0 are inputs", Quantity::Count), field("table", &T::table, ""),
        field("rows", &T::rows, "different rows: the sources of its edges, and its own row where the round uses it",
              Quantity::Count));
}

// A count of rows or edges in the receptive field of a node, averaged over nodes.
struct FieldMean {
    int depth = 0;
    std::string table{};
    bool edges = false;
    double mean = 0, error = 0, repeated = 0, bytes = 0, ownBytes = 0;
    bool operator==(const FieldMean&) const = default;
};

template <std::same_as<FieldMean> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "mean", field("depth", &T::depth, "", Quantity::Count), field("table", &T::table, ""),
        field("edges", &T::edges, "true: edges are counted; false: rows"),
        field("mean", &T::mean, "average over nodes", Quantity::Count),
        field("error", &T::error, "its standard error; 0 if exact", Quantity::Count),
        field(
            "repeated", &T::repeated,
            "all fields together / rows or edges of the table: how often node-wise inference computes each of them; a "
            "layer-wise run does so once",
            Quantity::Ratio),
        field("bytes", &T::bytes, "`row_bytes` of all fields together; 0 for edges", Quantity::Bytes),
        field("own_bytes", &T::ownBytes, "of the whole table once; 0 for edges", Quantity::Bytes));
}

enum class MeanMethod : std::uint8_t { Exact, Sampled };

constexpr auto namesOf(MeanMethod)
{
    return std::to_array<base::Named<MeanMethod>>({{MeanMethod::Exact, "exact"}, {MeanMethod::Sampled, "sampled"}});
}

struct FieldExplosion {
    MeanMethod method = MeanMethod::Exact;
    std::int64_t nodes = 0;
    std::uint64_t seed = 0;
    std::vector<FieldMean> means{};
    bool operator==(const FieldExplosion&) const = default;
};

template <std::same_as<FieldExplosion> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "explosion",
        field("method", &T::method,
              "`exact`: over all nodes; `sampled`: over nodes drawn without replacement, as many as can be "
              "visited with "
              "a fixed amount of work, at least four"),
        field("nodes", &T::nodes, "that were examined", Quantity::Count),
        field("seed", &T::seed, "with which they were drawn", Quantity::Count),
        field("means", &T::means, "by descending depth; empty if the request excludes the average (`average: false`)"));
}

struct ReceptiveField {
    std::string table{};
    std::int64_t node = 0, nodes = 0;
    int depth = 0;
    std::vector<FieldLevel> levels{};
    std::vector<FieldBlock> blocks{};
    std::vector<FieldRead> reads{};
    FieldExplosion explosion{};
    std::vector<std::string> notes{};
    double seconds = 0;
    bool operator==(const ReceptiveField&) const = default;
};

template <std::same_as<ReceptiveField> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "receptive_field", field("table", &T::table, "of the node"),
        field("node", &T::node, "its row number", Quantity::Count),
        field("nodes", &T::nodes, "rows of the table", Quantity::Count),
        field("depth", &T::depth, "rounds of message passing", Quantity::Count),
        field("levels", &T::levels, "by descending depth: the node itself first, the inputs last"),
        field("blocks", &T::blocks,
              "the edges along which a layer-wise run gathers for the node, once in each round, by descending depth"),
        field("reads", &T::reads,
              "the rows that a layer-wise run reads for the node, once in each round, by descending depth"),
        field("explosion", &T::explosion, "averages over all nodes"),
        field("notes", &T::notes, "reasons why a field is the whole graph"),
        field("seconds", &T::seconds, "without loading", Quantity::Seconds));
}

// The largest number of row numbers that a document lists. Documents of larger receptive fields contain only counts.
inline constexpr std::int64_t mostFieldIds = 20'000;

json::Value receptiveFieldValue(const ReceptiveField& field);
std::string writeReceptiveField(const ReceptiveField& field);
// Reads the document. Fails with Input and a JSON pointer.
base::Result<ReceptiveField> receptiveFieldFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
