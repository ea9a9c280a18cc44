#pragma once

// Provides the window's own icons, drawn in the colour of its text, and the icon of the application.

#include <QIcon>

#include "style/theme.h"

namespace hopscope::style {

// Returns the icon resources/icons/NAME.svg in the theme's text colour, which replaces "currentColor"; its disabled
// form has Theme::nodeBorder. An unknown name gives an empty icon.
QIcon icon(const QString& name, const Theme& theme);
QIcon applicationIcon();

}  // namespace hopscope::style
