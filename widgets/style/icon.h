#pragma once

// The window's own icons, drawn in the colour of its text.

#include <QIcon>

#include "style/theme.h"

namespace hopscope::style {

// `name` of resources/icons/NAME.svg; its "currentColor" becomes the theme's text, its disabled form the muted one. An
// unknown name gives an empty icon.
QIcon icon(const QString& name, const Theme& theme);
QIcon applicationIcon();

}  // namespace hopscope::style
