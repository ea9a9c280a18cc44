#pragma once

// Requests to the debugger, with their answers.

#include "protocol/method.h"
#include "protocol/tensor_rows.h"
#include "schema/findings.h"
#include "schema/tensor.h"

namespace hopscope::protocol {

struct SavedTensor {
    std::string file{};
};
template <std::same_as<SavedTensor> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("file", &T::file, ""));
}

struct Tolerances {
    std::optional<double> absolute{}, relative{};
};
template <std::same_as<Tolerances> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described("", field("absolute", &T::absolute, "tolerance", Presence::WhenSet),
                           field("relative", &T::relative, "tolerance", Presence::WhenSet));
}

struct OfPlanInBatches : OfPlan {
    std::optional<std::int64_t> batch{};
};
template <std::same_as<OfPlanInBatches> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfPlan>(
        base::field("batch", &T::batch, "destination nodes per batch", base::Presence::Later, base::Within{1}));
}

struct CompareStaged : OfPlanInBatches {
    Tolerances tolerances{};
};
template <std::same_as<CompareStaged> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfPlanInBatches>(base::embedded(&T::tolerances));
}

struct CompareModels : OfDocument {
    std::string against;
    std::vector<std::string> roles{};
    bool trusted = false;
    Tolerances tolerances{};
};
template <std::same_as<CompareModels> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfDocument>(field("against", &T::against, "the file of the other model"),
                                         field("roles", &T::roles, "of its inputs", Presence::Later),
                                         field("trusted", &T::trusted, "as for `model/open`", Presence::Later),
                                         base::embedded(&T::tolerances));
}

struct Breakpoint {
    std::string place;
    std::optional<std::int64_t> node{};
    bool notFinite = false;
    std::optional<std::vector<double>> outside{};
};
template <std::same_as<Breakpoint> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described("breakpoint", field("place", &T::place, "as for `--break`"),
                           field("node", &T::node, "only the batch that computes this node", Presence::WhenSet),
                           field("not_finite", &T::notFinite, "only results with NaN or infinities", Presence::WhenSet,
                                 base::Null::IsDefault),
                           field("outside", &T::outside,
                                 "only results with a number outside of this range, `[LEAST, MOST]`",
                                 Presence::WhenSet));
}

struct WatchValues : OfPlanInBatches {
    std::vector<Breakpoint> breakpoints{};
    std::int64_t hits = 20;
    std::vector<std::int64_t> nodes{};
    std::vector<std::string> values{}, aggregations{};
};
template <std::same_as<WatchValues> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfPlanInBatches>(
        field("breakpoints", &T::breakpoints, "results of batches to describe", Presence::Later),
        field("hits", &T::hits, "the most that are described, 20 by default", Presence::Later, base::Within{1}),
        field("nodes", &T::nodes, "row numbers", Presence::Later),
        field("values", &T::values, "whose rows at `nodes` are described", Presence::Later),
        field("aggregations", &T::aggregations, "whose messages into `nodes` are described", Presence::Later));
}

struct SeeTensor : OfPlanInBatches {
    std::string value{};
    std::optional<std::vector<std::int64_t>> nodes{}, rows{};
    std::optional<std::int64_t> batchOf{};
};
template <std::same_as<SeeTensor> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfPlanInBatches>(
        field("value", &T::value, "a place as for `--show`"),
        field("nodes", &T::nodes, "row numbers", Presence::WhenSet),
        field("rows", &T::rows, "`[A, B]`, B excluded", Presence::WhenSet),
        field("batch_of", &T::batchOf,
              "only the rows of the batch that computes this node; without effect on values that no batch computes",
              Presence::Later));
}

struct SeeStopped : OfDocument {
    std::int64_t run = 0;
};
template <std::same_as<SeeStopped> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfDocument>(base::field("run", &T::run, "its number"));
}

struct OfTensor : OfDocument {
    std::int64_t tensor = 0;
};
template <std::same_as<OfTensor> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfDocument>(base::field("tensor", &T::tensor, "its number, of `debug/tensor`"));
}

struct ReadRows : OfTensor {
    std::int64_t begin = 0, end = 0;
};
template <std::same_as<ReadRows> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfTensor>(base::field("begin", &T::begin, "the first position"),
                                       base::field("end", &T::end, "the one after the last"));
}

struct SaveTensor : OfTensor {
    std::string file{};
};
template <std::same_as<SaveTensor> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfTensor>(base::field("file", &T::file, "`.npy`, on the engine's machine"));
}

using FindNonFinite = Method<"debug/nan", OfPlanInBatches, schema::NonFiniteReport, "the origin of NaN and infinities">;

using DebugQueries = std::variant<
    FindNonFinite,
    Method<"debug/staged", CompareStaged, schema::DivergenceRecord,
           "the first difference between a plan and the model">,
    Method<"debug/against", CompareModels, schema::DivergenceRecord, "the first difference from another model">,
    Method<"debug/watch", WatchValues, schema::WatchReport, "results of batches, rows and messages">,
    Method<"debug/tensor", SeeTensor, schema::TensorSummary, "statistics of a value, which is kept">,
    Method<"debug/stopped", SeeStopped, schema::TensorSummary, "the same for the result at which a run has stopped">,
    Method<"debug/rows", ReadRows, TensorRows, "rows of a kept tensor">,
    Method<"debug/save", SaveTensor, SavedTensor, "writes a kept tensor as `.npy`">>;

}  // namespace hopscope::protocol
