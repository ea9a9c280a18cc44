#pragma once

// Texts of widgets that paint themselves: within their shapes, and for screen readers.

#include <QFontMetrics>
#include <QWidget>

namespace hopscope::style {

// The text, elided to `room` pixels; empty where no more than a letter and an ellipsis would fit.
QString fitting(const QFontMetrics& metrics, const QString& text, int room);

// Describes the widget's state, and tells screen readers unless it is described so already.
void announce(QWidget& widget, const QString& words);

}  // namespace hopscope::style
