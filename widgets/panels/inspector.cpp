#include "panels/inspector.h"

#include <algorithm>
#include <iterator>

#include "models/labels.h"
#include "models/op_names.h"
#include "panels/flow_layout.h"
#include "panels/pin_part.h"
#include "panels/why.h"

namespace hopscope::panels {

namespace {

using models::Target;
using models::text;

constexpr int restMilliseconds = 120;
constexpr std::size_t linkLimit = 12;  // producers and consumers listed before "and N more"

QString opLink(const protocol::ModelRecord& model, protocol::OpId op)
{
    return link(Target::op(op), models::opName(model, op));
}

QString linkList(const QStringList& links)
{
    QStringList shown = links.mid(0, linkLimit);
    if (links.size() > shown.size()) shown << Inspector::tr("and %1 more").arg(links.size() - shown.size());
    return shown.join(QStringLiteral("<br>"));
}

QStringList producersOf(const protocol::ModelRecord& model, const protocol::OpRecord& op)
{
    QStringList links;
    for (const protocol::ValueId input : op.inputs) {
        const protocol::ValueRecord& value = model.values[input];
        const QString label =
            value.producer.valid() ? opLink(model, value.producer) : models::valueLabel(model, input).toHtmlEscaped();
        links << QStringLiteral("%1 <small>%2</small>").arg(label, models::shapeLabel(model, value).toHtmlEscaped());
    }
    return links;
}

QStringList consumersOf(const protocol::ModelRecord& model, const protocol::OpRecord& op)
{
    QStringList links;
    for (const protocol::ValueId output : op.outputs)
        for (const protocol::OpId consumer : model.values[output].consumers) links << opLink(model, consumer);
    links.removeDuplicates();
    return links;
}

QString hopLine(const protocol::ModelRecord& model, const Hop& hop, std::size_t number)
{
    const protocol::OpId producer = model.values[hop.value].producer;
    return Inspector::tr("%1. %2 gathers %3 from the neighbours")
        .arg(number)
        .arg(opLink(model, hop.op), opLink(model, producer));
}

QString kindOf(protocol::SourceLabel label)
{
    switch (label) {
    case protocol::SourceLabel::Embedded: return Inspector::tr("embedded in the model");
    case protocol::SourceLabel::Local: return Inspector::tr("local file");
    case protocol::SourceLabel::TorchScript: return Inspector::tr("TorchScript code");
    default: return Inspector::tr("source");
    }
}

QString sourceTitle(const protocol::SourceLines& lines)
{
    const QString kind = kindOf(lines.label), file = text(lines.file);
    return file.isEmpty() ? kind : QStringLiteral("%1:%2 · %3").arg(file).arg(lines.line).arg(kind);
}

}  // namespace

Inspector::Inspector(const Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("inspector"));
    auto* content = new QWidget(this);
    content->setObjectName(QStringLiteral("inspectorContent"));
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(12, 10, 12, 12);
    setupHeader(*layout);
    setupReasons(*layout);
    setupActions(*layout);
    setupNeighbours(*layout);
    layout->addStretch(1);
    fillWith(this, content)->setObjectName(QStringLiteral("inspectorScroll"));
    setupConnections();
    refresh();
}

void Inspector::setupHeader(QBoxLayout& layout)
{
    m_title = title(QStringLiteral("inspectorTitle"), this);
    m_path = wrapped(QStringLiteral("inspectorPath"), this);
    m_path->setProperty("muted", true);
    m_schema = wrapped(QStringLiteral("inspectorSchema"), this);
    m_schema->setAccessibleName(tr("Schema of the operator"));
    m_schema->setProperty("muted", true);
    m_facts = new QWidget(this);
    m_facts->setObjectName(QStringLiteral("inspectorFacts"));
    m_factRows = new QGridLayout(m_facts);
    m_factRows->setContentsMargins(0, 8, 0, 4);
    m_factRows->setHorizontalSpacing(14);
    m_factRows->setVerticalSpacing(4);
    m_factRows->setColumnStretch(1, 1);
    layout.addWidget(m_title);
    layout.addWidget(m_path);
    layout.addWidget(m_schema);
    layout.addWidget(m_facts);
}

