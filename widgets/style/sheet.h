#pragma once

// Provides the application's style sheet, for styles beyond a palette (rounded buttons, underlined tabs, quiet docks).

#include <QString>

#include "style/theme.h"

namespace hopscope::style {

// Returns the style sheet. It is complete and deterministic, and uses only the theme's colours. Buttons with the
// property "primary" true are filled with the accent; labels with the property "muted" or "heading" true are drawn
// accordingly.
QString styleSheet(const Theme& theme);

}  // namespace hopscope::style
