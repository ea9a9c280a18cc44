#pragma once

// Diagnostics that need the program and the data: they point at likely mistakes in models that can be split.

#include "pipeline/prepare.h"

namespace hopscope::pipeline {

// Appends to `prepared.analysis.lints`; nothing without data, or if the model is refused. At most one of each kind:
//   unused-input         no operator reads the numbers of an input
//   isolated-extremum    a largest or smallest message where rows have no edge: the initial value stays there
//   self-loops-twice     a self-loop is added for each node of a graph that has some already
//   whole-graph-degrees  sources of edges read a count over all edges: in a sampler's block it would be smaller
//   growing-sums         numbers outgrow their type over several rounds of sums (growth.h)
// Linear in the edges of the relations concerned.
void addDataLints(Prepared& prepared);

}  // namespace hopscope::pipeline
