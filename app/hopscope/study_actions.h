#pragma once

// Adds the actions of the menu "Explain": receptive fields, steps of the rules, the animation, and the debugger.

#include "actions.h"
#include "exporter.h"

namespace hopscope::window {

void addStudyActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs, Exporter& exporter);

}  // namespace hopscope::window
