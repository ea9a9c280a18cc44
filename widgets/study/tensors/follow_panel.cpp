#include "study/tensors/follow_panel.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QShortcut>

#include "models/labels.h"
#include "models/op_names.h"
#include "panels/column_fold.h"
#include "study/common/controls.h"

namespace hopscope::study {

using models::text;

FollowPanel::FollowPanel(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("follow"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    setupChoice(*layout);
    layout->addWidget(setupFound(), 1);
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    connectTables();
    forget();
}

void FollowPanel::setupChoice(QBoxLayout& layout)
{
    m_node = field("followNode", tr("Row number of the node in the data"), this);
    m_node->setPlaceholderText(QStringLiteral("17"));
    auto* title = new QLabel(tr("&Node"), this);
    title->setBuddy(m_node);
    m_start = button("followStart", tr("Foll&ow"), tr("Run the plan and show the rows of this node"), this);
    auto* cancel = button("followCancel", tr("&Cancel"), tr("Stop the computation"), this);
    m_inquiry = new Inquiry(m_context, QStringLiteral("follow"), tr("Progress of the run"), m_start, cancel, this);
    auto* row = new QHBoxLayout;
    row->addWidget(title);
    row->addWidget(m_node, 1);
    row->addWidget(m_start);
    row->addWidget(cancel);
    layout.addLayout(row);
    m_inquiry->addLine(layout);
}

QTableView* FollowPanel::addTable(const char* name, const QString& title, QAbstractItemModel& model,
                                  QSortFilterProxyModel& order)
{
    order.setSourceModel(&model);
    order.setSortRole(models::SortRole);
    QTableView* table = panels::makeTable(QLatin1String(name), &order, m_found);
    table->setAccessibleName(title);
    table->setSortingEnabled(true);
    table->setItemDelegate(&m_painter);
    table->setMinimumHeight(110);
    auto* keys = new QShortcut(QKeySequence::Copy, table, this, &FollowPanel::copy, Qt::WidgetWithChildrenShortcut);
    keys->setObjectName(QLatin1String(name) + QStringLiteral("Copy"));
    return table;
}

QWidget* FollowPanel::setupFound()
{
    m_found = new QWidget(this);
    m_copy =
        button("followCopy", tr("Co&py"),
               tr("Copy the table of rows as tab-separated text. Ctrl+C copies the table that has the focus"), m_found);
    m_next = button("followNext", tr("Follow Nei&ghbour"), tr("Follow the neighbour of the selected message"), m_found);
    m_rowTable = addTable("followRows", tr("Rows of the node"), m_rows, m_rowOrder);
    m_rowTable->horizontalHeader()->setSortIndicator(static_cast<int>(FollowColumn::Stage), Qt::AscendingOrder);
    m_neighbourTable = addTable("followMessages", tr("Messages into the node"), m_neighbours, m_neighbourOrder);
    m_neighbourTable->horizontalHeader()->setSortIndicator(static_cast<int>(NeighbourColumn::Share),
                                                           Qt::DescendingOrder);
    m_aggregation = new QComboBox(m_found);
    m_aggregation->setObjectName(QStringLiteral("followAggregation"));
    m_aggregation->setAccessibleName(tr("Aggregation"));
    m_aggregation->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_aggregation->setMinimumContentsLength(16);
    m_messages = panels::wrapped(QStringLiteral("followSentence"), m_found);
    auto* column = new QVBoxLayout(m_found);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto* above = new QHBoxLayout;
    above->addWidget(panels::heading(tr("Its rows in the stored values"), m_found), 1);
    above->addWidget(m_copy);
    auto* between = new QHBoxLayout;
    between->addWidget(panels::heading(tr("Messages into it at"), m_found));
    between->addWidget(m_aggregation, 1);
    between->addWidget(m_next);
    column->addLayout(above);
    column->addWidget(m_rowTable, 3);
    column->addLayout(between);
    column->addWidget(m_messages);
    column->addWidget(m_neighbourTable, 2);
    return m_found;
}

void FollowPanel::connectParts()
{
    models::Document& document = m_context.document;
    connect(&document, &models::Document::modelChanged, this, &FollowPanel::forget);
    connect(&document, &models::Document::planChanged, this, &FollowPanel::refresh);
    connect(&m_context.workbench, &jobs::Workbench::runStateChanged, this, &FollowPanel::refresh);
    connect(&m_context.workbench, &jobs::Workbench::engineLost, m_inquiry, &Inquiry::cancel);
    connect(m_inquiry, &Inquiry::changed, this, &FollowPanel::refresh);
    connect(m_inquiry, &Inquiry::finished, this, &FollowPanel::finished);
    connect(m_node, &QLineEdit::textChanged, this, [this] { m_inquiry->say({}); });
    connect(m_node, &QLineEdit::returnPressed, this, &FollowPanel::start);
    connect(m_start, &QPushButton::clicked, this, &FollowPanel::start);
    connect(m_copy, &QPushButton::clicked, this, &FollowPanel::copy);
    connect(m_next, &QPushButton::clicked, this, &FollowPanel::followNeighbour);
    connect(m_aggregation, &QComboBox::currentIndexChanged, this, &FollowPanel::showMessages);
    connect(&m_context.selection, &models::Selection::changed, this, &FollowPanel::showSelected);
}

void FollowPanel::connectTables()
{
    connect(m_rowTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& row) {
                const QVariant target = row.data(models::TargetRole);
                if (target.isValid() && target.value<models::Target>() != m_context.selection.current())
                    m_context.selection.reveal(target.value<models::Target>());
            });
    connect(m_neighbourTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FollowPanel::refresh);
    connect(m_neighbourTable, &QTableView::activated, this, &FollowPanel::followNeighbour);
    using enum FollowColumn;
    new panels::ColumnFold(*m_rowTable, {static_cast<int>(Most), static_cast<int>(Least), static_cast<int>(Norm)});
    new panels::ColumnFold(*m_neighbourTable, {static_cast<int>(NeighbourColumn::Norm)});
}

void FollowPanel::setTheme(const style::Theme& theme)
{
    m_painter.setTheme(theme);
    for (QTableView* table : {m_rowTable, m_neighbourTable}) table->viewport()->update();
}

std::optional<qint64> FollowPanel::node() const
{
    bool fine = false;
    const qint64 number = m_node->text().trimmed().toLongLong(&fine);
    return fine && number >= 0 ? std::optional(number) : std::nullopt;
}

QString FollowPanel::missing() const
{
    const models::Document& document = m_context.document;
    if (!document.model()) return tr("No model is open.");
    if (document.data().isEmpty()) return tr("Open the model with its graph to follow one of its nodes.");
    if (!document.plan()) return tr("There is no plan to run.");
    if (m_context.workbench.running()) return tr("A run is in progress.");
    if (!node()) return tr("Enter the row number of a node, such as 17.");
    const auto most = mostNodes(*document.model(), *document.plan());
    if (most && *node() >= *most)
        return tr("There is no such node: the last one is %1.")
            .arg(models::formatCount(static_cast<double>(*most - 1)));
    return {};
}

QString FollowPanel::idle() const
{
    if (!m_followed) return tr("Runs the plan one operator at a time, and keeps the rows of this node.");
    const models::PlanPtr& plan = m_context.document.plan();
    const QString shown = tr("Node %1.").arg(*m_followed);
    if (!plan || !m_plan || plan == m_plan || protocol::sameCuts(*plan, *m_plan)) return shown;
    return shown + u' ' + tr("The plan has changed: follow the node again to see the values that are stored now.");
}

void FollowPanel::follow(qint64 node)
{
    m_node->setText(QString::number(node));
    start();
}

void FollowPanel::start()
{
    if (busy() || !missing().isEmpty()) return;
    m_plan = m_context.document.plan();
    const FollowPlaces places = placesToFollow(*m_context.document.model(), *m_plan);
    const auto answer = m_inquiry->taking([this, node = *node()](const auto& found) {
        m_followed = node;
        show(found);
    });
    m_inquiry->begin(
        m_context.workbench.queries().watch(
            {.nodes = {*node()}, .values = places.values, .aggregations = places.aggregations}, m_inquiry, answer),
        tr("Running the plan…"));
}

void FollowPanel::show(const schema::WatchReport& found)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_rows.setRows(followedRows(model, *m_plan, found));
    QSet<QString> tables;
    for (const FollowedRow& row : m_rows.rows()) tables.insert(row.table);
    m_rowTable->setColumnHidden(static_cast<int>(FollowColumn::Table), tables.size() < 2);
    m_aggregations = found.aggregations;
    const bool chosen = fillAggregations();
    m_found->show();
    panels::fitColumns(*m_rowTable);
    QHeaderView* header = m_rowTable->horizontalHeader();
    for (const FollowColumn column : {FollowColumn::Value, FollowColumn::Numbers})
        header->setSectionResizeMode(static_cast<int>(column), QHeaderView::Stretch);
    // A short table leaves its room to the messages.
    const int lines = m_rows.rowCount() + 2;
    m_rowTable->setMaximumHeight(lines <= 14 ? lines * m_rowTable->verticalHeader()->defaultSectionSize() + 8
                                             : QWIDGETSIZE_MAX);
    if (!chosen) showSelected();
}

