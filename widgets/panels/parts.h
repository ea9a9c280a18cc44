#pragma once

// Small parts that panels share.

#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

#include "models/document.h"
#include "models/selection.h"
#include "style/theme.h"

namespace hopscope::panels {

QLabel* heading(const QString& text, QWidget* parent);
QLabel* mutedLabel(const QString& text, QWidget* parent);
QLabel* wrapped(const QString& name, QWidget* parent);  // with line wrapping, selectable with the mouse

QLabel* title(const QString& name, QWidget* parent);       // the same, but large and bold
QScrollArea* scrolled(QWidget* content, QWidget* parent);  // without a frame; `content` fills it
QVBoxLayout* makeColumn(QWidget* panel, int spacing);      // with margins, in a widget for fillWith()
// Fills a panel with `content`, which scrolls vertically if it does not fit, but never horizontally.
QScrollArea* fillWith(QWidget* panel, QWidget* content);

// Makes a table without grid and row numbers, which selects whole rows; `model` is not owned.
QTableView* makeTable(const QString& name, QAbstractItemModel* model, QWidget* parent);
// Makes columns as wide as their contents; the first one takes the remaining width.
void fitColumns(QTableView& table);
void selectTarget(QTableView& table, const models::Target& target);  // selects the first row of the target, or none

// These functions return texts for the clipboard: the cells of a row separated by tabs, or a whole table with its column
// titles. A cell contributes its models::CopyRole if it has one, otherwise its displayed text.
QString copiedCells(const QAbstractItemModel& model, int row, int firstColumn, int lastColumn);
QString copiedTable(const QAbstractItemModel& model);
// Returns padding for the title of a right-aligned column, which makes room for the sort arrow.
QString arrowRoom();

// Links have the form "op:12", "value:5", "stage:2", "module:convs.0".
QString link(const models::Target& target, const QString& text);  // as rich text
models::Target targetOf(const QString& href);                     // None for any other text

// Shows rich text with links that select their targets in the graph, also with the keyboard.
class LinkLabel : public QLabel {
    Q_OBJECT
public:
    LinkLabel(const QString& name, models::Selection& selection, QWidget* parent);
};

// A label that elides its text to fit. If it does, a tool tip shows the complete text.
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
