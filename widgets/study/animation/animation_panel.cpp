#include "study/animation/animation_panel.h"

#include <QBoxLayout>
#include <algorithm>
#include <limits>

#include "models/labels.h"
#include "models/problem_model.h"
#include "panels/flow_layout.h"
#include "study/animation/animation_export.h"
#include "study/animation/animation_layout.h"

namespace hopscope::study {

namespace {

using panels::wrapped;

constexpr double speeds[] = {0.5, 1, 2, 4};
constexpr int captionLines = 4;  // the picture below does not jump from frame to frame

}  // namespace

AnimationPanel::AnimationPanel(const panels::Context& context, QWidget* parent) : Panel(parent), m_context(context)
{
    setObjectName(QStringLiteral("animation"));
    QVBoxLayout* const layout = panels::makeColumn(this, 8);
    m_state = wrapped(QStringLiteral("animationState"), this);
    m_state->setProperty("muted", true);
    m_found = makeContent();
    layout->addWidget(m_state);
    layout->addWidget(m_found, 1);
    panels::fillWith(this, layout->parentWidget());
    connectParts();
    connectButtons();
    forget();
}

QPushButton* AnimationPanel::button(const char* name, const QString& text, const QString& spoken, const QString& tip)
{
    auto* made = new QPushButton(text, this);
    made->setObjectName(QLatin1String(name));
    made->setAccessibleName(spoken);
    made->setToolTip(tip);
    return made;
}

// A label and its widget on one line.
QWidget* AnimationPanel::pairOf(QLabel* label, QWidget* named)
{
    auto* pair = new QWidget(this);
    auto* row = new QHBoxLayout(pair);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    row->addWidget(label);
    row->addWidget(named);
    label->setBuddy(named);
    return pair;
}

QWidget* AnimationPanel::makeChoice()
{
    auto* parts = new QWidget(this);
    auto* row = new panels::FlowLayout(parts);
    row->setSpacing(6);
    auto* batchLabel = new QLabel(tr("Nodes per &batch"), this);
    m_batch = new QSpinBox(this);
    m_batch->setObjectName(QStringLiteral("animationBatch"));
    m_batch->setAccessibleName(tr("Nodes per batch"));
    m_batch->setToolTip(tr("Number of nodes that are computed together"));
    m_batch->setKeyboardTracking(false);
    auto* nodeLabel = new QLabel(tr("Ar&ound node"), this);
    m_node = new QSpinBox(this);
    m_node->setObjectName(QStringLiteral("animationNode"));
    m_node->setAccessibleName(tr("Number of the node in the middle"));
    m_node->setToolTip(tr("Row number in the data, from 0; Enter shows its surroundings"));
    m_node->setKeyboardTracking(false);
    m_other =
        button("animationOther", tr("&Random node"), tr("Random node"), tr("Show the surroundings of another node"));
    m_export = button("animationExport", tr("E&xport…"), tr("Export the animation"),
                      tr("Write an animated picture (PNG), or each frame as SVG"));
    m_nodePart = pairOf(nodeLabel, m_node);
    for (QWidget* part :
         {pairOf(batchLabel, m_batch), m_nodePart, static_cast<QWidget*>(m_other), static_cast<QWidget*>(m_export)})
        row->addWidget(part);
    return parts;
}

QWidget* AnimationPanel::makeButtons()
{
    auto* parts = new QWidget(this);
    auto* row = new panels::FlowLayout(parts);
    row->setSpacing(6);
    m_play = button("animationPlay", tr("&Play"), tr("Play"), tr("Play or pause (Space in the picture)"));
    m_first = button("animationFirst", tr("&First"), tr("First frame"), tr("Go to the first frame (Home)"));
    m_back = button("animationBack", tr("Bac&k"), tr("Frame back"), tr("One frame back (Left)"));
    m_next = button("animationNext", tr("&Next"), tr("Next frame"), tr("One frame forward (Right)"));
    m_last = button("animationLast", tr("&Last"), tr("Last frame"), tr("Go to the last frame (End)"));
    auto* label = new QLabel(tr("&Speed"), this);
    m_speed = new QComboBox(this);
    m_speed->setObjectName(QStringLiteral("animationSpeed"));
    m_speed->setAccessibleName(tr("Speed"));
    for (const double speed : speeds) m_speed->addItem(tr("%1 ×").arg(speed), speed);
    m_speed->setCurrentIndex(1);
    for (QPushButton* part : {m_play, m_first, m_back, m_next, m_last}) row->addWidget(part);
    row->addWidget(pairOf(label, m_speed));
    return parts;
}

QWidget* AnimationPanel::makeContent()
{
    auto* found = new QWidget(this);
    auto* column = new QVBoxLayout(found);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    m_title = panels::heading({}, found);
    m_title->setObjectName(QStringLiteral("animationTitle"));
    m_caption = wrapped(QStringLiteral("animationCaption"), found);
    m_caption->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_caption->setMinimumHeight(captionLines * fontMetrics().lineSpacing());
    m_slider = new QSlider(Qt::Horizontal, found);
    m_slider->setObjectName(QStringLiteral("animationFrame"));
    m_slider->setAccessibleName(tr("Frame of the animation"));
    m_slider->setPageStep(10);
    m_view = new AnimationView(found);
    m_partLine = wrapped(QStringLiteral("animationPart"), found);
    m_partLine->setProperty("muted", true);
    column->addWidget(makeChoice());
    column->addWidget(makeButtons());
    column->addWidget(m_slider);
    column->addWidget(m_title);
    column->addWidget(m_caption);
    column->addWidget(m_view, 1);
    column->addWidget(m_partLine);
    return found;
}

void AnimationPanel::connectParts()
{
    connect(&m_context.document, &models::Document::modelChanged, this, &AnimationPanel::forget);
    connect(&m_context.document, &models::Document::planChanged, this, &AnimationPanel::planChanged);
    connect(&m_context.workbench, &jobs::Workbench::engineLost, this, [this] {
        if (m_request != 0) forget();
    });
    connect(&m_context.workbench, &jobs::Workbench::engineBack, this, [this] { update(); });
    connect(m_view, &AnimationView::frameShown, this, &AnimationPanel::showFrame);
    connect(m_view, &AnimationView::playingChanged, this, [this](bool playing) {
        m_play->setText(playing ? tr("&Pause") : tr("&Play"));
        m_play->setAccessibleName(playing ? tr("Pause") : tr("Play"));
    });
}

void AnimationPanel::connectButtons()
{
    const auto step = [this](QPushButton* from, auto to) {
        connect(from, &QPushButton::clicked, this, [this, to] {
            m_view->play(false);
            m_view->go(to());
        });
    };
    step(m_first, [] { return 0; });
    step(m_back, [this] { return m_view->frame() - 1; });
    step(m_next, [this] { return m_view->frame() + 1; });
    step(m_last, [this] { return m_view->frames() - 1; });
    connect(m_play, &QPushButton::clicked, this, [this] { m_view->play(!m_view->playing()); });
    connect(m_slider, &QSlider::valueChanged, this, [this](int frame) {
        if (frame == m_view->frame()) return;
        m_view->play(false);
        m_view->go(frame);
    });
    connect(m_speed, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_view->setSpeed(speeds[static_cast<std::size_t>(index)]); });
    connect(m_batch, &QSpinBox::valueChanged, this, &AnimationPanel::remake);
    connect(m_node, &QSpinBox::valueChanged, this, [this](int node) { ask(node); });
    connect(m_other, &QPushButton::clicked, this, [this] {
        ++m_seed;
        ask(std::nullopt);
    });
    connect(m_export, &QPushButton::clicked, this, &AnimationPanel::exportWanted);
}

