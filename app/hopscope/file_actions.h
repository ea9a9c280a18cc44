#pragma once

// Adds the actions of the menu "File". They refer to the given parts, which must outlive the book.

#include "actions.h"
#include "exporter.h"
#include "session_control.h"

namespace hopscope::window {

void addFileActions(ActionBook& book, const WindowParts& parts, SessionControl& sessions, Exporter& exporter,
                    FileDialogs& dialogs);

}  // namespace hopscope::window