void Inspector::setupReasons(QBoxLayout& layout)
{
    m_depth = new QWidget(this);
    auto* depth = new QVBoxLayout(m_depth);
    depth->setContentsMargins(0, 6, 0, 4);
    depth->setSpacing(3);
    m_depthHeading = heading({}, this);
    m_depthHeading->setObjectName(QStringLiteral("depthHeading"));
    m_depthText = wrapped(QStringLiteral("depthText"), this);
    m_hops = new LinkLabel(QStringLiteral("hops"), m_context.selection, this);
    m_hops->setAccessibleName(tr("Hops"));
    for (QWidget* part :
         {static_cast<QWidget*>(m_depthHeading), static_cast<QWidget*>(m_depthText), static_cast<QWidget*>(m_hops)})
        depth->addWidget(part);
    layout.addWidget(m_depth);
    m_cut = new QWidget(this);
    auto* cut = new QVBoxLayout(m_cut);
    cut->setContentsMargins(0, 6, 0, 4);
    cut->setSpacing(3);
    m_cutHeading = heading({}, this);
    m_cutHeading->setObjectName(QStringLiteral("cutHeading"));
    m_cutText = wrapped(QStringLiteral("cutText"), this);
    cut->addWidget(m_cutHeading);
    m_decision = wrapped(QStringLiteral("decisionText"), this);
    cut->addWidget(m_cutText);
    cut->addWidget(m_decision);
    layout.addWidget(m_cut);
}

void Inspector::setupActions(QBoxLayout& layout)
{
    const auto button = [this](const char* name, const QString& label, const QString& tip) {
        auto* made = new QPushButton(label, this);
        made->setObjectName(QString::fromLatin1(name));
        made->setToolTip(tip);
        made->setAccessibleName(label);
        return made;
    };
    m_store = button("storeHere", tr("Store here"), tr("Pin this value: always store it"));
    m_forbid = button("neverStore", tr("Never store"), tr("Pin this value: never store it"));
    m_more = button("morePins", tr("Pin…"), tr("All pins for this selection: storing, recomputation, cuts, stages"));
    m_release = button("unpin", tr("Let the strategy decide"), tr("Remove the pins of this value"));
    m_tensor = button("showTensor", tr("Show tensor"), tr("Compute this value and show its statistics and rows"));
    auto* row = new QWidget(this);
    row->setObjectName(QStringLiteral("inspectorActions"));
    auto* flow = new FlowLayout(row);
    flow->setSpacing(6);
    for (QPushButton* each : {m_store, m_forbid, m_more, m_release, m_tensor}) flow->addWidget(each);
    layout.addWidget(row);
    m_sourceBox = new QWidget(this);
    auto* source = new QVBoxLayout(m_sourceBox);
    source->setContentsMargins(0, 10, 0, 4);
    m_sourceLabel = wrapped(QStringLiteral("sourceLabel"), this);
    m_sourceLabel->setProperty("muted", true);
    m_source = new SourceView(this);
    m_source->setMinimumHeight(130);
    m_source->setMaximumHeight(220);
    source->addWidget(m_sourceLabel);
    source->addWidget(m_source);
    layout.addWidget(m_sourceBox);
}

void Inspector::setupNeighbours(QBoxLayout& layout)
{
    m_neighbours = new QWidget(this);
    auto* lists = new QVBoxLayout(m_neighbours);
    lists->setContentsMargins(0, 6, 0, 4);
    lists->setSpacing(3);
    m_producersHeading = heading(tr("Inputs"), this);
    m_producers = new LinkLabel(QStringLiteral("producers"), m_context.selection, this);
    m_producers->setAccessibleName(tr("Producers"));
    m_consumersHeading = heading(tr("Used by"), this);
    m_consumers = new LinkLabel(QStringLiteral("consumers"), m_context.selection, this);
    m_consumers->setAccessibleName(tr("Consumers"));
    for (QLabel* part :
         {m_producersHeading, static_cast<QLabel*>(m_producers), m_consumersHeading, static_cast<QLabel*>(m_consumers)})
        lists->addWidget(part);
    layout.addWidget(m_neighbours);
}

