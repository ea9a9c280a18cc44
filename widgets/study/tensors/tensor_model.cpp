#include "study/tensors/tensor_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/labels.h"
#include "models/roles.h"

namespace hopscope::study {

namespace {

constexpr qsizetype mostBlocks = 48, mostUnderWay = 2;
constexpr qint64 blockNumbers = 1 << 15;
constexpr qint64 mostColumns = 4096;

}  // namespace

TensorModel::TensorModel(QObject* parent) : QAbstractTableModel(parent)
{
    m_asking.setSingleShot(true);
    m_asking.setInterval(0);
    connect(&m_asking, &QTimer::timeout, this, &TensorModel::ask);
}

void TensorModel::setTensor(const schema::TensorSummary* record)
{
    beginResetModel();
    m_blocks.clear();
    m_underWay.clear();
    m_wanted.clear();
    m_rows = record == nullptr ? 0 : std::min<qint64>(record->count, std::numeric_limits<int>::max());
    const qint64 width = m_rows > 0 ? record->statistics.numbers / record->count : 0;
    m_columns = static_cast<int>(std::min(width, mostColumns));
    m_each = static_cast<int>(std::clamp<qint64>(blockNumbers / std::max<qint64>(width, 1), 8, 256));
    endResetModel();
}

int TensorModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_rows); }

int TensorModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_columns; }

const TensorModel::Block* TensorModel::blockOf(int row) const
{
    const auto found = m_blocks.constFind(row / m_each);
    return found == m_blocks.constEnd() ? nullptr : &*found;
}

const double* TensorModel::rowNumbers(int row) const
{
    const Block* block = blockOf(row);
    if (block == nullptr) return nullptr;
    const auto at = static_cast<std::size_t>(row - block->rows.begin);
    const std::size_t width = block->rows.width;
    return (at + 1) * width <= block->rows.numbers.size() && width > 0 ? &block->rows.numbers[at * width] : nullptr;
}

const protocol::RowName* TensorModel::nameOf(int row) const
{
    const Block* block = blockOf(row);
    const auto at = block == nullptr ? 0 : static_cast<std::size_t>(row - block->rows.begin);
    return block == nullptr || at >= block->rows.names.size() ? nullptr : &block->rows.names[at];
}

QString TensorModel::rowName(int row) const
{
    const protocol::RowName* const name = nameOf(row);
    if (name == nullptr) return QStringLiteral("…");
    if (name->ends.size() != 2) return QString::number(name->row);
    return QStringLiteral("%1: %2 → %3").arg(name->row).arg(name->ends[0]).arg(name->ends[1]);
}

int TensorModel::find(qint64 number, qint64 expected) const
{
    if (expected >= 0 && expected < m_rows) {
        const int row = static_cast<int>(expected);
        const protocol::RowName* const name = nameOf(row);
        if (name == nullptr || name->row == number) return row;
    }
    qint64 first = -1;
    for (const Block& block : m_blocks) {
        const auto& names = block.rows.names;
        const auto found = std::ranges::find(names, number, &protocol::RowName::row);
        const qint64 at = block.rows.begin + (found - names.begin());
        if (found != names.end() && (first < 0 || at < first)) first = at;
    }
    return static_cast<int>(first);
}

QString TensorModel::numberText(double number)
{
    if (std::isnan(number)) return QStringLiteral("NaN");
    if (std::isinf(number)) return number > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    return QString::number(number, 'g', 5);
}

QVariant TensorModel::data(const QModelIndex& index, int role) const
{
    if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignVCenter | Qt::AlignRight);
    if (role != Qt::DisplayRole && role != Qt::ForegroundRole && role != Qt::ToolTipRole && role != models::CopyRole)
        return {};
    const double* numbers = rowNumbers(index.row());
    if (numbers == nullptr) {
        if (role == Qt::DisplayRole) askLater(index.row());
        return role == Qt::DisplayRole ? QStringLiteral("…") : QVariant();
    }
    const double number = numbers[index.column()];
    if (role == models::CopyRole) return QString::number(number, 'g', 9);
    if (role == Qt::ForegroundRole) return std::isfinite(number) ? QVariant() : QVariant(m_theme.bad);
    return role == Qt::ToolTipRole ? QString::number(number, 'g', 17) : numberText(number);
}

QVariant TensorModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignVCenter | Qt::AlignRight);
    if (role != Qt::DisplayRole) return {};
    return orientation == Qt::Horizontal ? QString::number(section) : rowName(section);
}

// Requests only the blocks that the last painting missed; blocks wanted earlier and no longer shown are skipped.
void TensorModel::askLater(int row) const
{
    m_wanted.insert(row / m_each);
    if (!m_asking.isActive()) m_asking.start();
}

void TensorModel::ask()
{
    for (const qint64 block : std::exchange(m_wanted, {})) {
        if (m_blocks.contains(block) || m_underWay.contains(block)) continue;
        if (m_underWay.size() >= mostUnderWay) m_wanted.insert(block);
        else {
            m_underWay.insert(block);
            emit rowsWanted(block * m_each, std::min<qint64>(m_rows, (block + 1) * m_each));
        }
    }
}

void TensorModel::give(protocol::NumberRows rows)
{
    const qint64 block = rows.begin / m_each, begin = rows.begin, end = rows.end;
    if (!m_underWay.remove(block) || end > m_rows || rows.begin % m_each != 0) return;
    m_blocks[block] = {std::move(rows), ++m_clock};
    dropOldest();
    m_wanted.clear();  // the views ask again for the rows still shown
    if (end > begin)
        emit dataChanged(index(static_cast<int>(begin), 0),
                         index(static_cast<int>(end) - 1, std::max(0, m_columns - 1)));
    emit headerDataChanged(Qt::Vertical, static_cast<int>(begin), static_cast<int>(end) - 1);
    emit rowsCame();
}

void TensorModel::failed(qint64 begin) { m_underWay.remove(begin / m_each); }

void TensorModel::dropOldest()
{
    while (m_blocks.size() > mostBlocks) {
        const auto older = [](const Block& a, const Block& b) { return a.used < b.used; };
        m_blocks.erase(std::ranges::min_element(m_blocks.begin(), m_blocks.end(), older));
    }
}

}  // namespace hopscope::study
