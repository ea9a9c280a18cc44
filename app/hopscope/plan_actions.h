#pragma once

// Adds the actions of the menus "Edit" and "Plan". They refer to the given parts, which must outlive the book.

#include "actions.h"
#include "file_dialogs.h"

namespace hopscope::window {

void addEditActions(ActionBook& book, const WindowParts& parts);
void addPlanActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs);

}  // namespace hopscope::window
