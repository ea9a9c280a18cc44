#pragma once

// The outcome of a verification: the verdict and its evidence.

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/names.h"
#include "base/result.h"
#include "json/json.h"

namespace hopscope::schema {

// The result of comparing a run with the model's own forward, or the two sides of `verify --against`.
enum class Verdict : std::uint8_t { Unverifiable, Equal, Different };

constexpr auto namesOf(Verdict)
{
    return std::to_array<base::Named<Verdict>>(
        {{Verdict::Equal, "equal"}, {Verdict::Different, "different"}, {Verdict::Unverifiable, "unverifiable"}});
}

// The rows that were compared: none, all, those of sampled destinations, or those of the sample graph before the run.
enum class CoverageMethod : std::uint8_t { None, Full, Sampled, Sample };

constexpr auto namesOf(CoverageMethod)
{
    return std::to_array<base::Named<CoverageMethod>>({{CoverageMethod::None, ""},
                                                       {CoverageMethod::Full, "full"},
                                                       {CoverageMethod::Sampled, "sampled"},
                                                       {CoverageMethod::Sample, "sample"}});
}

struct TensorRecord {
    std::string name;
    double maxAbsolute = 0, maxRelative = 0;
    std::int64_t rows = 0, different = 0, notFinite = 0;
    bool operator==(const TensorRecord&) const = default;
};

template <std::same_as<TensorRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("comparison", field("name", &T::name, "of the output or the stored value"),
                           field("max_abs", &T::maxAbsolute, "largest absolute difference; null: infinite",
                                 base::Quantity::Ratio, base::Null::IsInfinite),
                           field("max_rel", &T::maxRelative, "largest relative difference; null: infinite",
                                 base::Quantity::Ratio, base::Null::IsInfinite),
                           field("rows", &T::rows, "compared", base::Quantity::Count),
                           field("different", &T::different, "elements outside the tolerance", base::Quantity::Count),
                           field("not_finite", &T::notFinite,
                                 "elements that are NaN or infinite in both, at the same place",
                                 base::Quantity::Count));
}

struct CoverageRecord {
    CoverageMethod method = CoverageMethod::None;
    std::int64_t rows = 0, chosen = 0, skipped = 0, withInEdges = 0;
    int hops = 0;
    bool operator==(const CoverageRecord&) const = default;
};

template <std::same_as<CoverageRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "coverage",
        field("method", &T::method,
              "`full`: all rows were compared; `sampled`: the rows of some destinations; `sample`: the rows of a "
              "sample of the graph, before the run; empty: none"),
        field("rows", &T::rows, "of the outputs", base::Quantity::Count),
        field("chosen", &T::chosen, "for comparison", base::Quantity::Count),
        field("skipped", &T::skipped, "among these: their neighbourhood is too large or unusable, or time ran out",
              base::Quantity::Count),
        field("with_in_edges", &T::withInEdges, "compared rows that have in-edges", base::Quantity::Count),
        field("hops", &T::hops, "rounds of neighbours that were extracted around each", base::Quantity::Count));
}

struct ToleranceRecord {
    double absolute = 1e-5, relative = 1e-4, scale = 1e-6;
    bool operator==(const ToleranceRecord&) const = default;
};

template <std::same_as<ToleranceRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "tolerance",
        field("absolute", &T::absolute,
              "an element agrees if it differs by at most `absolute + relative * abs(reference)`",
              base::Quantity::Ratio),
        field("relative", &T::relative, "see `absolute`", base::Quantity::Ratio),
        field("scale", &T::scale,
              "or by at most this times the largest reference of its tensor, where rounding is amplified",
              base::Quantity::Ratio));
}

struct Verification {
    Verdict verdict = Verdict::Unverifiable;
    std::string reason;
    CoverageRecord coverage;
    std::vector<TensorRecord> outputs, checkpoints;
    ToleranceRecord tolerance;
    double seconds = 0;
    // Returns the number of compared elements of the outputs that are NaN or infinite, in the model's own results as
    // well.
    [[nodiscard]] std::int64_t notFinite() const
    {
        std::int64_t sum = 0;
        for (const TensorRecord& output : outputs) sum += output.notFinite;
        return sum;
    }
    bool operator==(const Verification&) const = default;
};

template <std::same_as<Verification> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("verification",
                           field("verdict", &T::verdict,
                                 "`unverifiable`: the comparison did not take place or failed, or the model amplifies "
                                 "rounding (see `reason`)"),
                           field("reason", &T::reason, "a sentence"),
                           field("coverage", &T::coverage, "which rows were compared"),
                           field("outputs", &T::outputs, "the comparison of each output"),
                           field("checkpoints", &T::checkpoints,
                                 "after a `full` comparison, memory permitting, stored values are compared with the "
                                 "model evaluated operator by "
                                 "operator on whole tensors; they do not affect the verdict"),
                           field("tolerance", &T::tolerance, "within which elements agree"),
                           field("seconds", &T::seconds, "duration of the verification", base::Quantity::Seconds));
}

// Returns the document that `verify --json` prints: the members of `verification`, as in "verify" of a report, and
// `check`, the quick comparison on the sample, as "sample" (null if there was none).
std::string writeVerification(const Verification& verification, const std::optional<Verification>& check);
base::Result<Verification> readVerification(const std::string& text, const std::string& file);

}  // namespace hopscope::schema