void Inspector::setupConnections()
{
    connect(&m_context.selection, &models::Selection::changed, this, &Inspector::refresh);
    connect(&m_context.document, &models::Document::modelChanged, this, &Inspector::refresh);
    connect(&m_context.document, &models::Document::planChanged, this, &Inspector::refresh);
    connect(&m_context.document, &models::Document::runsChanged, this, &Inspector::refresh);
    connect(m_store, &QPushButton::clicked, this, [this] { applyPin(base::PinKind::Checkpoint); });
    connect(m_forbid, &QPushButton::clicked, this, [this] { applyPin(base::PinKind::NoCheckpoint); });
    connect(m_more, &QPushButton::clicked, this, &Inspector::showPinMenu);
    connect(&m_context.document, &models::Document::explainedChanged, this, &Inspector::showDecision);
    // Questions asked while the engine was away have no answer.
    connect(&m_context.workbench, &jobs::Workbench::engineBack, this, &Inspector::refresh, Qt::QueuedConnection);
    connect(m_release, &QPushButton::clicked, this, [this] { m_context.workbench.unpin(m_question.value); });
    connect(m_tensor, &QPushButton::clicked, this, [this] { emit tensorWanted(m_question.value); });
    m_ask.setSingleShot(true);
    m_ask.setInterval(restMilliseconds);
    connect(&m_ask, &QTimer::timeout, this, [this] {
        askCut();
        askSource();
        if (wasDecided()) m_context.workbench.explain();
    });
}

void Inspector::setTheme(const style::Theme& theme) { m_source->setTheme(theme); }

protocol::OpId Inspector::selectedOp() const
{
    const models::ModelPtr& model = m_context.document.model();
    const Target& target = m_context.selection.current();
    if (!model) return {};
    if (model->values.contains(target.valueId())) return model->values[target.valueId()].producer;
    return model->ops.contains(target.opId()) ? target.opId() : protocol::OpId();
}

void Inspector::refresh()
{
    m_ask.stop();
    const Target& target = m_context.selection.current();
    if (const protocol::OpId op = selectedOp(); op.valid()) showOp(op);
    else if (m_context.document.model() && target.kind == Target::Kind::Module) showModule(target.module);
    else if (m_context.document.plan() && target.kind == Target::Kind::Stage) showStage(target.stageId());
    else showNothing();
}

void Inspector::setSections(bool op, bool lists)
{
    const models::ModelPtr& model = m_context.document.model();
    m_depth->setVisible(op && models::depthKnown(*model));
    m_cut->setVisible(op && model->splittable);
    m_sourceBox->setVisible(op && m_asked == selectedOp() && !m_source->document()->isEmpty());
    m_schema->setVisible(op && m_asked == selectedOp() && !m_schema->text().isEmpty());
    m_neighbours->setVisible(lists);
    if (op) return;
    for (QPushButton* button : {m_store, m_forbid, m_more, m_release, m_tensor}) button->hide();
}

void Inspector::showNothing()
{
    const models::ModelPtr& model = m_context.document.model();
    m_title->setText(model ? text(model->className) : tr("No model is open"));
    m_path->setText(model ? tr("Select an operator, a module or a stage to inspect it.")
                          : tr("Open a model to begin."));
    showFacts(model ? moduleFacts(*model, m_context.document.plan().get(), {}) : std::vector<Fact>());
    setSections(false, false);
}

void Inspector::showOp(protocol::OpId op)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    const protocol::OpRecord& record = model.ops[op];
    if (m_asked != op) m_source->setSource({}, 1, 0);
    m_title->setText(models::opName(model, op));
    m_path->setText(models::pathLabel(record));
    std::vector<Fact> facts = opFacts(model, m_context.document.plan().get(), op);
    std::ranges::move(measuredFacts(model, m_context.document.lastReport(), op), std::back_inserter(facts));
    showFacts(facts);
    showDepth(op);
    showCut(op);
    showNeighbours(op);
    setSections(true, true);
    m_ask.start();
}

