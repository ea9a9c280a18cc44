#pragma once

// schema.json: the split as another program needs it: which tensors each stage takes and makes, with shapes, dtypes and row
// spaces, the proof that came with it, and in exported folders how the code beside it is called. It holds no operators.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "plan/plan.h"
#include "schema/names.h"
#include "schema/report.h"
#include "schema/split_code.h"

namespace hopscope::schema {

struct TensorSpec {
    ir::ValueId value;
    std::string name;   // inputs and outputs of the model: their names; else empty
    std::string label;  // for people, "conv1.lin output"; empty in documents of earlier versions
    base::DType dtype = base::DType::Float32;
    std::vector<Dim> shape;
    std::vector<std::optional<std::string>> rowSpaces;  // one per dimension
    bool operator==(const TensorSpec&) const = default;
};

struct SplitStage {
    plan::StageId index{1};
    std::vector<std::string> destinations;     // node types whose rows its batches hold
    std::vector<ir::ValueId> inputs, outputs;  // values read and values written
    bool operator==(const SplitStage&) const = default;
};

struct SplitCheckpoint {
    ir::ValueId value;
    plan::StageId stage{1};
    bool output = false;
    bool operator==(const SplitCheckpoint&) const = default;
};

struct Split {
    base::Strategy strategy = base::Strategy::Depth;
    std::map<std::string, std::string> hashes;  // "model", "data", "roles", "plan"
    std::vector<std::string> rowSpaces;
    std::vector<TensorSpec> tensors;           // all that are named below, by id
    std::vector<ir::ValueId> inputs, outputs;  // of the model
    std::vector<ir::ValueId> prologue;         // made once for the whole graph and read by stages
    std::vector<SplitStage> stages;
    std::vector<SplitCheckpoint> checkpoints;
    std::optional<Verification> verification;
    std::string tool;          // that wrote it: "hopscope 0.1.0"; may be empty
    std::optional<Code> code;  // of exported folders
    bool operator==(const Split&) const = default;
};

Split makeSplit(const plan::Plan& plan, const analysis::Analysis& analysis, std::optional<Verification> verification);

std::string writeSplit(const Split& split);

// Also refuses, as dangling: a value without a tensor, a row space that is not listed, a stage input that no earlier
// stage makes, a checkpoint that its stage does not write.
base::Result<Split> readSplit(const std::string& text, const std::string& file);

}  // namespace hopscope::schema
