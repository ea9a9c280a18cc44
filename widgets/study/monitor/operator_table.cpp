#include "study/monitor/operator_table.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QShortcut>
#include <algorithm>

#include "models/labels.h"
#include "panels/column_fold.h"
#include "panels/parts.h"
#include "study/common/controls.h"

namespace hopscope::study {

namespace {

using models::Target;
using panels::arrowRoom;

constexpr int barWidth = 44;    // beside the shares
constexpr int leastName = 150;  // of operators: most begin with that of their module

QString tipOf(const ProfileRow& row)
{
    QStringList lines{row.name};
    if (!row.module.isEmpty()) lines << OperatorModel::tr("Module: %1").arg(row.module);
    if (!row.about.isEmpty()) lines << row.about;
    if (!row.fused.isEmpty())
        lines << OperatorModel::tr("In one pass over the edges with: %1").arg(row.fused.join(QStringLiteral(", ")));
    return lines.join(u'\n');
}

}  // namespace

void OperatorModel::setProfile(const RunProfile& profile)
{
    double largest = 0;
    for (const ProfileRow& row : profile.rows()) largest = std::max(largest, row.seconds);
    std::vector<OperatorRow> rows;
    for (const ProfileRow& row : profile.rows())
        rows.push_back({row, profile.share(row.seconds), largest > 0 ? row.seconds / largest : 0});
    setRows(std::move(rows));
}

QVariant OperatorModel::cell(const OperatorRow& shown, ProfileColumn column, int role) const
{
    const ProfileRow& row = shown.row;
    const QString none = QStringLiteral("\u2013");
    if (role == models::TargetRole) return QVariant::fromValue(row.target);
    if (role == RowPainter::PictureRole) return column == ProfileColumn::Share ? QVariant(shown.ofLargest) : QVariant();
    if (role == Qt::ToolTipRole && column == ProfileColumn::Operator) return tipOf(row);
    const bool sort = role == models::SortRole, number = sort || role == models::CopyRole;
    if (!number && role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    switch (column) {
    case ProfileColumn::Operator: return row.name;
    case ProfileColumn::Stage:
        if (sort) return row.stage.valid() ? row.stage.number : 0;
        return row.stage.valid() ? QString::number(row.stage.number) : none;
    case ProfileColumn::Module: return row.module;
    case ProfileColumn::Seconds:
        return number ? QVariant(row.seconds) : QVariant(models::formatSecondsFinely(row.seconds));
    case ProfileColumn::Share: return number ? QVariant(shown.share) : QVariant(percentText(shown.share));
    case ProfileColumn::Bytes:
        if (sort) return static_cast<qlonglong>(row.bytes.value_or(-1));
        return number && row.bytes ? QString::number(*row.bytes) : models::formatBytes(row.bytes);
    case ProfileColumn::Count: break;
    }
    return {};
}

QVariant OperatorModel::header(ProfileColumn column, int role) const
{
    if (role == Qt::ToolTipRole && column == ProfileColumn::Share) return tr("Share of the time of the whole run");
    if (role == Qt::ToolTipRole && column == ProfileColumn::Bytes)
        return tr("Largest size of its results in one batch");
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case ProfileColumn::Operator: return tr("Operator");
    case ProfileColumn::Stage: return tr("Stage") + arrowRoom();
    case ProfileColumn::Module: return tr("Module");
    case ProfileColumn::Seconds: return tr("Seconds") + arrowRoom();
    case ProfileColumn::Share: return tr("Share");
    case ProfileColumn::Bytes: return tr("Bytes") + arrowRoom();
    case ProfileColumn::Count: break;
    }
    return {};
}

// Bars follow on the shares, which begin at their left.
bool OperatorModel::isNumber(ProfileColumn column) const
{
    return column == ProfileColumn::Stage || column == ProfileColumn::Seconds || column == ProfileColumn::Bytes;
}

OperatorTable::OperatorTable(models::Selection& selection, QWidget* parent) : QWidget(parent), m_selection(selection)
{
    setObjectName(QStringLiteral("operatorTable"));
    m_filter = field("monitorFilter", tr("Show only rows that contain this text"), this);
    m_filter->setPlaceholderText(tr("Filter"));
    m_copy = button("monitorCopy", tr("Co&py"), tr("Copy these rows as tab-separated text"), this);
    m_sum = panels::wrapped(QStringLiteral("monitorSum"), this);
    setupTable();
    auto* above = new QHBoxLayout;
    above->addWidget(m_filter, 1);
    above->addWidget(m_copy);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 8, 0, 0);
    column->addLayout(above);
    column->addWidget(m_table, 1);
    column->addWidget(m_sum);
    connectParts();
}

