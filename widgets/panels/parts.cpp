#include "panels/parts.h"

#include "models/roles.h"

namespace hopscope::panels {

QLabel* heading(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setProperty("heading", true);
    return label;
}

QLabel* mutedLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setProperty("muted", true);
    return label;
}

QLabel* wrapped(const QString& name, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(name);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QLabel* title(const QString& name, QWidget* parent)
{
    QLabel* label = wrapped(name, parent);
    QFont large = label->font();
    large.setPointSizeF(large.pointSizeF() * 1.25);
    large.setBold(true);
    label->setFont(large);
    return label;
}

QScrollArea* scrolled(QWidget* content, QWidget* parent)
{
    auto* area = new QScrollArea(parent);
    area->setWidget(content);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    return area;
}

QVBoxLayout* makeColumn(QWidget* panel, int spacing)
{
    auto* column = new QVBoxLayout(new QWidget(panel));
    column->setContentsMargins(12, 10, 12, 12);
    column->setSpacing(spacing);
    return column;
}

QScrollArea* fillWith(QWidget* panel, QWidget* content)
{
    QScrollArea* area = scrolled(content, panel);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* all = new QVBoxLayout(panel);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(area);
    return area;
}

namespace {

constexpr int sampledRows = 120;  // for measuring a column's width: long tables appear at once

}  // namespace

QTableView* makeTable(const QString& name, QAbstractItemModel* model, QWidget* parent)
{
    auto* table = new QTableView(parent);
    table->setObjectName(name);
    table->setModel(model);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    table->verticalHeader()->hide();
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 8);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setMinimumSectionSize(24);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    return table;
}

void fitColumns(QTableView& table)
{
    QHeaderView* header = table.horizontalHeader();
    header->setStretchLastSection(false);
    header->setResizeContentsPrecision(sampledRows);
    for (int column = 0; column < header->count(); ++column)
        header->setSectionResizeMode(column, column == 0 ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
}

void selectTarget(QTableView& table, const models::Target& target)
{
    const QSignalBlocker quiet(table.selectionModel());
    table.clearSelection();
    for (int row = 0; row < table.model()->rowCount(); ++row) {
        const QModelIndex index = table.model()->index(row, 0);
        if (index.data(models::TargetRole).value<models::Target>() != target) continue;
        table.selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        break;
    }
    table.viewport()->update();
}

QString copiedCells(const QAbstractItemModel& model, int row, int firstColumn, int lastColumn)
{
    QStringList cells;
    for (int column = firstColumn; column <= lastColumn; ++column) {
        const QModelIndex index = model.index(row, column);
        const QVariant copied = index.data(models::CopyRole);
        cells << (copied.isValid() ? copied : index.data()).toString();
    }
    return cells.join(u'\t');
}

QString copiedTable(const QAbstractItemModel& model)
{
    const int last = model.columnCount() - 1;
    QStringList titles;
    for (int column = 0; column <= last; ++column)
        titles << model.headerData(column, Qt::Horizontal).toString().trimmed();
    QString lines = titles.join(u'\t') + u'\n';
    for (int row = 0; row < model.rowCount(); ++row) lines += copiedCells(model, row, 0, last) + u'\n';
    return lines;
}

QString arrowRoom() { return QStringLiteral("\u2003"); }

QString link(const models::Target& target, const QString& text)
{
    using Kind = models::Target::Kind;
    QString href;
    switch (target.kind) {
    case Kind::Op: href = QStringLiteral("op:%1").arg(target.index); break;
    case Kind::Value: href = QStringLiteral("value:%1").arg(target.index); break;
    case Kind::Stage: href = QStringLiteral("stage:%1").arg(target.index); break;
    case Kind::Module: href = QStringLiteral("module:") + target.module; break;
    case Kind::None: return text.toHtmlEscaped();
    }
    return QStringLiteral("<a href=\"%1\" style=\"text-decoration:none\">%2</a>")
        .arg(href.toHtmlEscaped(), text.toHtmlEscaped());
}

models::Target targetOf(const QString& href)
{
    const QString kind = href.section(QLatin1Char(':'), 0, 0);
    const QString rest = href.section(QLatin1Char(':'), 1);
    if (kind == QLatin1String("module")) return models::Target::moduleAt(rest);
    bool number = false;
    const int index = rest.toInt(&number);
    if (!number) return {};
    if (kind == QLatin1String("op")) return models::Target::op(protocol::OpId(index));
    if (kind == QLatin1String("value")) return models::Target::value(protocol::ValueId(index));
    if (kind == QLatin1String("stage")) return models::Target::stage(protocol::StageId(index));
    return {};
}

LinkLabel::LinkLabel(const QString& name, models::Selection& selection, QWidget* parent) : QLabel(parent)
{
    setObjectName(name);
    setWordWrap(true);
    setTextFormat(Qt::RichText);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(this, &QLabel::linkActivated, &selection, [&selection](const QString& href) {
        const models::Target target = targetOf(href);
        if (target.kind != models::Target::Kind::None) selection.reveal(target);
    });
}

ElidedLabel::ElidedLabel(const QString& name, QWidget* parent) : QLabel(parent)
{
    setObjectName(name);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    setTextFormat(Qt::PlainText);
}

void ElidedLabel::setFullText(const QString& text)
{
    m_full = text;
    setAccessibleName(text);
    elide();
}

void ElidedLabel::resizeEvent(QResizeEvent* event)
{
    QLabel::resizeEvent(event);
    elide();
}

void ElidedLabel::elide()
{
    const QString shown = fontMetrics().elidedText(m_full, Qt::ElideRight, contentsRect().width());
    setToolTip(shown == m_full ? QString() : m_full);
    if (shown != text()) setText(shown);
}

}  // namespace hopscope::panels
