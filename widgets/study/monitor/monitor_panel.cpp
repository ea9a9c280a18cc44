#include "study/monitor/monitor_panel.h"

#include <QBoxLayout>
#include <QScrollArea>

namespace hopscope::study {

MonitorPanel::MonitorPanel(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("monitor"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    setupRuns(*layout);
    m_tabs = new QTabWidget(layout->parentWidget());
    m_tabs->setObjectName(QStringLiteral("monitorTabs"));
    layout->addWidget(m_tabs, 1);
    m_table = new OperatorTable(m_context.selection, m_tabs);
    addPage(tr("Operators"), m_table);
    addPage(tr("Flame"), setupFlame());
    m_memory = new MemoryPage(m_context, m_tabs);
    m_tabs->addTab(m_memory, tr("Memory"));
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    fillRuns();
}

void MonitorPanel::setupRuns(QBoxLayout& layout)
{
    m_runRow = new QWidget(this);
    m_runs = new QComboBox(m_runRow);
    m_runs->setObjectName(QStringLiteral("monitorRuns"));
    m_runs->setAccessibleName(tr("Run"));
    m_runs->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_runs->setMinimumContentsLength(16);
    auto* title = new QLabel(tr("&Run"), m_runRow);
    title->setBuddy(m_runs);
    auto* row = new QHBoxLayout(m_runRow);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(title);
    row->addWidget(m_runs, 1);
    layout.addWidget(m_runRow);
}

void MonitorPanel::addPage(const QString& title, QWidget* content)
{
    auto* page = new QWidget(m_tabs);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    QLabel* sentence = panels::wrapped(QStringLiteral("monitorMissing%1").arg(m_pages.size()), page);
    sentence->setContentsMargins(0, 8, 0, 0);
    sentence->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    column->addWidget(sentence);
    column->addWidget(content, 1);
    column->addStretch(0);
    m_tabs->addTab(page, title);
    m_pages.push_back({content, sentence});
}

QWidget* MonitorPanel::setupFlame()
{
    auto* all = new QWidget(m_tabs);
    m_flame = new FlameView(all);
    QScrollArea* area = panels::scrolled(m_flame, all);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
    area->setMinimumHeight(140);
    QLabel* frame = panels::wrapped(QStringLiteral("monitorFrame"), all);
    QLabel* keys = panels::mutedLabel(
        tr("A click or Space selects in the graph, a double click or Enter zooms in, Esc zooms out."), all);
    keys->setObjectName(QStringLiteral("monitorKeys"));
    keys->setWordWrap(true);
    auto* column = new QVBoxLayout(all);
    column->setContentsMargins(0, 8, 0, 0);
    column->addWidget(area, 1);
    column->addWidget(frame);
    column->addWidget(keys);
    connect(m_flame, &FlameView::moved, area, [this, area, frame](const QRect& place) {
        area->ensureVisible(0, place.center().y(), 0, place.height());
        frame->setText(m_flame->profile().sentence(m_flame->current()));
    });
    return all;
}

void MonitorPanel::connectParts()
{
    connect(&m_context.document, &models::Document::modelChanged, this, &MonitorPanel::fillRuns);
    connect(&m_context.document, &models::Document::runsChanged, this, &MonitorPanel::fillRuns);
    connect(&m_context.selection, &models::Selection::changed, this, &MonitorPanel::follow);
    connect(m_runs, &QComboBox::currentIndexChanged, this, &MonitorPanel::refresh);
    connect(m_flame, &FlameView::chosen, &m_context.selection, &models::Selection::reveal);
}

void MonitorPanel::setTheme(const style::Theme& theme)
{
    m_table->setTheme(theme);
    m_flame->setTheme(theme);
    m_memory->setTheme(theme);
}

// The newest run is selected.
void MonitorPanel::fillRuns()
{
    {
        const QSignalBlocker quiet(m_runs);
        m_runs->clear();
        for (const models::FinishedRun& run : m_context.document.runs()) m_runs->addItem(run.title);
        m_runs->setCurrentIndex(m_runs->count() - 1);
    }
    m_runRow->setVisible(m_runs->count() > 1);
    refresh();
}

const schema::Report* MonitorPanel::report() const
{
    const auto& runs = m_context.document.runs();
    const auto at = static_cast<std::size_t>(m_runs->currentIndex());
    return m_runs->currentIndex() >= 0 && at < runs.size() ? runs[at].report.get() : nullptr;
}

QString MonitorPanel::missing() const
{
    if (!m_context.document.model()) return tr("No model is open.");
    const schema::Report* shown = report();
    if (shown == nullptr) return tr("Run the model to see the times of its operators.");
    if (RunProfile::measured(*shown)) return {};
    if (shown->device != "cpu")
        return tr("A GPU executes operators asynchronously, so their times are not known: run the model on the CPU to "
                  "see them.");
    return tr("This report does not contain the times of operators: run the model again to see them.");
}

void MonitorPanel::refresh()
{
    const QString sentence = missing();
    for (const Page& page : m_pages) {
        page.sentence->setText(sentence);
        page.sentence->setVisible(!sentence.isEmpty());
        page.content->setVisible(sentence.isEmpty());
    }
    const RunProfile profile = sentence.isEmpty() ? RunProfile(*m_context.document.model(), *report()) : RunProfile();
    m_table->display(profile);
    m_flame->display(profile);
    follow(m_context.selection.current());
}

// A value is what its operator makes.
void MonitorPanel::follow(const models::Target& target)
{
    const models::ModelPtr& model = m_context.document.model();
    if (!model || !missing().isEmpty()) return;
    const bool value = model->values.contains(target.valueId()) && model->values[target.valueId()].producer.valid();
    const models::Target shown = value ? models::Target::op(model->values[target.valueId()].producer) : target;
    m_table->follow(shown);
    m_flame->follow(shown);
}

panels::Panel* makeMonitor(const panels::Context& context, QWidget* parent)
{
    return new MonitorPanel(context, parent);
}

}  // namespace hopscope::study
