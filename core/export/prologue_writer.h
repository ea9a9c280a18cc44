#pragma once

// Private to export: the method that computes, once for the whole graph, all values that follow from its structure:
// sizes and columns of tables, and the values that stages read.

#include <optional>

#include "export/context.h"
#include "loader/loader.h"

namespace hopscope::exporter {

struct Prologue {
    Method method{"prologue"};
    std::vector<std::string> inputs;        // inputs of the model, in the order of the method's parameters
    std::vector<schema::CodeTable> tables;  // with the names of their results
    std::vector<schema::CodeColumn> columns;
};

// Everything in context.needs. The method returns a dictionary of tensors: values by their ids, sizes as "size.TABLE",
// columns as "column.TABLE.KEY", originals of selections as "parents.TABLE". It asserts the guards of the model, and `limits`,
// those of an exported program. Raises Unsupported.
Prologue writePrologue(Context& context, const loader::ModelLimits& limits);

}  // namespace hopscope::exporter
