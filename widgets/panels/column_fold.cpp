#include "panels/column_fold.h"

#include <QEvent>
#include <QHeaderView>
#include <algorithm>

namespace hopscope::panels {

ColumnFold::ColumnFold(QTableView& table, std::vector<int> order, int leastName)
    : QObject(&table),
      m_table(table),
      m_order(std::move(order)),
      m_leastName(leastName)
{
    table.viewport()->installEventFilter(this);
    connect(table.model(), &QAbstractItemModel::modelReset, this, &ColumnFold::fold);
}

bool ColumnFold::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize) fold();
    return QObject::eventFilter(watched, event);
}

int ColumnFold::widthOf(int column) const
{
    if (column == 0) return std::max(m_leastName, m_table.horizontalHeader()->sectionSizeHint(0));
    const QAbstractItemView& view = m_table;  // QTableView hides these members
    return std::max(view.sizeHintForColumn(column), m_table.horizontalHeader()->sectionSizeHint(column));
}

void ColumnFold::fold()
{
    for (const int column : m_order) m_table.setColumnHidden(column, false);
    int needed = 0;
    for (int column = 0; column < m_table.model()->columnCount(); ++column)
        if (!m_table.isColumnHidden(column)) needed += widthOf(column);
    for (const int column : m_order) {
        if (needed <= m_table.viewport()->width()) return;
        needed -= widthOf(column);
        m_table.setColumnHidden(column, true);
    }
}

}  // namespace hopscope::panels