void OperatorTable::setupTable()
{
    m_order.setSourceModel(&m_model);
    m_order.setSortRole(models::SortRole);
    m_order.setFilterKeyColumn(-1);
    m_order.setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_table = panels::makeTable(QStringLiteral("monitorTable"), &m_order, this);
    m_table->setAccessibleName(tr("Times of operators"));
    m_table->setItemDelegate(&m_painter);
    m_table->setMinimumHeight(140);
    QHeaderView* header = m_table->horizontalHeader();
    header->setSortIndicator(static_cast<int>(ProfileColumn::Seconds), Qt::DescendingOrder);
    m_table->setSortingEnabled(true);
    panels::fitColumns(*m_table);
    const int share = m_table->fontMetrics().horizontalAdvance(QStringLiteral("100.0 %")) + barWidth;
    header->setSectionResizeMode(static_cast<int>(ProfileColumn::Share), QHeaderView::Fixed);
    header->resizeSection(static_cast<int>(ProfileColumn::Share), share);
    // ColumnFold measures texts only, so the least width of the first column includes the width of the bar.
    using enum ProfileColumn;
    new panels::ColumnFold(*m_table, {static_cast<int>(Module), static_cast<int>(Bytes), static_cast<int>(Share)},
                           leastName + barWidth);
}

void OperatorTable::connectParts()
{
    connect(m_filter, &QLineEdit::textChanged, this, &OperatorTable::filter);
    connect(m_copy, &QPushButton::clicked, this, &OperatorTable::copy);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &OperatorTable::choose);
    auto* keys = new QShortcut(QKeySequence::Copy, m_table, this, &OperatorTable::copy, Qt::WidgetWithChildrenShortcut);
    keys->setObjectName(QStringLiteral("monitorCopyKeys"));
}

void OperatorTable::display(RunProfile profile)
{
    m_profile = std::move(profile);
    m_model.setProfile(m_profile);
    count();
}

void OperatorTable::setTheme(const style::Theme& theme)
{
    m_painter.setTheme(theme);
    m_table->viewport()->update();
}

void OperatorTable::copy()
{
    QGuiApplication::clipboard()->setText(panels::copiedTable(m_order));
    m_sum->setText(tr("Copied."));
}

void OperatorTable::choose(const QModelIndex& index)
{
    const Target target = index.data(models::TargetRole).value<Target>();
    if (target.kind != Target::Kind::None && target != m_selection.current()) m_selection.reveal(target);
}

void OperatorTable::follow(const Target& target)
{
    m_followed = target;
    const QModelIndex now = m_order.mapToSource(m_table->currentIndex());
    if (now.isValid() && m_profile.isAbout(m_model.at(now.row()).row, target)) return;
    const QModelIndex found = m_order.mapFromSource(m_model.index(m_profile.rowOf(target), 0));
    const QSignalBlocker quiet(m_table->selectionModel());
    m_table->clearSelection();
    m_table->selectionModel()->setCurrentIndex(found, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    if (found.isValid()) m_table->scrollTo(found);
    m_table->viewport()->update();
}

// The selection stays, whether or not its row does.
void OperatorTable::filter(const QString& words)
{
    {
        const QSignalBlocker quiet(m_table->selectionModel());
        m_order.setFilterFixedString(words.trimmed());
    }
    follow(m_followed);
    count();
    m_table->viewport()->update();
}

void OperatorTable::count()
{
    const int shown = m_order.rowCount(), all = m_model.rowCount();
    double seconds = 0;
    for (int row = 0; row < shown; ++row)
        seconds += m_model.at(m_order.mapToSource(m_order.index(row, 0)).row()).row.seconds;
    const QString sum = models::formatSecondsFinely(seconds);
    m_sum->setText(shown == all ? tr("Total %1: the whole run.").arg(sum)
                                : tr("%1 of %2 rows, total %3: %4 of the run.")
                                      .arg(shown)
                                      .arg(all)
                                      .arg(sum, percentText(m_profile.share(seconds))));
}

}  // namespace hopscope::study
