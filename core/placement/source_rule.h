#pragma once

// Private to placement: the strategy `source-rule`, on depth_module and after the prologue is taken out.

#include <set>

#include "analysis/analysis.h"

namespace hopscope::placement {

// The values that cross from one t_i to a later one: t_i = d_i; then every cut is pulled towards the parents until a node
// with several parents, an input, a message-passing node, or a parent whose consumers differ in t.
std::set<ir::ValueId> sourceRuleCut(const analysis::Analysis& analysis);

}  // namespace hopscope::placement
