#include "panels/trade_off.h"

#include <QBoxLayout>

#include "jobs/front_search.h"
#include "panels/column_fold.h"

namespace hopscope::panels {

TradeOff::TradeOff(const Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("tradeOff"));
    QVBoxLayout* const layout = makeColumn(this, 6);
    m_state = wrapped(QStringLiteral("tradeOffState"), this);
    m_state->setProperty("muted", true);
    m_plot = new FrontPlot(this);
    m_table = makeTable(QStringLiteral("front"), &m_rows, this);
    m_table->setAccessibleName(tr("Plans that trade time for memory"));
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    layout->addWidget(heading(tr("Time against memory"), this));
    layout->addWidget(m_plot);
    layout->addWidget(m_state);
    layout->addWidget(m_table);
    layout->addStretch(1);
    fillWith(this, layout->parentWidget());
    fitColumns(*m_table);
    using models::FrontColumn;
    new ColumnFold(*m_table, {static_cast<int>(FrontColumn::Stages), static_cast<int>(FrontColumn::Host),
                              static_cast<int>(FrontColumn::Batch)});
    models::Document* document = &context.document;
    connect(document, &models::Document::frontChanged, this, &TradeOff::refresh);
    connect(document, &models::Document::planChanged, this, &TradeOff::refresh);
    connect(document, &models::Document::settingsChanged, this, &TradeOff::refresh);
    // Queued until every listener knows of the change: the search changes the document itself.
    connect(document, &models::Document::planChanged, this, &TradeOff::resume, Qt::QueuedConnection);
    connect(document, &models::Document::settingsChanged, this, &TradeOff::resume, Qt::QueuedConnection);
    connect(&context.workbench, &jobs::Workbench::engineBack, this, &TradeOff::resume, Qt::QueuedConnection);
    connect(m_plot, &FrontPlot::chosen, this, &TradeOff::use);
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) { use(index.row()); });
    connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& index) { use(index.row()); });
    refresh();
}

// A panel behind another one's tab is visible all the same, but not painted.
void TradeOff::paintEvent(QPaintEvent* event)
{
    Panel::paintEvent(event);
    if (std::exchange(m_seen, true)) return;
    QMetaObject::invokeMethod(
        this, [this] { m_context.workbench.front().want(true); }, Qt::QueuedConnection);
}

void TradeOff::resume()
{
    m_seen = !visibleRegion().isEmpty();
    m_context.workbench.front().want(m_seen);
}

QString TradeOff::stateLine() const
{
    const models::Document& document = m_context.document;
    if (!document.plan()) return tr("No plan");
    if (!document.plan()->predicted) return tr("Open the model with its graph to see time and memory.");
    if (!document.front().complete) return tr("Looking for plans that need less memory…");
    return tr("The fastest plan found for each memory limit, without pins; filled points are proven to be the best for "
              "their batch size. Click a plan to use it.");
}

void TradeOff::refresh()
{
    const models::Document& document = m_context.document;
    const bool known = document.plan() && document.plan()->predicted;
    m_state->setText(stateLine());
    std::vector<models::FrontRow> rows = known ? models::frontRows(document) : std::vector<models::FrontRow>();
    m_plot->display(rows, document.plan(), document.settings().memory);
    m_plot->setVisible(known);
    m_table->setVisible(!rows.empty());
    m_rows.setRows(std::move(rows));
    const int height = m_rows.rowCount() * m_table->verticalHeader()->defaultSectionSize();
    m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() + 2 * m_table->frameWidth() + 2 + height);
    update();
}

void TradeOff::use(int row)
{
    if (row < 0 || row >= m_rows.rowCount()) return;
    const models::FrontPoint point = m_rows.at(row).point;  // a copy: using it removes its row
    m_context.workbench.front().use(point);
}

Panel* makeTradeOff(const Context& context, QWidget* parent) { return new TradeOff(context, parent); }

}  // namespace hopscope::panels
