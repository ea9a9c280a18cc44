#pragma once

// Private to placement: the costs of row numbers where adjacencies stay on the device.

#include "placement/cost_model.h"
#include "placement/model_instance.h"

namespace hopscope::placement {

// Moves the costs of relations to the values that are gathered along them. A loop then numbers a frontier only for values
// that are computed there, or that are read and do not stay. Each of these values bears the same part of the cost, so that
// no plan costs more in the instance than by its account.
void numberByValue(ModelInstance& model, const analysis::Analysis& analysis, const Residency& residency);

}  // namespace hopscope::placement
