#include "study/monitor/memory_page.h"

#include <QBoxLayout>

#include "jobs/engine_queries.h"
#include "models/labels.h"
#include "panels/parts.h"
#include "study/common/controls.h"
#include "study/monitor/memory_lanes.h"

namespace hopscope::study {

MemoryPage::MemoryPage(const panels::Context& context, QWidget* parent) : QWidget(parent), m_context(context)
{
    setObjectName(QStringLiteral("memoryPage"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 8, 0, 0);
    layout->setSpacing(8);
    setupChoice(*layout);
    setupFound(*layout);
    connectParts();
    forget();
}

void MemoryPage::setupChoice(QBoxLayout& layout)
{
    m_stage = new QComboBox(this);
    m_stage->setObjectName(QStringLiteral("memoryStage"));
    m_stage->setAccessibleName(tr("Stage"));
    m_start = button("memoryStart", tr("S&how"), tr("Show the contents of this stage's batches, step by step"), this);
    auto* cancel = button("memoryCancel", tr("&Cancel"), tr("Stop the computation"), this);
    m_inquiry = new Inquiry(m_context, QStringLiteral("memory"), tr("Progress"), m_start, cancel, this);
    auto* row = new QHBoxLayout;
    row->addWidget(m_stage, 1);
    row->addWidget(m_start);
    row->addWidget(cancel);
    layout.addLayout(row);
    m_inquiry->addLine(layout);
}

void MemoryPage::setupFound(QBoxLayout& layout)
{
    m_found = new QWidget(this);
    m_table = new QComboBox(m_found);
    m_table->setObjectName(QStringLiteral("memoryTable"));
    m_table->setAccessibleName(tr("Node type of the destinations"));
    m_tableTitle = new QLabel(tr("&Destinations"), m_found);
    m_tableTitle->setBuddy(m_table);
    m_sentence = panels::wrapped(QStringLiteral("memorySentence"), m_found);
    m_picture = new MemoryPicture;
    m_area = new QScrollArea(m_found);
    m_area->setWidget(m_picture);
    m_area->setWidgetResizable(true);
    m_area->setFrameShape(QFrame::NoFrame);
    m_area->setFocusPolicy(Qt::NoFocus);
    auto* row = new QHBoxLayout;
    row->addWidget(m_tableTitle);
    row->addWidget(m_table, 1);
    auto* column = new QVBoxLayout(m_found);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addLayout(row);
    column->addWidget(m_sentence);
    column->addWidget(m_area, 1);
    layout.addWidget(m_found, 1);
    layout.addStretch();
}

void MemoryPage::connectParts()
{
    const models::Document& document = m_context.document;
    connect(&document, &models::Document::modelChanged, this, &MemoryPage::forget);
    connect(&document, &models::Document::planChanged, this, &MemoryPage::forget);
    connect(&m_context.workbench, &jobs::Workbench::runStateChanged, this, &MemoryPage::refresh);
    connect(&m_context.workbench, &jobs::Workbench::engineLost, m_inquiry, &Inquiry::cancel);
    connect(m_inquiry, &Inquiry::changed, this, &MemoryPage::refresh);
    connect(m_inquiry, &Inquiry::finished, this, &MemoryPage::finished);
    connect(m_start, &QPushButton::clicked, this, &MemoryPage::start);
    connect(m_stage, &QComboBox::currentIndexChanged, this, [this] {
        if (!m_found->isHidden()) start();
    });
    connect(m_table, &QComboBox::currentIndexChanged, this, &MemoryPage::showLoop);
    connect(m_picture, &MemoryPicture::chosen, this, &MemoryPage::choose);
    connect(m_picture, &MemoryPicture::moved, this, [this](QRect place) {
        m_area->ensureVisible(place.center().x(), place.center().y(), place.width() / 2 + 8, place.height());
    });
    connect(&m_context.selection, &models::Selection::changed, this, &MemoryPage::follow);
}

QString MemoryPage::missing() const
{
    const models::Document& document = m_context.document;
    if (!document.model()) return tr("No model is open.");
    if (document.data().isEmpty()) return tr("Open the model with its graph to see the contents of its batches.");
    if (!document.plan()) return tr("There is no plan.");
    return m_context.workbench.running() ? tr("A run is in progress.") : QString();
}

void MemoryPage::fillStages()
{
    const QSignalBlocker quiet(m_stage);
    const int before = m_stage->currentIndex();
    m_stage->clear();
    if (const models::PlanPtr& plan = m_context.document.plan())
        for (const auto& stage : plan->stages)
            m_stage->addItem(tr("Stage %1").arg(stage.index.number), stage.index.number);
    m_stage->setCurrentIndex(before >= 0 && before < m_stage->count() ? before : m_stage->count() > 0 ? 0 : -1);
}

void MemoryPage::start()
{
    if (!missing().isEmpty() || m_stage->currentIndex() < 0) return;
    m_inquiry->forget();
    const auto answer = m_inquiry->taking([this](const auto& found) { show(found); });
    m_inquiry->begin(
        m_context.workbench.queries().stageMemory(plan::StageId(m_stage->currentData().toInt()), m_inquiry, answer),
        tr("Computing…"));
}

void MemoryPage::show(const schema::StageMemoryRecord& memory)
{
    m_memory = memory;
    {
        const QSignalBlocker quiet(m_table);
        m_table->clear();
        for (const schema::LoopMemoryRecord& loop : memory.loops) m_table->addItem(models::text(loop.label));
    }
    const bool several = memory.loops.size() > 1;
    m_table->setVisible(several);
    m_tableTitle->setVisible(several);
    m_found->show();
    showLoop();
}

void MemoryPage::showLoop()
{
    const auto at = static_cast<std::size_t>(std::max(0, m_table->currentIndex()));
    const schema::LoopMemoryRecord loop = at < m_memory.loops.size() ? m_memory.loops[at] : schema::LoopMemoryRecord{};
    m_sentence->setText(peakSentence(m_memory, loop));
    m_picture->display(loop);
    follow(m_context.selection.current());
}

// Row numbers belong to no operator.
void MemoryPage::choose(int held)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    const protocol::ValueId value = model.findValue(m_picture->loop().held[static_cast<std::size_t>(held)].value);
    if (value.valid()) m_context.selection.reveal(models::Target::value(value));
}

void MemoryPage::follow(const models::Target& target)
{
    if (!m_context.document.model() || m_found->isHidden()) return;
    const protocol::ModelRecord& model = *m_context.document.model();
    protocol::ValueId value = target.valueId();
    if (model.ops.contains(target.opId()) && !model.ops[target.opId()].outputs.empty())
        value = model.ops[target.opId()].outputs.front();
    if (model.values.contains(value)) m_picture->follow(model.values[value].id);
}

void MemoryPage::forget()
{
    fillStages();
    m_memory = {};
    m_found->hide();
    m_inquiry->forget();
    refresh();
}

void MemoryPage::refresh()
{
    const QString lacking = missing();
    m_stage->setEnabled(lacking.isEmpty());
    m_inquiry->refresh(lacking, m_found->isHidden()
                                    ? tr("Shows the contents of a batch from step to step, without running it.")
                                    : QString());
}

}  // namespace hopscope::study
