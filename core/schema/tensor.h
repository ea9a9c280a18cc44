#pragma once

// The description of a tensor in the debugger, with statistics of its numbers and some of its rows.
// docs/reference/format-tensor.md describes every member.

#include <concepts>

#include "base/names.h"
#include "schema/findings.h"

namespace hopscope::schema {

inline constexpr int histogramBins = 40;
inline constexpr std::int64_t mostNumbersOfRow = 64;   // the most numbers of a row in a document
inline constexpr std::int64_t mostRowsOfTensor = 100;  // the most rows in a document

// Statistics of all numbers. For complex numbers, only `numbers` is set.
struct Statistics {
    std::int64_t numbers = 0, finite = 0, zeros = 0, nan = 0, infinite = 0;
    std::optional<double> least{}, most{}, mean{}, deviation{};  // of the finite ones
    std::vector<std::int64_t> histogram{};                       // histogramBins equal bins, or empty
};

template <std::same_as<Statistics> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "statistics", field("numbers", &T::numbers, "how many there are", Quantity::Count),
        field("finite", &T::finite, "how many of them are finite", Quantity::Count),
        field("zeros", &T::zeros, "how many are 0", Quantity::Count),
        field("nan", &T::nan, "how many are NaN", Quantity::Count),
        field("infinite", &T::infinite, "how many are infinite", Quantity::Count),
        field("min", &T::least, "the least finite number; null: no number is finite, or they are complex"),
        field("max", &T::most, "the greatest; null likewise"),
        field("mean", &T::mean, "of the finite numbers; null likewise"),
        field("std", &T::deviation,
              "the standard deviation of the finite numbers, without correction (`numpy.std`); null likewise",
              Quantity::Ratio),
        field("histogram", &T::histogram,
              "the number of finite numbers in each of 40 equal parts from `min` to `max` (from `min` - 0.5 to "
              "`max` + 0.5 if they are the same), as `numpy.histogram` counts them"));
}

// The origin of the numbers of a tensor.
enum class TensorOrigin : std::uint8_t { Staged, Unsplit, Input, Weight };
constexpr auto namesOf(TensorOrigin)
{
    return std::to_array<base::Named<TensorOrigin>>({{TensorOrigin::Staged, "staged"},
                                                     {TensorOrigin::Unsplit, "unsplit"},
                                                     {TensorOrigin::Input, "input"},
                                                     {TensorOrigin::Weight, "weight"}});
}

struct BatchPlace {
    std::int64_t number = 1, firstDestination = 0, destinations = 0;
};

template <std::same_as<BatchPlace> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "batch", field("number", &T::number, "of the stage's batches, from 1", Quantity::Count),
        field("first_destination", &T::firstDestination, "the first destination that it computes", Quantity::Count),
        field("destinations", &T::destinations, "how many it computes", Quantity::Count));
}

// A row with its readable name and its first numbers.
struct TensorRow {
    std::string table;
    std::int64_t row = 0;
    std::vector<std::int64_t> ends{};
    std::vector<double> numbers{};
};

template <std::same_as<TensorRow> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "tensor_row", field("table", &T::table, "of the input"),
        field("row", &T::row, "its number; of a self-loop that the model adds, its node"),
        field("ends", &T::ends, "of an edge: from, to"),
        field("numbers", &T::numbers, "the first 64 of the row; null: not finite", base::Null::IsNaN));
}

struct TensorSummary {
    std::optional<std::int64_t> tensor{};
    OperatorRecord place;
    TensorOrigin from = TensorOrigin::Staged;
    std::optional<plan::StageId> stage{};
    std::optional<BatchPlace> batch{};
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::optional<int> axis{};
    std::int64_t count = 1;
    std::string rows{};
    Statistics statistics;
    std::vector<TensorRow> shown{};
    std::string file{};
    double seconds = 0;
};

template <std::same_as<TensorSummary> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "tensor", base::embedded(&T::place),
        field("from", &T::from,
              "`staged`: from the batches of a run of the plan, every operator by itself; `unsplit`: computed on whole "
              "tensors, because no batch computes it by itself (values before the first stage, reductions over all "
              "rows, parts of other operators); `input`, `weight`"),
        field("stage", &T::stage, "the first that computes it; null if `from` is not `staged`"),
        field("batch", &T::batch, "of `--batch-of`; null: of all batches"),
        field("dtype", &T::dtype, "of the numbers that were recorded"),
        field("shape", &T::shape, "likewise, in the order of its dimensions in the model"),
        field("axis", &T::axis, "the dimension of the rows; null: none", Quantity::Count),
        field("count", &T::count, "how many rows there are", Quantity::Count),
        field("rows", &T::rows, "the meaning of a row: `rows of node in the batch`; empty: it has none"),
        base::embedded(&T::statistics),
        field("shown", &T::shown, "the first 20 rows, or with `--rows` or `--nodes` up to 100"),
        field("file", &T::file, "the `.npy` file that `-o` names; empty: none"),
        field("tensor", &T::tensor, "its number for `debug/rows` and `debug/save`; null on the command line"),
        field("seconds", &T::seconds, "without loading", Quantity::Seconds));
}

json::Value tensorValue(const TensorSummary& record);
std::string writeTensor(const TensorSummary& record);
base::Result<TensorSummary> tensorFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
