#pragma once

// Shows the rows of a tensor as a table that is fetched on demand: blocks of rows are requested when a view shows them,
// and the newest blocks are kept. Rows that were never shown are unknown.

#include <QAbstractTableModel>
#include <QHash>
#include <QTimer>

#include "protocol/tensor_rows.h"
#include "schema/tensor.h"
#include "style/theme.h"

namespace hopscope::study {

class TensorModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit TensorModel(QObject* parent = nullptr);

    void setTensor(const schema::TensorSummary* record);  // null: shows nothing; drops the kept rows
    void setTheme(const style::Theme& theme) { m_theme = theme; }
    // Takes the answer to rowsWanted(). If there is none, failed() allows the rows to be requested again when they are
    // next shown.
    void give(protocol::NumberRows rows);
    void failed(qint64 begin);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    // Returns null if the row is not available, and does not request it.
    [[nodiscard]] const double* rowNumbers(int row) const;
    [[nodiscard]] QString rowName(int row) const;
    // Returns the position of the row with this number, which is probably at `expected`: there if that row is not
    // available yet, else among the available rows. -1: there is none.
    [[nodiscard]] int find(qint64 number, qint64 expected) const;
    [[nodiscard]] std::size_t keptBlocks() const { return static_cast<std::size_t>(m_blocks.size()); }
    // Returns the number with enough digits to tell numbers apart at a glance.
    [[nodiscard]] static QString numberText(double number);

signals:
    void rowsWanted(qint64 begin, qint64 end);
    void rowsCame();

private:
    struct Block {
        protocol::NumberRows rows;
        qint64 used = 0;  // the time of its last use
    };
    [[nodiscard]] const Block* blockOf(int row) const;
    [[nodiscard]] const protocol::RowName* nameOf(int row) const;  // null: not available
    void askLater(int row) const;
    void ask();
    void dropOldest();

    qint64 m_rows = 0;
    int m_columns = 0;
    int m_each = 256;  // rows per block
    style::Theme m_theme;
    QHash<qint64, Block> m_blocks;  // by number
    QSet<qint64> m_underWay;
    mutable QSet<qint64> m_wanted;  // since the last ask()
    mutable QTimer m_asking;
    mutable qint64 m_clock = 0;
};

}  // namespace hopscope::study
