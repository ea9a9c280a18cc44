#pragma once

// Texts of widgets that paint themselves: fitted into their shapes, and described to screen readers.

#include <QFontMetrics>
#include <QWidget>

namespace hopscope::style {

// The text, elided to `room` pixels; empty where no more than a letter and an ellipsis would fit.
QString fitting(const QFontMetrics& metrics, const QString& text, int room);

// Sets the widget's description, and notifies screen readers if it has changed.
void announce(QWidget& widget, const QString& words);

}  // namespace hopscope::style