void Inspector::showModule(const QString& path)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    QString type;
    for (const protocol::OpRecord& op : model.ops)
        if (text(op.module) == path) type = text(op.moduleType);
    m_title->setText(path.isEmpty() ? text(model.className) : path);
    m_path->setText(type.isEmpty() ? tr("module") : tr("module · %1").arg(type));
    std::vector<Fact> facts = moduleFacts(model, m_context.document.plan().get(), path);
    std::ranges::move(measuredFacts(model, m_context.document.lastReport(), path), std::back_inserter(facts));
    showFacts(facts);
    setSections(false, false);
}

void Inspector::showStage(protocol::StageId stage)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    const protocol::PlanRecord& plan = *m_context.document.plan();
    m_title->setText(tr("Stage %1").arg(stage.number));
    m_path->setText(tr("of %1, strategy %2").arg(plan.stages.size()).arg(QLatin1String(base::nameOf(plan.strategy))));
    showFacts(stageFacts(plan, stage));
    QStringList reads, writes;
    const auto add = [&](QStringList& links, const protocol::PlanAccess& access) {
        links << link(Target::value(access.value), models::valueLabel(model, access.value));
    };
    for (const protocol::PlanStage& each : plan.stages) {
        if (each.index != stage) continue;
        for (const protocol::PlanAccess& access : each.reads) add(reads, access);
        for (const protocol::PlanAccess& access : each.writes) add(writes, access);
    }
    reads.removeDuplicates();
    writes.removeDuplicates();
    m_producersHeading->setText(tr("Reads"));
    m_producers->setText(linkList(reads));
    m_consumersHeading->setText(tr("Writes"));
    m_consumers->setText(linkList(writes));
    setSections(false, true);
}

void Inspector::showFacts(const std::vector<Fact>& facts)
{
    while (QLayoutItem* item = m_factRows->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    int row = 0;
    for (const Fact& fact : facts) {
        QLabel* value = wrapped(QStringLiteral("fact.") + fact.name, m_facts);
        value->setText(fact.value);
        value->setAccessibleName(fact.name + QStringLiteral(": ") + fact.value);
        m_factRows->addWidget(mutedLabel(fact.name, m_facts), row, 0, Qt::AlignTop);
        m_factRows->addWidget(value, row++, 1);
    }
    m_facts->setVisible(!facts.empty());
}

void Inspector::showDepth(protocol::OpId op)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    m_depthHeading->setText(depthHeading(model.ops[op]));
    m_depthText->setText(depthReason(model, op));
    QStringList lines;
    const std::vector<Hop> hops = hopsBehind(model, op);
    for (std::size_t number = 0; number < hops.size(); ++number) lines << hopLine(model, hops[number], number + 1);
    m_hops->setText(lines.join(QStringLiteral("<br>")));
    m_hops->setVisible(!lines.isEmpty());
}

void Inspector::showCut(protocol::OpId op)
{
    const models::PlanPtr& plan = m_context.document.plan();
    m_question = cutQuestion(*m_context.document.model(), plan.get(), op);
    m_cutHeading->setText(m_question.heading);
    const bool asking = m_question.sentence.isEmpty() && !m_question.pins.empty();
    m_cutText->setText(asking ? tr("Evaluating the effect of storing it…") : m_question.sentence);
    m_cutText->setVisible(asking || !m_question.sentence.isEmpty());
    m_store->setEnabled(true);
    m_forbid->setEnabled(true);
    m_store->setVisible(m_question.can == CutQuestion::Can::Store);
    m_forbid->setVisible(m_question.can == CutQuestion::Can::Forbid);
    m_release->setVisible(m_question.pinned);
    const auto& made = m_context.document.model()->ops[op];
    m_more->setVisible(plan && !made.structureOnly && made.computes());
    showDecision();
    m_tensor->setVisible(plan && m_question.value.valid() && !m_context.document.data().isEmpty());
}

