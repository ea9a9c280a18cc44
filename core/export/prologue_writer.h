#pragma once

// Private to export: writes the method that computes all values that depend on the structure of the graph alone, once
// for the whole graph: sizes and columns of tables, and values that stages read.

#include <optional>

#include "export/context.h"
#include "loader/loader.h"

namespace hopscope::exporter {

struct Prologue {
    Method method{"prologue"};
    std::vector<std::string> inputs;  // the inputs of the model that the method takes, in the order of its parameters
    std::vector<schema::CodeTable> tables;  // with the names of their results
    std::vector<schema::CodeColumn> columns;
};

// Writes the method for all of context.needs. It returns a dictionary of tensors: values by their ids, sizes as
// "size.TABLE", columns as "column.TABLE.KEY", and the rows of the parents of selections as "parents.TABLE". It asserts
// the guards of the model and `limits`, those of an exported program. Raises Unsupported.
Prologue writePrologue(Context& context, const loader::ModelLimits& limits);

}  // namespace hopscope::exporter
