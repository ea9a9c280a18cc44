#pragma once

// A tensor as the debugger shows it: what it is, what its numbers are like, and some of its rows. docs/format-tensor.md has every
// member.

#include "base/names.h"
#include "schema/findings.h"

namespace hopscope::schema {

inline constexpr int histogramBins = 40;
inline constexpr std::int64_t mostNumbersOfRow = 64;   // that documents show
inline constexpr std::int64_t mostRowsOfTensor = 100;  // likewise

// Of all numbers; nothing is known of complex ones but how many there are.
struct Statistics {
    std::int64_t numbers = 0, finite = 0, zeros = 0, nan = 0, infinite = 0;
    std::optional<double> least{}, most{}, mean{}, deviation{};  // of the finite ones
    std::vector<std::int64_t> histogram{};  // histogramBins equal parts from least to most; empty: nothing is finite
};

// Where its rows come from.
enum class TensorOrigin : std::uint8_t { Staged, Unsplit, Input, Weight };
constexpr auto namesOf(TensorOrigin)
{
    return std::to_array<base::Named<TensorOrigin>>({{TensorOrigin::Staged, "staged"},
                                                     {TensorOrigin::Unsplit, "unsplit"},
                                                     {TensorOrigin::Input, "input"},
                                                     {TensorOrigin::Weight, "weight"}});
}

struct BatchPlace {
    std::int64_t number = 1, firstDestination = 0, destinations = 0;  // of the stage, from 1
};

// A row as people know it, with the first of its numbers.
struct TensorRow {
    std::string table;
    std::int64_t row = 0;
    std::vector<std::int64_t> ends{};  // of an edge: from, to
    std::vector<double> numbers{};
};

struct TensorSummary {
    std::optional<std::int64_t> tensor{};  // what a client asks for rows with
    OperatorRecord place;                  // without operator: an input or a weight
    TensorOrigin from = TensorOrigin::Staged;
    std::optional<plan::StageId> stage{};
    std::optional<BatchPlace> batch{};  // none: of all batches
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::optional<int> axis{};  // the dimension of the rows
    std::int64_t count = 1;     // rows
    std::string rows{};         // "rows of node in the batch"; empty: it has none
    Statistics statistics;
    std::vector<TensorRow> shown{};
    std::string file{};  // empty: none was asked for
    double seconds = 0;
};

json::Value tensorValue(const TensorSummary& record);
std::string writeTensor(const TensorSummary& record);
base::Result<TensorSummary> tensorFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