// The engine explains only such values.
bool Inspector::wasDecided() const
{
    const models::PlanPtr& plan = m_context.document.plan();
    const protocol::OpId op = selectedOp();
    if (!plan || !op.valid() || !m_question.value.valid()) return false;
    const protocol::PlanCheckpoint* stored = plan->checkpointOf(m_question.value);
    return (stored != nullptr && !stored->output) || plan->stagesOf(op).size() > 1;
}

void Inspector::showDecision()
{
    const models::ExplanationPtr& explanation = m_context.document.explained().explanation;
    m_decision->setText(explanation && selectedOp().valid() ? decisionLine(*explanation, m_question.value) : QString());
    m_decision->setVisible(!m_decision->text().isEmpty());
}

void Inspector::showPinMenu()
{
    const models::PlanPtr& plan = m_context.document.plan();
    if (!plan || !m_question.value.valid()) return;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("pinMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillPinMenu(*menu, m_context, m_question.value);
    menu->popup(m_more->mapToGlobal(QPoint(0, m_more->height())));
}

void Inspector::showNeighbours(protocol::OpId op)
{
    const protocol::ModelRecord& model = *m_context.document.model();
    const protocol::OpRecord& record = model.ops[op];
    const QStringList producers = producersOf(model, record), consumers = consumersOf(model, record);
    m_producersHeading->setText(tr("Inputs"));
    m_producersHeading->setVisible(!producers.isEmpty());
    m_producers->setVisible(!producers.isEmpty());
    m_producers->setText(linkList(producers));
    m_consumersHeading->setText(tr("Used by"));
    m_consumersHeading->setVisible(!consumers.isEmpty());
    m_consumers->setVisible(!consumers.isEmpty());
    m_consumers->setText(linkList(consumers));
}

void Inspector::askCut()
{
    if (m_question.pins.empty()) return;
    const protocol::OpId op = selectedOp();
    m_context.workbench.whatIf(m_question.pins, this, [this, op](const base::Result<protocol::PlanRecord>& answer) {
        if (op == selectedOp()) answerCut(answer);
    });
}

void Inspector::answerCut(const base::Result<protocol::PlanRecord>& answer)
{
    const models::PlanPtr& plan = m_context.document.plan();
    if (!plan || m_question.pins.empty()) return;
    QStringList sentences{m_question.sentence};
    if (answer) {
        sentences << cutAnswer(m_question, *plan, *answer);
    } else {
        sentences << tr("Not possible: %1").arg(text(answer.error().message)) << text(answer.error().hint);
    }
    sentences.removeAll(QString());
    m_store->setEnabled(answer.has_value());
    m_forbid->setEnabled(answer.has_value());
    m_cutText->setText(sentences.join(QLatin1Char(' ')));
    m_cutText->show();
}

void Inspector::askSource()
{
    const protocol::OpId op = selectedOp();
    if (!op.valid() || op == m_asked) return;
    m_context.workbench.queries().source(op, this, [this, op](const base::Result<protocol::SourceLines>& answer) {
        if (op != selectedOp()) return;
        m_asked = op;
        showSource(answer);
    });
}

void Inspector::showSource(const base::Result<protocol::SourceLines>& answer)
{
    if (!answer) return m_sourceBox->hide();
    m_schema->setText(text(answer->schema));
    m_schema->setVisible(!answer->schema.empty());
    m_sourceLabel->setText(sourceTitle(*answer));
    m_source->setSource(text(answer->text), std::max(1, answer->firstLine), answer->line);
    m_sourceBox->setVisible(!answer->text.empty());
}

void Inspector::applyPin(base::PinKind kind)
{
    if (m_context.document.model() && m_question.value.valid())
        m_context.workbench.pin({.kind = kind, .value = m_question.value});
}

Panel* makeInspector(const Context& context, QWidget* parent) { return new Inspector(context, parent); }

}  // namespace hopscope::panels
