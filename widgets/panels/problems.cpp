#include <algorithm>

#include "models/problem_model.h"
#include "models/roles.h"
#include "panels/lists.h"
#include "panels/parts.h"

namespace hopscope::panels {

namespace {

constexpr int iconSize = 14;

// A disc, a triangle or a square with its colour: shape and colour both tell the severity.
QIcon severityIcon(models::ProblemRow::Severity severity, const style::Theme& theme)
{
    QPixmap pixmap(iconSize * 2, iconSize * 2);
    pixmap.setDevicePixelRatio(2);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    using Severity = models::ProblemRow::Severity;
    painter.setBrush(severity == Severity::Error     ? theme.bad
                     : severity == Severity::Warning ? theme.warning
                                                     : theme.edgeMuted);
    const QRectF box(2, 2, iconSize - 4, iconSize - 4);
    if (severity == Severity::Error) painter.drawEllipse(box);
    else if (severity == Severity::Warning)
        painter.drawPolygon(
            QPolygonF{{box.left(), box.bottom()}, {box.right(), box.bottom()}, {box.center().x(), box.top()}});
    else painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 2, 2);
    return pixmap;
}

}  // namespace

QVariant ProblemIcons::data(const QModelIndex& index, int role) const
{
    if (role != Qt::DecorationRole || index.column() != 0) return QIdentityProxyModel::data(index, role);
    const int severity = index.data(models::ProblemModel::SeverityRole).toInt();
    return severityIcon(static_cast<models::ProblemRow::Severity>(severity), m_theme);
}

Problems::Problems(const Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("problems"));
    m_icons.setSourceModel(&m_model);
    m_table = makeTable(QStringLiteral("problemTable"), &m_icons, this);
    m_table->setAccessibleName(tr("Problems"));
    m_table->setWordWrap(true);
    fitColumns(*m_table);
    m_table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Interactive);
    m_table->horizontalHeader()->resizeSection(1, 260);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_empty = mutedLabel({}, this);
    m_empty->setObjectName(QStringLiteral("noProblems"));
    m_empty->setAlignment(Qt::AlignCenter);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_table);
    layout->addWidget(m_empty, 1);
    connect(&context.document, &models::Document::modelChanged, this, &Problems::refresh);
    connect(&context.document, &models::Document::refusalChanged, this, &Problems::refresh);
    connect(m_table, &QTableView::activated, this, &Problems::jump);
    connect(m_table, &QTableView::clicked, this, &Problems::jump);
    refresh();
}

void Problems::setTheme(const style::Theme& theme)
{
    m_icons.setTheme(theme);
    m_table->viewport()->update();
}

void Problems::refresh()
{
    const models::ModelPtr& model = m_context.document.model();
    std::vector<models::ProblemRow> rows = models::problemRows(model.get(), m_context.document.refusal());
    emit findingsChanged(static_cast<int>(std::ranges::count_if(
        rows, [](const auto& row) { return row.severity != models::ProblemRow::Severity::Note; })));
    m_model.setRows(std::move(rows));
    m_table->setVisible(m_model.rowCount() > 0);
    m_empty->setVisible(m_model.rowCount() == 0);
    m_empty->setText(model ? tr("No problems: this model can be split.") : tr("No model is open."));
}

// A narrow panel shows only the sentences, which name their place as well.
void Problems::resizeEvent(QResizeEvent* event)
{
    constexpr int roomForPlaces = 560;
    m_table->setColumnHidden(1, width() < roomForPlaces);
    Panel::resizeEvent(event);
}

void Problems::jump(const QModelIndex& index)
{
    const QVariant target = index.data(models::TargetRole);
    if (target.isValid()) m_context.selection.reveal(target.value<models::Target>());
}

Panel* makeProblems(const Context& context, QWidget* parent) { return new Problems(context, parent); }

}  // namespace hopscope::panels
