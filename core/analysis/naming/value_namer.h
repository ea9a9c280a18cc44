#pragma once

// Readable names of values. Two values never share one:
//   x                        an input, a parameter or an output of the model, by its own name
//   conv1.lin output         the result that a module returns to the code around it
//   conv1 sum aggregation    the result of an operator inside of a module
//   relu after conv1         the result of an operator outside of all modules that is applied to a module's result
//   relu after conv1 (2)     the second one of that name
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
    bool structureOnly = false;  // says nothing about where a feature comes from
};

// The result of an operator: its word, but "sum" for the verb "add".
std::string resultWord(NodeKind kind, std::string_view name);

// One name per value. `ops` in execution order, with the ends of the model as operators of the kinds "input" and "output",
// named as they are. Linear in operators and operands, times the depth of module paths.
std::vector<std::string> nameValues(const std::vector<OpToName>& ops, const std::vector<ValueToName>& values);

}  // namespace hopscope::analysis