// Fills the list and shows the previous aggregation again; returns false if it is no longer in the list.
bool FollowPanel::fillAggregations()
{
    const protocol::ModelRecord& model = *m_context.document.model();
    const QString before = m_aggregation->currentData().toString();
    int again = -1;
    {
        const QSignalBlocker quiet(m_aggregation);
        m_aggregation->clear();
        for (const schema::AggregationRecord& each : m_aggregations) {
            const protocol::OpId op = model.findOp(each.place.op);
            const bool known = op.valid() && !model.ops[op].outputs.empty();
            m_aggregation->addItem(known ? models::opName(model, op) : text(each.place.name),
                                   text(ir::opName(each.place.op)));
        }
        again = before.isEmpty() ? -1 : m_aggregation->findData(before);
        m_aggregation->setCurrentIndex(std::max(0, again));
    }
    showMessages();
    return again >= 0;
}

void FollowPanel::showMessages()
{
    const int at = m_aggregation->currentIndex();
    const bool any = at >= 0 && at < static_cast<int>(m_aggregations.size());
    m_aggregation->setEnabled(any);
    m_aggregation->setToolTip(m_aggregation->currentText());
    m_neighbourTable->setVisible(any);
    m_next->setVisible(any);
    if (!any) {
        m_neighbours.setRows({});
        m_messages->setText(tr("No message reaches this node at any aggregation."));
        return refresh();
    }
    const schema::AggregationRecord& shown = m_aggregations[static_cast<std::size_t>(at)];
    const auto listed = static_cast<std::int64_t>(shown.contributions.size());
    m_neighbours.setRows(neighbourRows(shown));
    m_messages->setText(listed < shown.messages
                            ? tr("%1 messages; the %2 largest are listed.")
                                  .arg(models::formatCount(static_cast<double>(shown.messages)))
                                  .arg(listed)
                            : (shown.messages == 1 ? tr("%1 message.") : tr("%1 messages, the largest first."))
                                  .arg(models::formatCount(static_cast<double>(shown.messages))));
    QHeaderView* header = m_neighbourTable->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(static_cast<int>(NeighbourColumn::Share), QHeaderView::Stretch);
    refresh();
}

