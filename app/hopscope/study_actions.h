#pragma once

// The menu "Explain": receptive fields, and what the debugger looks for.

#include "actions.h"
#include "file_dialogs.h"

namespace hopscope::window {

void addStudyActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs);

}  // namespace hopscope::window
