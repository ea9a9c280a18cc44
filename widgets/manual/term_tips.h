#pragma once

// Explains terms of the glossary where they appear: when the pointer rests on a short label or button, or on the title
// of a column, row, tab or panel, a tool tip defines up to two terms in it.

#include <QObject>
#include <QWidget>

namespace hopscope::manual {

class TermTips : public QObject {
    Q_OBJECT
public:
    explicit TermTips(QObject* parent);  // serves all windows of the program

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

// Returns the text of a label, button or title at a point; empty for other widgets, and if it is longer than 60
// characters.
QString shownText(QWidget& widget, QPoint at);
// Returns the widget's own tip at the point, followed by the definitions of the terms in its text; empty if there is
// neither.
QString tipAt(QWidget& widget, QPoint at);

}  // namespace hopscope::manual