bool AnimationPanel::mayAsk() const
{
    const models::ModelPtr& model = m_context.document.model();
    return model && model->splittable && !m_context.document.data().isEmpty() && m_context.document.plan();
}

QString AnimationPanel::stateLine() const
{
    const models::ModelPtr& model = m_context.document.model();
    if (!model) return tr("No model is open.");
    if (m_context.document.data().isEmpty()) return tr("Open the model with its graph to see batches move over it.");
    if (!model->splittable) return tr("%1: there are no batches.").arg(models::refusalTitle(*model));
    if (!m_problem.isEmpty()) return m_problem;
    return m_show ? QString() : tr("Looking up nodes and edges…");
}

void AnimationPanel::showState()
{
    m_found->setVisible(m_show != nullptr);
    m_state->setText(stateLine());
    m_state->setVisible(!m_state->text().isEmpty());
}

void AnimationPanel::forget()
{
    ++m_number;
    if (const std::int64_t request = std::exchange(m_request, 0)) m_context.workbench.queries().cancel(request);
    m_asked = nullptr;
    m_part.reset();
    m_show = nullptr;
    m_problem.clear();
    m_seed = 1;
    m_view->display(nullptr, 0);
    showState();
    update();
}

// The engine is asked again: another plan may gather along other relations.
void AnimationPanel::planChanged()
{
    if (m_asked == m_context.document.plan()) return;
    if (m_asked && m_context.document.plan() && protocol::sameCuts(*m_asked, *m_context.document.plan())) return;
    const qint64 seed = m_seed;
    forget();
    m_seed = seed;
}

