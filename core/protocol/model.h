#pragma once

// The `inspect` document as a client reads it: plain records, indexed, without the analysis behind them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace hopscope::protocol {

struct SourceRecord {
    std::string label;  // "python", "torchscript"; empty: unknown
    std::string file, text;
    int line = 0;
};

struct OpRecord {
    std::string id;                  // "op12", "input.x", "output.out"
    std::string kind;                // "input", "structure", "rowwise", "gather", "aggregate", "reduce", "output"
    std::string name;                // "aten::relu"; of inputs and outputs: theirs
    std::string module, moduleType;  // "convs.0", "GCNConv"; both empty at top level
    SourceRecord source;
    int depth = 0, depthModule = 0, depthOp = 0;
    std::optional<int> stage;  // of the plan the document was made with
    bool structureOnly = false, view = false;
    std::vector<int> inputs, outputs;  // indices into ModelRecord::values
};

struct ValueRecord {
    std::string id, name, origin, dtype;             // origin: "input", "parameter", "constant", "op"
    std::string label;                               // for people, no other value has it: "conv1.lin output"
    std::vector<std::string> shape;                  // "2708", "|node|"
    std::vector<std::optional<std::string>> spaces;  // a table's name per dimension, or none
    std::optional<std::int64_t> bytes;               // for the whole graph
    bool structureOnly = false;
    int producer = -1;           // index into ModelRecord::ops; -1: parameters and constants
    std::vector<int> consumers;  // indices into ModelRecord::ops, ascending
    [[nodiscard]] bool hasRows() const;
};

struct LintRecord {
    std::string code, message;
    int op = -1;  // index into ModelRecord::ops, or -1
};

struct ModelRecord {
    std::string path, className;
    bool traced = false, repaired = false, splittable = false;
    int depth = 0, depthModule = 0, depthOp = 0;
    std::vector<OpRecord> ops;  // in execution order: inputs first, outputs last
    std::vector<ValueRecord> values;
    std::vector<int> prologue;  // indices into ops
    std::vector<LintRecord> lints;
    std::vector<std::string> notes;
    std::map<std::string, std::string> roles;
    std::map<std::string, std::int64_t> sizes;  // rows per table; empty without data
    std::map<std::string, std::string> hashes;

    [[nodiscard]] int opIndex(const std::string& id) const;     // -1: none; logarithmic
    [[nodiscard]] int valueIndex(const std::string& id) const;  // -1: none; logarithmic

    std::map<std::string, int> opsById, valuesById;
};

// Gives every value that has no label one, as the engine does (analysis/value_namer.h).
void labelValues(ModelRecord& model);

// With labels. Fails with Input and a JSON pointer on anything that is missing, mistyped or dangling. Linear.
base::Result<ModelRecord> readModel(const json::Value& inspect);

}  // namespace hopscope::protocol
