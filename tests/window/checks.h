#pragma once

// What can be said of a picture of the window without looking at it. Each check returns sentences; none: all is well.

#include <QStringList>

#include "main_window.h"

namespace hopscope::checks {

// Interactive widgets without an accessible name, or without an object name.
QStringList unnamedWidgets(const QWidget& window);
// Visible labels, buttons and tabs whose text does not fit into them.
QStringList clippedTexts(const QWidget& window);
// Visible siblings laid out over each other.
QStringList overlaps(const QWidget& window);
// Text whose colour is too close to what is behind it, measured in `picture` of the window.
QStringList paleTexts(const QWidget& window, const QImage& picture);

}  // namespace hopscope::checks
