#pragma once

// The document that `inspect --json` prints and the answer to `model/open` contains (docs/reference/format-inspect.md).

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/op_words.h"
#include "base/describe.h"
#include "base/result.h"
#include "base/tensor.h"
#include "ir/origin_names.h"
#include "ir/program.h"
#include "plan/stage_id.h"
#include "schema/names.h"
#include "json/json.h"

namespace hopscope::schema {

struct InspectedSource {
    std::string label;  // "python" or "torchscript"
    std::string file, text;
    int line = 0;
};

template <std::same_as<InspectedSource> T>
constexpr auto fieldsOf(const T*)
{
    return base::described(
        "source", base::field("label", &T::label, "`python` or `torchscript`: the kind of file that the line is from"),
        base::field("file", &T::file, "the file"), base::field("line", &T::line, "the line"),
        base::field("text", &T::text, "the text of the line"));
}

struct InspectedArgument {
    std::string name;
    json::Value value;
};

template <std::same_as<InspectedArgument> T>
constexpr auto fieldsOf(const T*)
{
    return base::described(
        "argument", base::field("name", &T::name, "the name in the operator's schema"),
        base::field(
            "value", &T::value,
            "a number, text, truth value or list, null for `None`; dtypes by name, NaN and infinities as texts; in a "
            "list, a number that the model computes is the id of its value"));
}

struct InspectedOp {
    std::string id;  // "op12", "input.x", "output.out"
    analysis::NodeKind kind = analysis::NodeKind::Rowwise;
    std::string name;
    std::string module, moduleType;  // both empty at top level
    std::optional<InspectedSource> source;
    int depth = 0, depthModule = 0, depthOp = 0;
    std::optional<plan::StageId> stage;
    bool structureOnly = false, view = false;
    std::vector<ir::ValueId> inputs, outputs;
    std::vector<InspectedArgument> arguments;  // in the order of the operator's schema
};

template <std::same_as<InspectedOp> T>
constexpr auto fieldsOf(const T*)
{
    using enum base::Presence;
    using base::Quantity;
    return base::described(
        "op", base::field("id", &T::id, "`op7`, or `input.x` and `output.out` for inputs and outputs of the model"),
        base::field("kind", &T::kind, "the operator's part in message passing"),
        base::field("name", &T::name, "the operator of LibTorch with its overload; the name of an input or output"),
        base::field("module", &T::module, "the path of the module that calls it"),
        base::field("module_type", &T::moduleType, "its class"), base::field("source", &T::source, "the source line"),
        base::field("depth", &T::depth, "the depth of its result, in hops", Quantity::Count),
        base::field("depth_module", &T::depthModule, "the same, counting each layer once", Quantity::Count),
        base::field("depth_op", &T::depthOp, "the same, counting each aggregation", Quantity::Count),
        base::field("stage", &T::stage, "the first stage that computes it by the rule `depth`; null: none does"),
        base::field("structure_only", &T::structureOnly, "whether it depends on the graph's structure alone"),
        base::field("view", &T::view, "whether its result is a view of an operand"),
        base::field("inputs", &T::inputs, "the values that it reads"),
        base::field("outputs", &T::outputs, "the values that it makes"),
        base::field("arguments", &T::arguments, "its literal arguments", Later));
}

struct InspectedValue {
    ir::ValueId id;
    ir::Origin origin = ir::Origin::Op;
    std::string name, label;
    std::optional<base::DType> dtype;
    std::vector<std::optional<Dim>> shape;
    std::vector<std::optional<std::string>> rowSpaces;  // one for each dimension
    bool structureOnly = false;
    std::optional<std::int64_t> bytes;
};

template <std::same_as<InspectedValue> T>
constexpr auto fieldsOf(const T*)
{
    return base::described(
        "value", base::field("id", &T::id, "`v17`; values are listed by their numbers"),
        base::field("origin", &T::origin, "the place that it comes from"),
        base::field("name", &T::name, "the name in the program"),
        base::field("label", &T::label, "a readable name that no other value has, which `--pins` takes",
                    base::Presence::Later),
        base::field("dtype", &T::dtype, "null where it is unknown"),
        base::field("shape", &T::shape,
                    "for each dimension a number or the size of a table, as `\"\\|node\\|\"`; null where it is "
                    "unknown, as are all dimensions after the operator at which the analysis stopped"),
        base::field("row_spaces", &T::rowSpaces, "for each dimension the table whose rows it has, or null"),
        base::field("structure_only", &T::structureOnly, "whether it depends on the graph's structure alone"),
        base::field("bytes", &T::bytes, "its size with the given data; null without them", base::Quantity::Bytes));
}

struct InspectedRelation {
    std::string relation, from, to, along;
};

template <std::same_as<InspectedRelation> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("relation", base::field("relation", &T::relation, "the table of edges"),
                           base::field("from", &T::from, "the table that messages come from"),
                           base::field("to", &T::to, "the table that they go to"),
                           base::field("along", &T::along, "the key that they follow"));
}

