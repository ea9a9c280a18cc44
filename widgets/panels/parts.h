#pragma once

// Small parts shared by all panels.

#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QTableView>

#include "models/document.h"
#include "models/selection.h"
#include "style/theme.h"

namespace hopscope::panels {

QLabel* heading(const QString& text, QWidget* parent);
QLabel* mutedLabel(const QString& text, QWidget* parent);
QLabel* wrapped(const QString& name, QWidget* parent);  // wraps its lines, can be selected with the mouse

QLabel* title(const QString& name, QWidget* parent);       // the same in large and bold
QScrollArea* scrolled(QWidget* content, QWidget* parent);  // without a frame, `content` as wide as it
// Fills a panel with `content`, which scrolls vertically if it does not fit, never sideways.
QScrollArea* fillWith(QWidget* panel, QWidget* content);

// A table without grid and row numbers, whole rows selected, sorted on request; `model` is not owned.
QTableView* makeTable(const QString& name, QAbstractItemModel* model, QWidget* parent);
// Columns as wide as their contents, the first one takes the rest.
void fitColumns(QTableView& table);
void selectTarget(QTableView& table, const models::Target& target);  // the first row of that target, or none

// Clipboard texts: cells with tabs between them, in models::CopyRole if they have it, else as displayed; and a whole table,
// with the titles of its columns.
QString copiedCells(const QAbstractItemModel& model, int row, int firstColumn, int lastColumn);
QString copiedTable(const QAbstractItemModel& model);
// Padding after the title of a right-aligned column, which makes room for the sort arrow.
QString arrowRoom();

// Links: "op:12", "value:5", "stage:2", "module:convs.0".
QString link(const models::Target& target, const QString& text);  // as rich text
models::Target targetOf(const QString& href);                     // None for anything else

// Rich text whose links select their target in the graph; works with the keyboard.
class LinkLabel : public QLabel {
    Q_OBJECT
public:
    LinkLabel(const QString& name, models::Selection& selection, QWidget* parent);
};

// A label that elides its text to fit, and shows all of it as a tool tip.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(const QString& name, QWidget* parent);
    void setFullText(const QString& text);
    [[nodiscard]] QString fullText() const { return m_full; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {24, QLabel::minimumSizeHint().height()}; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void elide();
    QString m_full;
};

}  // namespace hopscope::panels
