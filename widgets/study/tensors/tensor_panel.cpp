#include "study/tensors/tensor_panel.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QHeaderView>
#include <QShortcut>

#include "models/labels.h"
#include "study/common/controls.h"
#include "study/tensors/tensor_text.h"

namespace hopscope::study {

namespace {

using models::Target;
using models::text;

constexpr qint64 mostCopied = 2'000'000;  // cells

}  // namespace

TensorPanel::TensorPanel(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("tensor"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    setupChoice(*layout);
    layout->addWidget(setupTensor(), 1);
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    forget();
}

void TensorPanel::setupChoice(QBoxLayout& layout)
{
    m_selected = new panels::ElidedLabel(QStringLiteral("tensorSelected"), this);
    m_rows = new QComboBox(this);
    m_rows->setObjectName(QStringLiteral("tensorRows"));
    m_rows->setAccessibleName(tr("Which rows"));
    m_rows->addItem(tr("All rows"), static_cast<int>(RowChoice::All));
    m_rows->addItem(tr("Rows of nodes"), static_cast<int>(RowChoice::Nodes));
    m_rows->addItem(tr("Batch of a node"), static_cast<int>(RowChoice::Batch));
    m_nodes = field("tensorNodes", tr("Row numbers in the data, separated by commas"), this);
    m_nodes->setPlaceholderText(QStringLiteral("0, 17"));
    m_start = button("tensorStart", tr("S&how"), tr("Show the tensor of the selected value"), this);
    auto* cancel = button("tensorCancel", tr("&Cancel"), tr("Stop the computation"), this);
    m_inquiry =
        new Inquiry(m_context, QStringLiteral("tensor"), tr("Progress of the computation"), m_start, cancel, this);
    auto* row = new QHBoxLayout;
    row->addWidget(m_rows);
    row->addWidget(m_nodes, 1);
    row->addStretch(0);
    row->addWidget(m_start);
    row->addWidget(cancel);
    layout.addWidget(m_selected);
    layout.addLayout(row);
    m_inquiry->addLine(layout);
}

QWidget* TensorPanel::setupTensor()
{
    m_found = new QWidget(this);
    m_title = new panels::LinkLabel(QStringLiteral("tensorTitle"), m_context.selection, m_found);
    m_facts = panels::wrapped(QStringLiteral("tensorFacts"), m_found);
    m_numbers = panels::wrapped(QStringLiteral("tensorNumbers"), m_found);
    m_histogram = new Histogram(m_found);
    setupTable();
    m_heat = new HeatMap(m_model, *m_table, m_found);
    m_heat->setFixedWidth(120);
    auto* column = new QVBoxLayout(m_found);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    for (QWidget* each : std::initializer_list<QWidget*>{m_title, m_facts, m_numbers, m_histogram})
        column->addWidget(each);
    column->addLayout(setupTools());
    auto* rows = new QHBoxLayout;
    rows->setSpacing(4);
    rows->addWidget(m_table, 1);
    rows->addWidget(m_heat);
    column->addLayout(rows, 1);
    return m_found;
}

QBoxLayout* TensorPanel::setupTools()
{
    m_row = field("tensorRow", tr("Row to go to"), m_found);
    m_row->setPlaceholderText(tr("Go to row"));
    m_row->setMaximumWidth(140);
    m_copy = button("tensorCopy", tr("C&opy"), tr("Copy the selected cells as tab-separated text"), m_found);
    m_save = button("tensorSave", tr("Sa&ve…"), tr("Write all rows of this tensor to a .npy file"), m_found);
    auto* row = new QHBoxLayout;
    row->addWidget(m_row);
    row->addStretch(1);
    row->addWidget(m_copy);
    row->addWidget(m_save);
    return row;
}

// Heights are fixed and nothing is measured: a view that looks at rows to learn their size would fetch them.
void TensorPanel::setupTable()
{
    m_table = new QTableView(m_found);
    m_table->setObjectName(QStringLiteral("tensorTable"));
    m_table->setAccessibleName(tr("Rows of the tensor"));
    m_table->setModel(&m_model);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setCornerButtonEnabled(false);
    if (auto* corner = m_table->findChild<QAbstractButton*>()) {
        corner->setObjectName(QStringLiteral("tensorCorner"));
        corner->setAccessibleName(tr("Corner of the table"));
    }
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionMode(QAbstractItemView::ContiguousSelection);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setMinimumHeight(140);
    QHeaderView *names = m_table->verticalHeader(), *columns = m_table->horizontalHeader();
    names->setObjectName(QStringLiteral("tensorRowNames"));
    names->setAccessibleName(tr("Row numbers in the data"));
    names->setSectionResizeMode(QHeaderView::Fixed);
    names->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
    names->setHighlightSections(false);
    columns->setObjectName(QStringLiteral("tensorColumns"));
    columns->setAccessibleName(tr("Columns of the tensor"));
    columns->setSectionResizeMode(QHeaderView::Fixed);
    columns->setDefaultSectionSize(m_table->fontMetrics().horizontalAdvance(QStringLiteral("-1.2345e-08")) + 14);
    columns->setHighlightSections(false);
}

void TensorPanel::connectParts()
{
    connect(&m_context.document, &models::Document::modelChanged, this, &TensorPanel::forget);
    connect(&m_context.document, &models::Document::planChanged, this, &TensorPanel::refresh);
    connect(&m_context.workbench, &jobs::Workbench::runStateChanged, this, &TensorPanel::refresh);
    connect(&m_context.workbench, &jobs::Workbench::engineLost, this, &TensorPanel::forget);
    connect(&m_context.selection, &models::Selection::changed, this, &TensorPanel::refresh);
    connect(m_rows, &QComboBox::currentIndexChanged, this, &TensorPanel::refresh);
    connect(m_nodes, &QLineEdit::textChanged, this, &TensorPanel::refresh);
    connect(m_nodes, &QLineEdit::returnPressed, this, &TensorPanel::start);
    connect(m_start, &QPushButton::clicked, this, &TensorPanel::start);
    connect(m_inquiry, &Inquiry::changed, this, &TensorPanel::refresh);
    connect(m_inquiry, &Inquiry::finished, this, &TensorPanel::finished);
    connect(m_copy, &QPushButton::clicked, this, &TensorPanel::copy);
    connect(m_save, &QPushButton::clicked, this, &TensorPanel::saveWanted);
    connect(m_row, &QLineEdit::returnPressed, this, &TensorPanel::goTo);
    connect(&m_model, &TensorModel::rowsWanted, this, &TensorPanel::fetch);
    connect(&m_model, &TensorModel::rowsCame, m_table->viewport(), qOverload<>(&QWidget::update));
    auto* keys = new QShortcut(QKeySequence::Copy, m_table, this, &TensorPanel::copy, Qt::WidgetWithChildrenShortcut);
    keys->setObjectName(QStringLiteral("tensorCopyKeys"));
}

void TensorPanel::setTheme(const style::Theme& theme)
{
    m_model.setTheme(theme);
    m_histogram->setTheme(theme);
    m_heat->setTheme(theme);
}

void TensorPanel::choose(RowChoice rows, const QString& nodes)
{
    m_rows->setCurrentIndex(m_rows->findData(static_cast<int>(rows)));
    m_nodes->setText(nodes);
}

protocol::ValueId TensorPanel::selectedValue() const
{
    const models::ModelPtr& model = m_context.document.model();
    if (!model) return {};
    const Target& target = m_context.selection.current();
    if (model->values.contains(target.valueId())) return target.valueId();
    if (!model->ops.contains(target.opId())) return {};
    const protocol::OpRecord& op = model->ops[target.opId()];
    if (!op.outputs.empty()) return op.outputs.front();
    return op.kind == protocol::NodeKind::Output && !op.inputs.empty() ? op.inputs.front() : protocol::ValueId();
}

QString TensorPanel::missing() const
{
    const models::Document& document = m_context.document;
    if (!document.model()) return tr("No model is open.");
    if (document.data().isEmpty()) return tr("Open the model with its graph to look at its tensors.");
    if (!document.plan()) return tr("There is no plan to run.");
    if (m_context.workbench.running()) return tr("A run is in progress.");
    if (!selectedValue().valid()) return tr("Select an operator or a value in the graph.");
    if (rows() == RowChoice::Nodes && rowNumbers(m_nodes->text()).empty())
        return tr("Enter row numbers of nodes, such as 0, 17.");
    if (rows() == RowChoice::Batch && rowNumbers(m_nodes->text()).size() != 1)
        return tr("Enter the row number of a node, such as 17.");
    return {};
}

void TensorPanel::start()
{
    if (busy() || !missing().isEmpty()) return;
    jobs::TensorQuestion question{.value = text(m_context.document.model()->values[selectedValue()].id)};
    if (rows() == RowChoice::Nodes) question.nodes = rowNumbers(m_nodes->text());
    if (rows() == RowChoice::Batch) question.batchOf = rowNumbers(m_nodes->text()).front();
    const auto answer = m_inquiry->taking([this](const auto& found) { show(found); });
    m_inquiry->begin(m_context.workbench.queries().tensor(question, m_inquiry, answer), tr("Running the plan…"));
}

void TensorPanel::showStopped()
{
    m_inquiry->cancel();
    const auto answer = m_inquiry->taking([this](const auto& found) { show(found); });
    m_inquiry->begin(m_context.workbench.queries().stoppedTensor(m_inquiry, answer), tr("Fetching the result…"));
}

void TensorPanel::show(const schema::TensorSummary& found)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_tensor = found;
    const protocol::ValueId value = found.place.value;
    const bool known = model.values.contains(value);
    const QString name = known ? models::valueLabel(model, value) : text(found.place.name);
    m_title->setText(
        QStringLiteral("<b>%1</b>").arg(known ? panels::link(Target::value(value), name) : name.toHtmlEscaped()));
    m_facts->setText(tensorFacts(found));
    m_numbers->setText(tensorNumbers(found.statistics));
    m_histogram->display(found.statistics);
    m_histogram->setVisible(!found.statistics.histogram.empty());
    m_heat->setRange(found.statistics.least.value_or(0), found.statistics.most.value_or(0));
    m_model.setTensor(&*m_tensor);
    m_table->verticalHeader()->setFixedWidth(m_table->fontMetrics().horizontalAdvance(QStringLiteral("000000")) + 16);
    m_table->scrollToTop();
    m_found->show();
}

void TensorPanel::fetch(qint64 begin, qint64 end)
{
    if (!m_tensor || !m_tensor->tensor) return;
    const std::int64_t tensor = *m_tensor->tensor;
    m_context.workbench.queries().tensorRows(tensor, begin, end, this,
                                             [this, tensor, begin](const auto& rows) { came(tensor, begin, rows); });
}

void TensorPanel::came(std::int64_t tensor, qint64 begin, const base::Result<protocol::NumberRows>& rows)
{
    if (!m_tensor || m_tensor->tensor != tensor) return;
    if (rows) {
        m_model.give(*rows);
        return widenNames();
    }
    m_model.failed(begin);
    say(models::sentence(rows.error().message));
}

// Row names get longer further down; the width never shrinks, so nothing moves back and forth.
void TensorPanel::widenNames()
{
    const int first = m_table->rowAt(0), last = m_table->rowAt(m_table->viewport()->height() - 1);
    int width = m_table->verticalHeader()->width();
    for (const int row : {first, last < 0 ? m_model.rowCount() - 1 : last})
        if (row >= 0) width = std::max(width, m_table->fontMetrics().horizontalAdvance(m_model.rowName(row)) + 16);
    if (width > m_table->verticalHeader()->width()) m_table->verticalHeader()->setFixedWidth(width);
}

// In a batch of destinations rows begin with the first of them.
void TensorPanel::goTo()
{
    bool fine = false;
    const qint64 number = m_row->text().trimmed().toLongLong(&fine);
    if (!fine || !m_tensor) return say(tr("A row is a number, such as 17."));
    const auto& batch = m_tensor->batch;
    const bool destinations = batch && batch->destinations == m_tensor->count;
    const int row = m_model.find(number, destinations ? number - batch->firstDestination : number);
    if (row < 0) return say(tr("There is no such row."));
    const QModelIndex index = m_model.index(row, 0);
    m_table->setCurrentIndex(index);
    m_table->scrollTo(index, QAbstractItemView::PositionAtTop);
    m_table->setFocus();
}

void TensorPanel::copy()
{
    const QItemSelection selected = m_table->selectionModel()->selection();
    if (selected.isEmpty()) return say(tr("Select cells to copy, or press Ctrl+A for all."));
    const QItemSelectionRange& range = selected.first();
    if (static_cast<qint64>(range.height()) * range.width() > mostCopied)
        return say(tr("Too many cells are selected: save the tensor to a file."));
    QString lines;
    bool whole = true;
    for (int row = range.top(); row <= range.bottom(); ++row) {
        const bool seen = m_model.rowNumbers(row) != nullptr;
        whole = whole && seen;
        if (!seen) continue;
        lines += m_model.rowName(row) + u'\t' + panels::copiedCells(m_model, row, range.left(), range.right()) + u'\n';
    }
    QApplication::clipboard()->setText(lines);
    say(whole ? tr("Copied.") : tr("Copied the rows that were loaded so far: save the tensor to a file for all rows."));
}

void TensorPanel::saveTo(const QString& file)
{
    if (!m_tensor || !m_tensor->tensor) return;
    m_context.workbench.queries().saveTensor(
        *m_tensor->tensor, file, this, [this, file](const base::Result<json::Value>& saved) {
            say(saved ? tr("Written to %1.").arg(file) : models::sentence(saved.error().message));
        });
}

void TensorPanel::say(const QString& sentence) { m_inquiry->say(sentence); }

void TensorPanel::forget()
{
    m_tensor.reset();
    m_model.setTensor(nullptr);
    m_found->hide();
    m_inquiry->forget();
}

void TensorPanel::refresh()
{
    const models::ModelPtr& model = m_context.document.model();
    const protocol::ValueId value = selectedValue();
    m_selected->setVisible(value.valid());
    if (value.valid()) m_selected->setFullText(tr("Selected: %1").arg(models::valueLabel(*model, value)));
    m_nodes->setVisible(rows() != RowChoice::All);
    m_inquiry->refresh(
        missing(), m_tensor
                       ? QString()
                       : tr("Runs the plan up to this value, one operator at a time; inputs and weights need no run."));
}

panels::Panel* makeTensor(const panels::Context& context, QWidget* parent) { return new TensorPanel(context, parent); }

}  // namespace hopscope::study
