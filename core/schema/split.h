#pragma once

// The document schema.json, which describes a split for other programs: the inputs and outputs of each stage with
// shapes, dtypes and row spaces, the verification and, in exported folders, the calls of the code. It contains no
// operators.

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/describe.h"
#include "base/result.h"
#include "plan/plan.h"
#include "schema/names.h"
#include "schema/split_code.h"
#include "schema/verification.h"

namespace hopscope::schema {

struct TensorSpec {
    ir::ValueId value;
    std::string name, label;
    base::DType dtype = base::DType::Float32;
    std::vector<Dim> shape;
    std::vector<std::optional<std::string>> rowSpaces;
    bool operator==(const TensorSpec&) const = default;
};

template <std::same_as<TensorSpec> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "tensor", field("value", &T::value, "`v17`"),
        field("name", &T::name, "of an input or output of the model; otherwise null", base::Null::IsDefault),
        field("label", &T::label, "a unique readable name: `conv1.lin output`", base::Presence::Later),
        field("dtype", &T::dtype, "the type of its numbers"),
        field("shape", &T::shape, "for each dimension a number, or `\"\\|node\\|\"`: the rows of that table"),
        field("row_spaces", &T::rowSpaces, "for each dimension the table whose rows it has, or null"));
}

struct SplitStage {
    plan::StageId index{1};
    std::vector<std::string> destinations;
    std::vector<ir::ValueId> inputs, outputs;
    bool operator==(const SplitStage&) const = default;
};

template <std::same_as<SplitStage> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("stage", field("index", &T::index, "its number"),
                           field("destinations", &T::destinations, "the node types whose rows its batches hold"),
                           field("inputs", &T::inputs, "the values that it reads"),
                           field("outputs", &T::outputs, "the values that it writes"));
}

struct SplitCheckpoint {
    ir::ValueId value;
    plan::StageId stage{1};
    bool output = false;
    bool operator==(const SplitCheckpoint&) const = default;
};

template <std::same_as<SplitCheckpoint> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("checkpoint", field("value", &T::value, "the value that is stored"),
                           field("stage", &T::stage, "the stage that writes it"),
                           field("output", &T::output, "whether it is an output of the model"));
}

struct Split {
    base::Strategy strategy = base::Strategy::Depth;
    std::map<std::string, std::string> hashes;
    std::vector<std::string> rowSpaces;
    std::vector<TensorSpec> tensors;  // by id
    std::vector<ir::ValueId> inputs, outputs, prologue;
    std::vector<SplitStage> stages;
    std::vector<SplitCheckpoint> checkpoints;
    std::optional<Verification> verification;
    std::string tool;
    std::optional<Code> code;
    bool operator==(const Split&) const = default;
};

template <std::same_as<Split> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "schema", field("strategy", &T::strategy, "of the underlying plan"),
        field("hashes", &T::hashes,
              "`model`, `data` (the graph), `roles`, `plan`, and in exported folders `weights` (SHA-256 of "
              "`weights.safetensors`, which `run.py` checks)"),
        field("row_spaces", &T::rowSpaces, "the tables: node types, relations, and tables derived from them"),
        field("tensors", &T::tensors, "every value that is named below, except in `code`"),
        field("inputs", &T::inputs, "of the model"), field("outputs", &T::outputs, "of the model"),
        field("prologue", &T::prologue, "the values that are computed once for the whole graph and read by stages"),
        field("stages", &T::stages, "in their order"), field("checkpoints", &T::checkpoints, "the stored values"),
        field("verification", &T::verification, "as in [format-report.md](format-report.md)"),
        field("tool", &T::tool, "the program that wrote it: `hopscope 0.1.0`", base::Null::IsDefault),
        field("code", &T::code, "of exported folders: the methods of the exported code, and their arguments"));
}

Split makeSplit(const plan::Plan& plan, const analysis::Analysis& analysis, std::optional<Verification> verification);

std::string writeSplit(const Split& split);

// Reads the document. Fails with Input and a JSON pointer, also for a value without a tensor and a row space or table
// that is not listed. The same holds for a tensor or table that is listed twice, and for stages out of order. A stage may only read inputs of the
// model and values that are computed before it, and must write its stored values.
base::Result<Split> readSplit(const std::string& text, const std::string& file);

}  // namespace hopscope::schema
