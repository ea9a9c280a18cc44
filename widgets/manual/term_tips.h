#pragma once

// Terms of the glossary are explained in place: a label, the title of a column, a tab or a panel shows the definitions
// of the terms in it when the pointer rests there.

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

// The text of the widget at a point, if its terms are explained; empty otherwise.
QString shownText(QWidget& widget, QPoint at);
// The widget's own tip at the point, and below it the definitions of the terms in its text; empty if there is neither.
QString tipAt(QWidget& widget, QPoint at);

}  // namespace hopscope::manual