// Shows the aggregation that is selected in another panel.
void FollowPanel::showSelected()
{
    if (!m_followed || !m_context.document.model()) return;
    const models::Target& target = m_context.selection.current();
    const protocol::ModelRecord& model = *m_context.document.model();
    protocol::OpId op = target.opId();
    if (model.values.contains(target.valueId())) op = model.values[target.valueId()].producer;
    if (!model.ops.contains(op)) return;
    const int at = m_aggregation->findData(text(model.ops[op].id));
    if (at >= 0) m_aggregation->setCurrentIndex(at);
    if (!model.ops[op].outputs.empty())
        panels::selectTarget(*m_rowTable, models::Target::value(model.ops[op].outputs.front()));
}

void FollowPanel::followNeighbour()
{
    const QModelIndex row = m_neighbourOrder.mapToSource(m_neighbourTable->currentIndex());
    if (!row.isValid() || busy()) return;
    if (const auto& neighbour = m_neighbours.at(row.row()).neighbour) follow(*neighbour);
}

void FollowPanel::copy()
{
    QApplication::clipboard()->setText(panels::copiedTable(
        m_neighbourTable->hasFocus() ? static_cast<const QAbstractItemModel&>(m_neighbourOrder) : m_rowOrder));
    m_inquiry->say(tr("Copied."));
}

void FollowPanel::forget()
{
    m_followed.reset();
    m_plan.reset();
    m_aggregations.clear();
    m_rows.setRows({});
    m_neighbours.setRows({});
    m_found->hide();
    m_inquiry->forget();
}

void FollowPanel::refresh()
{
    m_inquiry->refresh(missing(), idle());
    const QModelIndex row = m_neighbourOrder.mapToSource(m_neighbourTable->currentIndex());
    m_next->setEnabled(!busy() && row.isValid() && m_neighbours.at(row.row()).neighbour.has_value());
}

panels::Panel* makeFollow(const panels::Context& context, QWidget* parent) { return new FollowPanel(context, parent); }

}  // namespace hopscope::study
