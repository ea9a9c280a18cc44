#pragma once

// The part of check() that is about pins and required reads: for an instance that has passed before it was pinned.

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// Fails with Input, naming the pin. Linear in the pins.
base::Status checkPins(const Instance& instance);

}  // namespace hopscope::optimiser
