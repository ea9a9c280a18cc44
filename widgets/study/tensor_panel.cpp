#include "study/tensor_panel.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QHeaderView>
#include <QShortcut>

#include "models/labels.h"
#include "study/tensor_text.h"

namespace hopscope::study {

namespace {

using models::Target;
using models::text;

constexpr qint64 mostCopied = 2'000'000;  // cells

QLineEdit* field(const char* name, const QString& title, QWidget* parent)
{
    auto* edit = new QLineEdit(parent);
    edit->setObjectName(QLatin1String(name));
    edit->setAccessibleName(title);
    edit->setToolTip(title);
    return edit;
}

QPushButton* button(const char* name, const QString& title, const QString& tip, QWidget* parent)
{
    auto* made = new QPushButton(title, parent);
    made->setObjectName(QLatin1String(name));
    made->setAccessibleName(QString(title).remove(u'&').remove(u'…'));
    made->setToolTip(tip);
    made->setAutoDefault(false);
    return made;
}

}  // namespace

TensorPanel::TensorPanel(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("tensor"));
    auto* content = new QWidget(this);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(12, 10, 12, 12);
    layout->setSpacing(8);
    setupChoice(*layout);
    layout->addWidget(setupTensor(), 1);
    panels::fillWith(this, content);
    connectParts();
    forget();
}

TensorPanel::~TensorPanel()
{
    if (m_request != 0) m_context.workbench.queries().cancel(m_request);
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
    m_start->setProperty("primary", true);
    m_cancel = button("tensorCancel", tr("&Cancel"), tr("Give it up"), this);
    auto* row = new QHBoxLayout;
    row->addWidget(m_rows);
    row->addWidget(m_nodes, 1);
    row->addStretch(0);
    row->addWidget(m_start);
    row->addWidget(m_cancel);
    m_state = panels::wrapped(QStringLiteral("tensorState"), this);
    m_state->setProperty("muted", true);
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("tensorProgress"));
    m_progress->setAccessibleName(tr("Progress of the tensor"));
    m_progress->setTextVisible(false);
    m_progress->setRange(0, 0);
    layout.addWidget(m_selected);
    layout.addLayout(row);
    layout.addWidget(m_state);
    layout.addWidget(m_progress);
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
    m_copy = button("tensorCopy", tr("C&opy"), tr("Copy the selected cells, with tabs between them"), m_found);
    m_save = button("tensorSave", tr("Sa&ve…"), tr("Write all of it to a .npy file"), m_found);
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
    connect(m_cancel, &QPushButton::clicked, this, &TensorPanel::cancel);
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

// Empty where one of them is no number.
std::vector<std::int64_t> TensorPanel::nodes() const
{
    std::vector<std::int64_t> numbers;
    for (const QString& each : m_nodes->text().split(u',', Qt::SkipEmptyParts)) {
        bool fine = false;
        numbers.push_back(each.trimmed().toLongLong(&fine));
        if (!fine || numbers.back() < 0) return {};
    }
    return numbers;
}

QString TensorPanel::missing() const
{
    const models::Document& document = m_context.document;
    if (!document.model()) return tr("Nothing is open.");
    if (document.data().isEmpty()) return tr("Open the model with its graph to look at its tensors.");
    if (!document.plan()) return tr("There is no plan to run.");
    if (m_context.workbench.running()) return tr("A run is under way.");
    if (!selectedValue().valid()) return tr("Select an operator or a value in the graph.");
    if (rows() == RowChoice::Nodes && nodes().empty()) return tr("Name the nodes by their row numbers, such as 0, 17.");
    if (rows() == RowChoice::Batch && nodes().size() != 1) return tr("Name one node by its row number, such as 17.");
    return {};
}

void TensorPanel::start()
{
    if (busy() || !missing().isEmpty()) return;
    m_said.clear();
    jobs::TensorQuestion question{.value = text(m_context.document.model()->values[selectedValue()].id)};
    if (rows() == RowChoice::Nodes) question.nodes = nodes();
    if (rows() == RowChoice::Batch) question.batchOf = nodes().front();
    ++m_number;
    m_request = m_context.workbench.queries().tensor(
        question, this, [this, number = m_number](const auto& found) { answered(number, found); });
    refresh();
}

