#pragma once

// Raw programs drawn as text, for tests.
//
//   x = node f[7,4]                               inputs: kind (node, index, edge, key, graph, plain, weight) and type
//   e = index i[2,9]
//   s = aten::select(self=e, dim=0, index=0) -> i[9]
//   y = aten::relu_(self=x) -> f[7,4] writes 0 as aten::relu
//   n = scalar::size(self=x, dim=0) -> n7         a number whose sample is 7
//   a, b = aten::unbind(self=e, dim=0) -> i[9], i[9] list
//   out = y
//
// NAME:=VALUE says that the value is not the schema's default. Arguments: names of values, integers, decimals (1.5), true,
// false, none, 'text', [lists]. Types: f, i, b (bool), d (float64).

#include <map>
#include <string>
#include <vector>

#include "analysis/roles/roles.h"
#include "ir/program.h"

namespace hopscope::test {

struct DrawnProgram {
    ir::Program program;
    analysis::InputSchema schema;
    std::map<std::string, ir::ValueId> names;
};

// Node inputs are rows of type "v" (or of a type named after ':', "node:u"); indices are relations v > v ("index:u>v").
DrawnProgram drawProgram(const std::string& text);

}  // namespace hopscope::test
