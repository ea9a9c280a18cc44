#pragma once

// Checks pins and required reads as check() does, for an instance that passed check() before it was pinned.

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// Fails with Input, naming the kind of the pin, or a required read.
base::Status checkPins(const Instance& instance);

}  // namespace hopscope::optimiser
