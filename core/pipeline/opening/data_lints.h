#pragma once

// Finds likely mistakes in models that can be split, from the program and the data together.

#include "pipeline/opening/prepare.h"

namespace hopscope::pipeline {

// Appends diagnostics to `prepared.analysis.lints`, at most one of each kind. Does nothing without data, or if the
// model is refused. The kinds are:
//   unused-input         no operator reads the numbers of an input
//   isolated-extremum    a maximum or minimum over messages for rows without edges: they keep the initial value
//   self-loops-twice     a self-loop is added for each node of a graph that has some already
//   whole-graph-degrees  sources of edges read a count over all edges: it would be smaller in a sampled block
//   growing-sums         numbers exceed the range of their type after several rounds of sums (growth.h)
// Linear in the edges of the relations concerned.
void addDataLints(Prepared& prepared);

}  // namespace hopscope::pipeline
