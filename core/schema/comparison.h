#pragma once

// The comparison of the outputs of two model files on the same data, or of a model file with a file of outputs, and the
// operator at which two models diverge.

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/names.h"
#include "schema/findings.h"
#include "schema/verification.h"

namespace hopscope::schema {

// The origin of the outputs of one side: the file's own forward, its staged run, or a file of tensors.
enum class OutputsBy : std::uint8_t { Forward, Staged, File };

constexpr auto namesOf(OutputsBy)
{
    return std::to_array<base::Named<OutputsBy>>(
        {{OutputsBy::Forward, "forward"}, {OutputsBy::Staged, "staged"}, {OutputsBy::File, "file"}});
}

// The first element of an output outside the tolerance. Numbers that are not finite are NaN when they are read from a
// document.
struct DifferentElement {
    std::int64_t row = 0, element = 0;
    double first = 0, second = 0;
    bool operator==(const DifferentElement&) const = default;
};

template <std::same_as<DifferentElement> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity, base::Null;
    return base::described(
        "different_element", field("row", &T::row, "its index along the first dimension", Quantity::Count),
        field("element", &T::element, "its position in this row: the column of a matrix", Quantity::Count),
        field("first", &T::first, "the number of the first file; null: not finite", Null::IsNaN),
        field("second", &T::second, "the number of the second file; null: not finite", Null::IsNaN));
}

struct ComparedOutput {
    TensorRecord errors;
    std::optional<DifferentElement> at{};
    bool operator==(const ComparedOutput&) const = default;
};

template <std::same_as<ComparedOutput> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("compared_output", base::embedded(&T::errors),
                           field("at", &T::at, "the first element outside the tolerance; null: none"));
}

struct Comparison {
    std::string first, second;
    OutputsBy firstBy = OutputsBy::Forward, secondBy = OutputsBy::Forward;
    Verdict verdict = Verdict::Unverifiable;
    std::string reason{};
    std::vector<ComparedOutput> outputs{};
    std::optional<DivergenceRecord> operators{};
    std::string notLocated{};
    ToleranceRecord tolerance{};
    double seconds = 0;
};

template <std::same_as<Comparison> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "two_files", field("first", &T::first, "the path of the first file"),
        field("second", &T::second, "the path of the second one"),
        field("first_by", &T::firstBy,
              "`forward`: its outputs are those of its own `forward`, in a process of its own; `staged`: those of a "
              "staged run, because the unsplit model does not fit into memory; `file`: the file contains them"),
        field("second_by", &T::secondBy, "likewise"),
        field("verdict", &T::verdict, "`unverifiable`: the model amplifies rounding (see `reason`)"),
        field("reason", &T::reason, "a sentence"),
        field("outputs", &T::outputs, "the comparison of each output, over all of its rows"),
        field("operators", &T::operators,
              "both models operator by operator ([findings](format-findings.md#divergence)); null unless `verdict` is "
              "`different`, and if they cannot be compared (see `not_located`)"),
        field("not_located", &T::notLocated,
              "why the first operator with different numbers is unknown; empty otherwise"),
        field("tolerance", &T::tolerance, "within which elements agree"),
        field("seconds", &T::seconds, "without loading", Quantity::Seconds));
}

// Returns the document that `verify --against --json` prints.
std::string writeComparison(const Comparison& comparison);
base::Result<Comparison> comparisonFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
