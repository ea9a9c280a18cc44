#pragma once

// Shows the documentation in a separate window: contents on the left, the page on the right, and a field that searches
// all pages.

#include <QDialog>
#include <QLineEdit>
#include <QToolButton>
#include <QTreeWidget>

#include "manual/page_view.h"

namespace hopscope::manual {

class ManualWindow : public QDialog {
    Q_OBJECT
public:
    explicit ManualWindow(QWidget* parent = nullptr);

    void openAt(const Place& place);  // opens the page and raises the window
    void setTheme(const style::Theme& theme);
    void search(const QString& words);      // lists the pages that contain this text, and marks it; empty: all
    void findNext(bool backwards = false);  // the next occurrence on the listed pages, or the previous one
    [[nodiscard]] const PageView& view() const { return *m_view; }

private:
    QWidget* makeTools();
    void makeKeys();
    void fillContents();
    QToolButton* addTool(QLayout& row, const QString& name, const QString& text, const QString& keys);
    void placeChanged(const Place& place);
    [[nodiscard]] QStringList shownPages() const;
    bool findIn(bool backwards);

    PageView* m_view;
    QTreeWidget* m_contents;
    QLineEdit* m_search;
    QToolButton *m_back = nullptr, *m_forward = nullptr;
};

}  // namespace hopscope::manual
