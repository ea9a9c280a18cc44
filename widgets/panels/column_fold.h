#pragma once

// Hides columns in narrow panels, so that a table shows a few complete columns instead of truncating all of them.

#include <QTableView>
#include <vector>

namespace hopscope::panels {

class ColumnFold : public QObject {
    Q_OBJECT
public:
    // Becomes a child of the table. `order` lists the columns that may be hidden; the first is hidden first.
    // `leastName` is the least width of column 0 in pixels.
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
