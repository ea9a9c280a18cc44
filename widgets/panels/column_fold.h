#pragma once

// Hides columns in narrow panels: there a table shows a few whole columns instead of all of them truncated.

#include <QTableView>
#include <vector>

namespace hopscope::panels {

class ColumnFold : public QObject {
    Q_OBJECT
public:
    // A child of the table. `order`: the columns that may be hidden, the first of them first. `leastName`:
    // the room that the first column keeps, in pixels.
    ColumnFold(QTableView& table, std::vector<int> order, int leastName = 110);

    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fold();
    [[nodiscard]] int widthOf(int column) const;

    QTableView& m_table;
    std::vector<int> m_order;
    int m_leastName;
};

}  // namespace hopscope::panels
