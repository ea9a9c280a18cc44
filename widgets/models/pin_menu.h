#pragma once

// Pin choices as menu entries, the same in the graph, the tables and the inspector.

#include <QMenu>
#include <functional>

#include "models/pins.h"

namespace hopscope::models {

// Adds the choices, checked if already pinned. The actions are named after the kind of pin and the stage, if it has one:
// "pin.checkpoint", "pin.hop_stage.2".
void addPinChoices(QMenu& menu, const std::vector<PinChoice>& choices,
                   const std::function<void(const plan::Pin&)>& toggle);

}  // namespace hopscope::models