// A panel behind another one's tab is visible all the same, but not painted.
void AnimationPanel::paintEvent(QPaintEvent* event)
{
    Panel::paintEvent(event);
    if (mayAsk() && !m_asked) QMetaObject::invokeMethod(this, &AnimationPanel::prepare, Qt::QueuedConnection);
}

void AnimationPanel::prepare()
{
    if (mayAsk() && !m_asked) ask(std::nullopt);
}

void AnimationPanel::ask(std::optional<qint64> node)
{
    if (!mayAsk()) return;
    ++m_number;
    if (const std::int64_t request = std::exchange(m_request, 0)) m_context.workbench.queries().cancel(request);
    m_asked = m_context.document.plan();
    m_request =
        m_context.workbench.queries().planGraph(node, m_seed, this, [this, number = m_number](const auto& part) {
            if (number == m_number) answered(part);
        });
}

// A node that cannot be drawn leaves the picture as it is.
void AnimationPanel::answered(const base::Result<schema::GraphPart>& part)
{
    m_request = 0;
    m_problem = part ? QString() : models::sentence(part.error().message);
    if (!part) return showState();
    m_part = *part;
    const bool complete = m_part->complete;
    for (QWidget* each : {m_nodePart, static_cast<QWidget*>(m_other)}) each->setVisible(!complete);
    std::int64_t rows = 1, most = 1;
    for (const schema::PartTable& table : m_part->tables) {
        most = std::max(most, static_cast<std::int64_t>(table.whole.size()));
        if (table.table == m_part->table) rows = table.rows;
    }
    const QSignalBlocker quietNode(m_node), quietBatch(m_batch);
    m_node->setRange(0, static_cast<int>(std::min<std::int64_t>(rows - 1, std::numeric_limits<int>::max())));
    m_node->setValue(static_cast<int>(m_part->node.value_or(0)));
    const std::optional<qint64> wanted = m_context.document.settings().batch;
    m_batch->setRange(1, static_cast<int>(most));
    m_batch->setValue(static_cast<int>(complete && wanted && *wanted < most ? *wanted : usualBatch(*m_part)));
    remake();
}

void AnimationPanel::remake()
{
    if (!m_part || !m_asked) return;
    auto made = std::make_shared<Show>();
    made->model = m_context.document.model();
    made->plan = m_asked;
    made->part = *m_part;
    made->animation = animate(*made->model, *made->plan, made->part, m_batch->value());
    made->places = placeNodes(made->animation);
    m_show = made;
    {
        const QSignalBlocker quiet(m_slider);
        m_slider->setRange(0, static_cast<int>(made->animation.frames.size()) - 1);
    }
    const QString words = partSentence(made->film());
    m_partLine->setText(words);
    m_partLine->setVisible(!words.isEmpty());
    showState();
    m_view->display(m_show, 0);
}

void AnimationPanel::showFrame(int frame)
{
    const Film film = m_show->film();
    m_title->setText(frameTitle(film, frame));
    m_caption->setText(frameCaption(film, frame));
    const QSignalBlocker quiet(m_slider);
    m_slider->setValue(frame);
    for (QPushButton* each : {m_first, m_back}) each->setEnabled(frame > 0);
    for (QPushButton* each : {m_next, m_last}) each->setEnabled(frame + 1 < m_view->frames());
}

QString AnimationPanel::save(const QString& file) const
{
    if (!m_show) return stateLine().isEmpty() ? tr("There is nothing to export.") : stateLine();
    const Film film = m_show->film();
    return saveAnimation(m_view->picture(film, true), file, m_view->milliseconds());
}

panels::Panel* makeAnimation(const panels::Context& context, QWidget* parent)
{
    return new AnimationPanel(context, parent);
}

}  // namespace hopscope::study
