#pragma once

// The `inspect` document as a client reads it: plain records with an index.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/op_words.h"
#include "base/id_vector.h"
#include "base/result.h"
#include "ir/program.h"
#include "plan/stage_id.h"
#include "schema/model_names.h"
#include "json/json.h"

namespace hopscope::protocol {

using analysis::NodeKind;
using ir::Origin;
using ir::ValueId;  // an index into ModelRecord::values: 17 is "v17"
using plan::StageId;
// An index into ModelRecord::ops. It is not the number in "op12", because `ops` contains inputs and outputs as well.
using OpId = base::Id<struct OpRecordTag>;

struct SourceRecord {
    std::string label;  // "python", "torchscript"; empty: unknown
    std::string file, text;
    int line = 0;
};

// A literal argument of an operator, as Python writes it: "dim" and "0", "keepdim" and "False". Strings have no quotes.
struct ArgumentRecord {
    std::string name, text;
    bool operator==(const ArgumentRecord&) const = default;
};

struct OpRecord {
    std::string id;  // "op12", "input.x", "output.out"
    NodeKind kind = NodeKind::Rowwise;
    std::string name;                // "aten::relu"; for an input or output, its name
    std::string module, moduleType;  // "convs.0", "GCNConv"; both empty at top level
    SourceRecord source;
    int depth = 0, depthModule = 0, depthOp = 0;
    StageId stage;  // the first one that computes it, in the plan of the document
    bool structureOnly = false, view = false;
    std::vector<ValueId> inputs, outputs;
    std::vector<ArgumentRecord> arguments;  // in the order of the operator's schema
    // Whether this is an operator, not an input or output of the model.
    [[nodiscard]] bool computes() const { return kind != NodeKind::Input && kind != NodeKind::Output; }
};

struct ValueRecord {
    std::string id, name, dtype;
    Origin origin = Origin::Op;
    std::string label;                               // readable and unique: "conv1.lin output"
    std::vector<std::string> shape;                  // "2708", "|node|"; "?": unknown
    std::vector<std::optional<std::string>> spaces;  // for each dimension the name of its table, or none
    std::optional<std::int64_t> bytes;               // for the whole graph
    bool structureOnly = false;
    OpId producer;                // none: parameters and constants
    std::vector<OpId> consumers;  // ascending
    [[nodiscard]] bool hasRows() const;
};

struct LintRecord {
    std::string code, message;
    OpId op;                // none: it concerns the whole model
    std::string hint = {};  // may be empty
    bool blocking = false;  // the reason why the model cannot be split
};

struct ModelRecord {
    std::string path, className;
    bool traced = false, exported = false, repaired = false, splittable = false;
    bool fromCode = false;  // the model could not be walked: its operators come from its code, without shapes and depth
    int depth = 0, depthModule = 0, depthOp = 0;
    base::IdVector<OpId, OpRecord> ops;  // in execution order: inputs first, outputs last
    base::IdVector<ValueId, ValueRecord> values;
    std::vector<OpId> prologue;
    std::vector<LintRecord> lints;
    std::vector<std::string> notes;
    std::map<std::string, std::string> roles;
    std::map<std::string, std::int64_t> sizes;  // rows per table; empty without data
    std::map<std::string, std::string> hashes;

    // Find a record by its id in documents. Return none if there is no such record. Logarithmic.
    [[nodiscard]] OpId findOp(const std::string& id) const;
    [[nodiscard]] OpId findOp(ir::OpId id) const { return findOp(ir::opName(id)); }
    [[nodiscard]] ValueId findValue(const std::string& id) const;

    std::map<std::string, OpId> opsById;
    std::map<std::string, ValueId> valuesById;
};

// Returns the predicates by which documents about this model are checked. `model` must outlive them.
schema::ModelNames modelNames(const ModelRecord& model);

// Labels every value that has no label, as the engine does (analysis/naming/value_namer.h).
void labelValues(ModelRecord& model);

// Reads the document and adds labels. Fails with Input and a JSON pointer if the document is not valid.
base::Result<ModelRecord> readModel(const json::Value& inspect);

}  // namespace hopscope::protocol
