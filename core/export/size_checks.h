#pragma once

// Private to export: writes the conditions of an exported program (.pt2) on the sizes of its inputs as code, since an
// exported folder also runs on other graphs.

#include <functional>
#include <vector>

#include "export/numbers.h"
#include "loader/loader.h"

namespace hopscope::exporter {

// The attribute of stages.pt that is true while it runs on a part of a graph, which need not meet these conditions. No
// weight has such a name.
inline constexpr const char* ofAPart = "of_a_part_";

// Returns conditions for all fixed sizes and ranges of these inputs, and for all guards. Raises Unsupported for an
// unknown kind of guard.
std::vector<loader::SizeExpression> sizeConditions(const loader::ModelLimits& limits,
                                                   const std::vector<ir::NamedValue>& inputs);

using PlaceText = std::function<NumberText(const loader::SizePlace&)>;
// Writes an expression as code. Raises Unsupported for arithmetic that differs between the two spellings.
NumberText sizeText(const loader::SizeExpression& expression, const PlaceText& place);

}  // namespace hopscope::exporter
