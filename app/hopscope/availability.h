#pragma once

// Checks the precondition of an action. It is a pure function of the document, the workbench and the engine.

#include "actions.h"
#include "window_parts.h"

namespace hopscope::window {

bool isMet(Needs needs, const WindowParts& parts);

}  // namespace hopscope::window
