#pragma once

// Columns that give way: in a narrow panel a table shows few columns whole instead of all of them cut.

#include <QTableView>
#include <vector>

namespace hopscope::panels {

class ColumnFold : public QObject {
    Q_OBJECT
public:
    // A child of the table. `order`: the columns that may go, the first of them first; others are not touched. `leastName`:
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
