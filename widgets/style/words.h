#pragma once

// Handles texts of widgets that paint themselves: fits them into their shapes, and describes them to screen readers.

#include <QFontMetrics>
#include <QWidget>

namespace hopscope::style {

// Returns the text, elided to `room` pixels; empty if no more than a letter and an ellipsis would fit.
QString fitting(const QFontMetrics& metrics, const QString& text, int room);

// Sets the widget's description, and notifies screen readers if it has changed.
void announce(QWidget& widget, const QString& words);

}  // namespace hopscope::style