struct InspectedStage {
    plan::StageId index;
    std::vector<ir::ValueId> inputs, outputs;
    std::vector<InspectedRelation> relations;
    std::vector<std::string> destinations;
};

template <std::same_as<InspectedStage> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("stage", base::field("index", &T::index, "the number of the stage, from 1"),
                           base::field("inputs", &T::inputs, "the values that it reads by the rule `depth`"),
                           base::field("outputs", &T::outputs, "the values that it stores"),
                           base::field("relations", &T::relations, "the relations along which it gathers"),
                           base::field("destinations", &T::destinations, "the tables whose rows its loops compute"));
}

struct InspectedLint {
    std::string code, message;
    std::optional<std::string> op;
    bool blocking = false;
    std::string hint = {};
};

template <std::same_as<InspectedLint> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("lint", base::field("code", &T::code, "the kind of finding"),
                           base::field("message", &T::message, "one sentence"),
                           base::field("op", &T::op, "the operator; null: it is about the model"),
                           base::field("blocking", &T::blocking,
                                       "whether it is the reason why the model cannot be split", base::Presence::Later),
                           base::field("hint", &T::hint, "a suggestion; may be empty", base::Presence::Later));
}

struct InspectDocument {
    std::string model, modelClass;
    bool traced = false, exported = false, repaired = false, splittable = false, fromCode = false;
    std::map<std::string, std::string> hashes, roles;
    std::map<std::string, std::int64_t> sizes;
    std::vector<std::string> notes;
    int depth = 0, depthModule = 0, depthOp = 0;
    std::vector<InspectedOp> ops;  // in execution order: inputs first, outputs last
    std::vector<InspectedValue> values;
    std::vector<InspectedStage> stages;
    std::vector<std::string> prologue;
    std::vector<InspectedLint> lints;
};

template <std::same_as<InspectDocument> T>
constexpr auto fieldsOf(const T*)
{
    using base::Quantity;
    return base::described(
        "inspect", base::field("model", &T::model, "the file"),
        base::field("model_class", &T::modelClass, "the class of the model"),
        base::field("traced", &T::traced, "whether it was traced rather than scripted"),
        base::field("exported", &T::exported, "true for a program of `torch.export`, which is neither",
                    base::Presence::WhenSet, base::Null::IsDefault),
        base::field("repaired", &T::repaired, "whether the archive was repaired before it was read"),
        base::field("splittable", &T::splittable,
                    "false: the blocking entry of `lints` gives the reason, and `stages` is empty"),
        base::field("from_code", &T::fromCode,
                    "true: the model could not be run on a sample, and `ops` are those in the code of `forward`",
                    base::Presence::Later),
        base::field("hashes", &T::hashes, "of `model`, and of `data` and `roles` where there are any"),
        base::field("roles", &T::roles, "by input, in the notation of `--role`"),
        base::field("sizes", &T::sizes, "the rows of each table, if they follow from the data", Quantity::Count),
        base::field("notes", &T::notes, "sentences"),
        base::field("depth", &T::depth, "the message-passing depth of the outputs, in hops", Quantity::Count),
        base::field("depth_module", &T::depthModule, "the same, counting each layer of the model once",
                    Quantity::Count),
        base::field("depth_op", &T::depthOp, "the same, counting each aggregation", Quantity::Count),
        base::field("ops", &T::ops, "the operators, in the order in which they run"),
        base::field("values", &T::values, "the values, by their numbers"),
        base::field("stages", &T::stages, "the stages by the rule `depth`"),
        base::field("prologue", &T::prologue, "the operators that depend on the graph's structure alone"),
        base::field("lints", &T::lints, "findings about the model"));
}

json::Value inspectDocumentValue(const InspectDocument& document);
// Reads the document. Fails with Input and a JSON pointer. The caller checks references between members.
base::Result<InspectDocument> inspectDocumentFrom(const json::Value& value, const std::string& name);

}  // namespace hopscope::schema