void TensorPanel::showStopped()
{
    cancel();
    m_said.clear();
    ++m_number;
    m_request = m_context.workbench.queries().stoppedTensor(
        this, [this, number = m_number](const auto& found) { answered(number, found); });
    refresh();
}

void TensorPanel::answered(std::int64_t number, const base::Result<schema::TensorSummary>& found)
{
    if (number != m_number) return;
    m_request = 0;
    if (found) {
        show(*found);
    } else {
        m_said = models::sentence(found.error().message);
        if (!found.error().hint.empty()) m_said += u' ' + models::sentence(found.error().hint);
    }
    refresh();
    emit finished();
}

void TensorPanel::show(const schema::TensorSummary& found)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_tensor = found;
    const protocol::ValueId value = model.findValue(found.place.value);
    const QString name = value.valid() ? models::valueLabel(model, value) : text(found.place.name);
    m_title->setText(QStringLiteral("<b>%1</b>")
                         .arg(value.valid() ? panels::link(Target::value(value), name) : name.toHtmlEscaped()));
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

// Names grow longer on the way down; they never shrink again, so that nothing moves back and forth.
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
    qint64 row = m_row->text().trimmed().toLongLong(&fine);
    if (!fine || !m_tensor) return say(tr("A row is a number, such as 17."));
    const auto& batch = m_tensor->batch;
    if (batch && batch->destinations == m_tensor->count) row -= batch->firstDestination;
    if (row < 0 || row >= m_model.rowCount()) return say(tr("There is no such row."));
    const QModelIndex index = m_model.index(static_cast<int>(row), 0);
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
        return say(tr("These are too many cells to copy: save the tensor to a file."));
    QString lines;
    bool whole = true;
    for (int row = range.top(); row <= range.bottom(); ++row) {
        const double* numbers = m_model.rowNumbers(row);
        whole = whole && numbers != nullptr;
        if (numbers == nullptr) continue;
        lines += m_model.rowName(row);
        for (int column = range.left(); column <= range.right(); ++column)
            lines += u'\t' + QString::number(numbers[column], 'g', 9);
        lines += u'\n';
    }
    QApplication::clipboard()->setText(lines);
    say(whole ? tr("Copied.") : tr("Copied what has been seen so far: save the tensor to a file for all rows."));
}

void TensorPanel::saveTo(const QString& file)
{
    if (!m_tensor || !m_tensor->tensor) return;
    m_context.workbench.queries().saveTensor(
        *m_tensor->tensor, file, this, [this, file](const base::Result<json::Value>& saved) {
            say(saved ? tr("Written to %1.").arg(file) : models::sentence(saved.error().message));
        });
}

void TensorPanel::say(const QString& sentence)
{
    m_said = sentence;
    refresh();
}

void TensorPanel::cancel()
{
    if (m_request == 0) return;
    m_context.workbench.queries().cancel(std::exchange(m_request, 0));
    ++m_number;
    say(tr("Cancelled."));
}

void TensorPanel::forget()
{
    cancel();
    m_said.clear();
    m_tensor.reset();
    m_model.setTensor(nullptr);
    m_found->hide();
    refresh();
}

void TensorPanel::refresh()
{
    const models::ModelPtr& model = m_context.document.model();
    const protocol::ValueId value = selectedValue();
    const QString lacking = missing();
    m_selected->setVisible(value.valid());
    if (value.valid()) m_selected->setFullText(tr("Selected: %1").arg(models::valueLabel(*model, value)));
    m_nodes->setVisible(rows() != RowChoice::All);
    m_start->setEnabled(!busy() && lacking.isEmpty());
    m_cancel->setVisible(busy());
    m_progress->setVisible(busy());
    const QString idle = m_tensor ? QString() : tr("Runs the plan up to this value, every operator by itself.");
    m_state->setText(busy() ? m_context.workbench.running() ? tr("Fetching the result…") : tr("Running the plan…")
                     : !m_said.isEmpty() ? m_said
                     : lacking.isEmpty() ? idle
                                         : lacking);
    m_state->setVisible(!m_state->text().isEmpty());
}

panels::Panel* makeTensor(const panels::Context& context, QWidget* parent) { return new TensorPanel(context, parent); }

}  // namespace hopscope::study
