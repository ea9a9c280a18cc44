#pragma once

// The index arithmetic of tables with fixed columns: a subclass defines the contents of a cell, this class its position.
// Rows are replaced as a whole; a model owns its rows.

#include <QAbstractTableModel>
#include <vector>

#include "models/roles.h"

namespace hopscope::models {

// A table model. `Column` is an enum class whose last member is Count.
template <class Row, class Column>
class TableModel : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;

    void setRows(std::vector<Row> rows)
    {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
    }
    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; }
    [[nodiscard]] const Row& at(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final
    {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final
    {
        return parent.isValid() ? 0 : static_cast<int>(Column::Count);
    }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const final
    {
        if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
        const auto column = static_cast<Column>(index.column());
        if (role == Qt::TextAlignmentRole) return alignment(column);
        return cell(at(index.row()), column, role);
    }
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const final
    {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
        const auto column = static_cast<Column>(section);
        if (role == Qt::TextAlignmentRole) return alignment(column);
        return header(column, role);
    }

protected:
    [[nodiscard]] virtual QVariant cell(const Row& row, Column column, int role) const = 0;
    [[nodiscard]] virtual QVariant header(Column column, int role) const = 0;
    [[nodiscard]] virtual bool isNumber(Column column) const = 0;  // right-aligned

private:
    [[nodiscard]] QVariant alignment(Column column) const
    {
        return static_cast<int>(Qt::AlignVCenter | (isNumber(column) ? Qt::AlignRight : Qt::AlignLeft));
    }

    std::vector<Row> m_rows;
};

}  // namespace hopscope::models
