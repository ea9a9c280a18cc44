#pragma once

// What can be said of a picture of the window without looking at it. Each check returns sentences; none: all is well.

#include <QStringList>
#include <functional>

#include "main_window.h"

namespace hopscope::checks {

// Interactive widgets without an accessible name, or without an object name.
QStringList unnamedWidgets(const QWidget& window);
// Visible labels (rich text too), buttons, tabs and headers whose text does not fit into them, cells that are cut without a
// tip that has all of it, labels of plots that touch, and widgets of which a parent that does not scroll hides a part.
QStringList clippedTexts(const QWidget& window);
// Visible siblings laid out over each other.
QStringList overlaps(const QWidget& window);
// Text of labels, buttons, tabs, headers, cells and fields whose colour is too close to what is behind it, measured in
// `picture` of the window. What is disabled may be pale.
QStringList paleTexts(const QWidget& window, const QImage& picture);
// What `find` finds as soon as the window has been laid out, and goes on finding: layouts that follow from a change come with the
// next events, on a slow machine some of them late.
QStringList lasting(const std::function<QStringList()>& find);

}  // namespace hopscope::checks
