#pragma once

// Private to export: writes the conditions of an exported program (.pt2) on the sizes of its inputs as code, since an exported
// folder also runs on other graphs.

#include <functional>
#include <vector>

#include "export/numbers.h"
#include "loader/loader.h"

namespace hopscope::exporter {

// The attribute of stages.pt that is true while it runs on a part of a graph, for which these conditions say nothing. No weight
// has such a name.
inline constexpr const char* ofAPart = "of_a_part_";

// All fixed sizes and ranges of these inputs, and all guards. Raises Unsupported for a guard that is not understood.
std::vector<loader::SizeExpression> sizeConditions(const loader::ModelLimits& limits,
                                                   const std::vector<ir::NamedValue>& inputs);

using PlaceText = std::function<NumberText(const loader::SizePlace&)>;
// Raises Unsupported for arithmetic that the two spellings do not share.
NumberText sizeText(const loader::SizeExpression& expression, const PlaceText& place);

}  // namespace hopscope::exporter
