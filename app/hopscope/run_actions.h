#pragma once

// Adds the actions of the menu "Run". They refer to the given parts, which must outlive the book.

#include "actions.h"
#include "exporter.h"
#include "file_dialogs.h"

namespace hopscope::window {

void setBreakpoints(const WindowParts& parts, const std::vector<models::Breakpoint>& breakpoints);

void addRunActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs, Exporter& exporter);

}  // namespace hopscope::window
