#pragma once

// Provides readable names of values. Two values never share one:
//   x                        an input, a parameter or an output of the model, by its own name.
//   conv1.lin output         the result that a module returns to the code around it.
//   conv1 sum aggregation    the result of an operator inside a module.
//   relu after conv1         the result of an operator outside all modules that is applied to a module's result, with
//                            up to three other operators in between.
//   relu                     the result of another operator outside all modules.
//   constant                 a constant of the model.
//   relu after conv1 (2)     the second value of that name.
// The engine names the values of an analysis, the window those of the document that it receives: both describe the
// model by the records below, so that the names agree.

#include <string>
#include <vector>

#include "analysis/naming/op_words.h"
#include "ir/program.h"

namespace hopscope::analysis {

struct OpToName {
    NodeKind kind = NodeKind::Rowwise;
    std::string name, module;  // as in documents: "aten::relu", "convs.1"
    std::vector<ir::ValueId> inputs, outputs;
};

struct ValueToName {
    std::string name;            // its own: inputs and parameters; else empty
    bool structureOnly = false;  // such values do not name the results computed from them
};

// Returns the word for the result of an operator: that of the operator, or a noun for basic arithmetic ("sum" for
// "add").
std::string resultWord(NodeKind kind, std::string_view name);

// Returns one name per value. `ops` are in execution order; inputs and outputs of the model are among them as operators
// of the kinds Input and Output, under their own names.
std::vector<std::string> nameValues(const std::vector<OpToName>& ops, const std::vector<ValueToName>& values);

}  // namespace hopscope::analysis
