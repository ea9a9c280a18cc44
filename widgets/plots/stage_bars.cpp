#include "plots/stage_bars.h"

#include <QCoreApplication>
#include <QToolTip>
#include <QVBoxLayout>

#include "models/labels.h"
#include "plots/canvas.h"
#include "plots/frame.h"

namespace hopscope::plots {

using protocol::StageId;

namespace {

constexpr int runLimit = 2;
constexpr double ghostWidth = 0.14;  // as a share of a stage's place on the axis

QColor tint(QColor colour, int run)
{
    colour.setAlphaF(run == 0 ? 1.0F : 0.45F);
    return colour;
}

QString describe(const StageRun& run, const StageStack& stack)
{
    QStringList lines{StageBars::tr("<b>Stage %1</b> · %2 · %3")
                          .arg(stack.stage.number)
                          .arg(models::formatSeconds(stack.seconds), run.title.toHtmlEscaped())};
    for (int phase = 0; phase < protocol::phaseCount; ++phase) {
        const double seconds = stack.phases[static_cast<std::size_t>(phase)];
        if (seconds > 0) lines << phaseTitle(phase) + QStringLiteral(": ") + models::formatSeconds(seconds);
    }
    lines += models::figureLines(stack);
    if (stack.predicted) lines << StageBars::tr("predicted: %1").arg(models::formatSeconds(*stack.predicted));
    const QString bound = boundText(stack.seconds, stack.bound, stack.wall);
    if (!bound.isEmpty()) lines << bound;
    return lines.join(QStringLiteral("<br>"));
}

QString csvLine(const StageRun& run, const StageStack& stack)
{
    const auto field = [](std::optional<double> number) {
        return number ? QString::number(*number, 'g', 15) : QString();
    };
    QStringList fields{csvField(run.title), QString::number(stack.stage.number), field(stack.seconds)};
    for (const plan::NamedPhase& phase : plan::namedPhases) fields << field(stack.phases.*phase.seconds);
    fields << field(stack.predicted) << field(stack.bound);
    fields << (stack.wall ? QString::fromLatin1(base::nameOf(*stack.wall)) : QString());
    plan::forEachLabelled(stack, [&](const auto&, std::optional<double> number) { fields << field(number); });
    return fields.join(QLatin1Char(','));
}

}  // namespace

QString phaseTitle(int phase)
{
    static constexpr std::array names{QT_TRANSLATE_NOOP("Phase", "block build"), QT_TRANSLATE_NOOP("Phase", "gather"),
                                      QT_TRANSLATE_NOOP("Phase", "H2D"),         QT_TRANSLATE_NOOP("Phase", "compute"),
                                      QT_TRANSLATE_NOOP("Phase", "D2H"),         QT_TRANSLATE_NOOP("Phase", "write")};
    static_assert(names.size() == protocol::phaseCount);
    return QCoreApplication::translate("Phase", names.at(static_cast<std::size_t>(phase)));
}

QString wallTitle(plan::Wall wall)
{
    switch (wall) {
    case plan::Wall::Gemm: return QCoreApplication::translate("Wall", "matrix products");
    case plan::Wall::Rows: return QCoreApplication::translate("Wall", "random rows");
    case plan::Wall::Stream: return QCoreApplication::translate("Wall", "memory bandwidth");
    case plan::Wall::Link: return QCoreApplication::translate("Wall", "copies to and from the GPU");
    case plan::Wall::Disk: return QCoreApplication::translate("Wall", "the disk");
    }
    return {};
}

QString boundText(double seconds, std::optional<double> bound, std::optional<plan::Wall> wall)
{
    if (!bound || !wall || *bound <= 0) return {};
    return StageBars::tr("%1 \u00d7 the bound of %2 (%3)")
        .arg(seconds / *bound, 0, 'f', 1)
        .arg(models::formatSeconds(*bound), wallTitle(*wall));
}

struct StageBars::Impl {
    explicit Impl(StageBars* owner);

    void fill();
    void fillRun(int run, double width);
    void fillGhosts(double width);
    void fillTicks(double width);
    [[nodiscard]] double keyOf(int run, StageId stage, double width) const;
    void legend();
    void colour();
    void axes();
    [[nodiscard]] std::size_t every(const QString& label) const;
    void place();
    [[nodiscard]] StageId stageAt(const QPoint& at) const;
    [[nodiscard]] int numberOf(StageId stage) const;  // its place on the axis; -1: none
    void hover(const QPoint& at, const QPoint& global);
    [[nodiscard]] bool isDrawn(std::size_t phase) const;

    StageBars* self;
    Canvas* canvas;
    PlotFrame* frame;
    std::array<std::array<QCPBars*, protocol::phaseCount>, runLimit> bars{};
    QCPBars* ghosts;  // predicted times
    QCPGraph* ticks;  // bounds
    QCPItemRect* mark;
    std::vector<StageRun> runs;
    std::vector<StageId> stages;
    style::Theme theme;
    StageId selected, hovered;
};

StageBars::Impl::Impl(StageBars* owner)
    : self(owner),
      canvas(new Canvas(owner)),
      frame(new PlotFrame(tr("Time per stage, by phase"), canvas, owner)),
      ghosts(new QCPBars(canvas->xAxis, canvas->yAxis)),
      ticks(canvas->addGraph()),
      mark(new QCPItemRect(canvas))
{
    canvas->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new UnitTicker(Unit::Seconds, 4)));
    for (auto& run : bars)
        for (std::size_t phase = 0; phase < run.size(); ++phase) {
            run[phase] = new QCPBars(canvas->xAxis, canvas->yAxis);
            run[phase]->setAntialiased(false);
            if (phase > 0) run[phase]->moveAbove(run[phase - 1]);
        }
    ghosts->setAntialiased(false);
    ghosts->setWidth(ghostWidth);
    ticks->setAntialiased(false);
    ticks->setLayer(QStringLiteral("overlay"));
    mark->setLayer(QStringLiteral("background"));
    mark->setPen(Qt::NoPen);
    mark->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
    mark->bottomRight->setTypeY(QCPItemPosition::ptAxisRectRatio);
    mark->setVisible(false);
}

int StageBars::Impl::numberOf(StageId stage) const
{
    const auto found = std::ranges::find(stages, stage);
    return found == stages.end() ? -1 : static_cast<int>(found - stages.begin());
}

void StageBars::Impl::fillRun(int run, double width)
{
    const auto index = static_cast<std::size_t>(run);
    const bool used = index < runs.size();
    for (std::size_t phase = 0; phase < bars[index].size(); ++phase) {
        QVector<double> keys, values;
        if (used)
            for (const StageStack& stack : runs[index].stages) {
                keys << keyOf(run, stack.stage, width);
                values << stack.phases[phase];
            }
        bars[index][phase]->setWidth(width);
        bars[index][phase]->setData(keys, values, true);
    }
}

double StageBars::Impl::keyOf(int run, StageId stage, double width) const
{
    return numberOf(stage) + (runs.size() == 1 ? 0 : (run - 0.5) * (width + 0.04));
}

// Predictions are only drawn for a single run: two runs leave no room.
void StageBars::Impl::fillGhosts(double width)
{
    QVector<double> keys, values;
    if (runs.size() == 1)
        for (const StageStack& stack : runs.front().stages)
            if (stack.predicted) {
                keys << keyOf(0, stack.stage, width) + (width + ghostWidth) / 2 + 0.03;
                values << *stack.predicted;
            }
    ghosts->setData(keys, values, true);
}

void StageBars::Impl::fillTicks(double width)
{
    QVector<double> keys, values;
    for (std::size_t run = 0; run < runs.size(); ++run)
        for (const StageStack& stack : runs[run].stages) {
            if (!stack.bound) continue;
            const double middle = keyOf(static_cast<int>(run), stack.stage, width), half = width / 2 + 0.03;
            keys << middle - half << middle + half << middle + half;
            values << *stack.bound << *stack.bound << qQNaN();  // no line to the next one
        }
    ticks->setData(keys, values, true);
}

// The interval of labelled stages at which labels like that do not touch.
std::size_t StageBars::Impl::every(const QString& label) const
{
    constexpr int margins = 70, gap = 8;
    const int wide = QFontMetrics(canvas->smallFont()).horizontalAdvance(label) + gap;
    const auto most = static_cast<std::size_t>(std::max(1, (canvas->width() - margins) / wide));
    return std::max<std::size_t>(1, (stages.size() + most - 1) / most);
}

void StageBars::Impl::axes()
{
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    const bool numbers = every(tr("Stage %1").arg(8)) > 1;
    const std::size_t step = every(numbers ? QStringLiteral("88") : tr("Stage %1").arg(8));
    for (std::size_t at = 0; at < stages.size(); at += step)
        ticker->addTick(static_cast<double>(at),
                        numbers ? QString::number(stages[at].number) : tr("Stage %1").arg(stages[at].number));
    canvas->xAxis->setTicker(ticker);
    canvas->xAxis->setRange(-0.6, std::max<double>(static_cast<double>(stages.size()), 1) - 0.4);
    double top = 0;
    for (const StageRun& run : runs)
        for (const StageStack& stack : run.stages)
            top = std::max(
                {top, stack.phases.sum(), stack.bound.value_or(0), runs.size() == 1 ? stack.predicted.value_or(0) : 0});
    canvas->yAxis->setRange(0, growingEnd(canvas->yAxis->range().upper, top > 0 ? top * 1.02 : 0));
}

void StageBars::Impl::fill()
{
    stages.clear();
    for (const StageRun& run : runs)
        for (const StageStack& stack : run.stages)
            if (numberOf(stack.stage) < 0) stages.push_back(stack.stage);
    std::ranges::sort(stages);
    const double width = runs.size() == 2 ? 0.3 : 0.42;
    for (int run = 0; run < runLimit; ++run) fillRun(run, width);
    fillGhosts(width);
    fillTicks(width);
    legend();
    axes();
    place();
    QStringList titles;
    for (const StageRun& run : runs) titles << run.title;
    frame->setNote(runs.size() == 2 ? titles.join(QStringLiteral(" | ")) : QString());
    canvas->replot(QCustomPlot::rpQueuedReplot);
}

void StageBars::Impl::place()
{
    const int number = numberOf(selected);
    mark->setVisible(number >= 0);
    mark->topLeft->setCoords(number - 0.5, 0);
    mark->bottomRight->setCoords(number + 0.5, 1);
}

void StageBars::Impl::colour()
{
    canvas->setTheme(theme);
    mark->setBrush(theme.selection);
    for (int phase = 0; phase < protocol::phaseCount; ++phase) {
        const QColor base = theme.phases.value(phase, theme.accent);
        for (int run = 0; run < runLimit; ++run) {
            QCPBars* part = bars[static_cast<std::size_t>(run)][static_cast<std::size_t>(phase)];
            part->setPen(Qt::NoPen);
            part->setBrush(tint(base, run));
        }
    }
    ghosts->setPen(QPen(theme.textMuted, 1, Qt::DashLine));
    ghosts->setBrush(theme.raised);
    ticks->setPen(QPen(theme.text, 2, Qt::SolidLine, Qt::FlatCap));
    frame->legend().setColour(theme.textMuted);
    legend();
    canvas->replot(QCustomPlot::rpQueuedReplot);
}

bool StageBars::Impl::isDrawn(std::size_t phase) const
{
    return std::ranges::any_of(runs, [phase](const StageRun& run) {
        return std::ranges::any_of(run.stages, [phase](const StageStack& stack) { return stack.phases[phase] > 0; });
    });
}

// Lists the visible elements in the legend.
void StageBars::Impl::legend()
{
    std::vector<LegendItem> items;
    for (int phase = 0; phase < protocol::phaseCount; ++phase)
        if (isDrawn(static_cast<std::size_t>(phase)))
            items.push_back(
                {.name = phaseTitle(phase), .colour = theme.phases.value(phase, theme.accent), .line = false});
    if (ghosts->dataCount() > 0) items.push_back({.name = tr("predicted"), .colour = theme.textMuted, .line = true});
    if (ticks->dataCount() > 0)
        items.push_back({.name = tr("bound"), .colour = theme.text, .line = true, .style = Qt::SolidLine});
    frame->legend().setItems(std::move(items));
}

StageId StageBars::Impl::stageAt(const QPoint& at) const
{
    if (!canvas->axisRect()->rect().contains(at)) return {};
    const int number = static_cast<int>(std::lround(canvas->xAxis->pixelToCoord(at.x())));
    return number >= 0 && static_cast<std::size_t>(number) < stages.size() ? stages[static_cast<std::size_t>(number)]
                                                                           : StageId();
}

void StageBars::Impl::hover(const QPoint& at, const QPoint& global)
{
    const StageId stage = stageAt(at);
    QStringList parts;
    for (const StageRun& run : runs)
        for (const StageStack& stack : run.stages)
            if (stack.stage == stage) parts << describe(run, stack);
    if (parts.isEmpty()) QToolTip::hideText();
    else QToolTip::showText(global, parts.join(QStringLiteral("<br><br>")), canvas);
    if (stage != hovered) emit self->stageHovered(hovered = stage);
}

StageBars::StageBars(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(this))
{
    setObjectName(QStringLiteral("stageBars"));
    m_impl->canvas->setAccessibleName(tr("Time per stage, stacked by phase"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_impl->frame);
    setMinimumHeight(150);
    connect(m_impl->canvas, &QCustomPlot::mouseRelease, this, [this](QMouseEvent* event) {
        if (const StageId stage = m_impl->stageAt(event->pos()); stage.valid()) emit stageClicked(stage);
    });
    connect(m_impl->canvas, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent* event) { m_impl->hover(event->pos(), event->globalPosition().toPoint()); });
}

StageBars::~StageBars() = default;

void StageBars::setRuns(std::vector<StageRun> runs)
{
    if (runs.size() > runLimit) runs.resize(runLimit);
    m_impl->runs = std::move(runs);
    m_impl->fill();
}

void StageBars::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_impl->axes();
}

const std::vector<StageRun>& StageBars::runs() const { return m_impl->runs; }

void StageBars::setSelected(StageId stage)
{
    if (m_impl->selected == stage) return;
    m_impl->selected = stage;
    m_impl->place();
    m_impl->canvas->replot(QCustomPlot::rpQueuedReplot);
}

void StageBars::setTheme(const style::Theme& theme)
{
    m_impl->theme = theme;
    m_impl->colour();
}

QRect StageBars::barRect(StageId stage) const
{
    const int number = m_impl->numberOf(stage);
    if (number < 0) return {};
    const QRect inside = m_impl->canvas->axisRect()->rect();
    const int left = qRound(m_impl->canvas->xAxis->coordToPixel(number - 0.4));
    const int right = qRound(m_impl->canvas->xAxis->coordToPixel(number + 0.4));
    const QRect rect(left, inside.top(), right - left, inside.height());
    return {m_impl->canvas->mapTo(this, rect.topLeft()), rect.size()};
}

QString StageBars::figureTitle() const { return m_impl->frame->title(); }

const Legend* StageBars::figureLegend() const { return &m_impl->frame->legend(); }

void StageBars::paintFigure(QPainter& painter, const QSize& size) { m_impl->canvas->paintInto(painter, size); }

QString StageBars::csv() const
{
    QStringList header{QStringLiteral("run"), QStringLiteral("stage"), QStringLiteral("seconds")};
    for (const plan::NamedPhase& phase : plan::namedPhases) header << QString::fromLatin1(phase.name);
    header << QStringLiteral("predicted") << QStringLiteral("bound") << QStringLiteral("wall");
    plan::forEachLabelled({}, [&](const auto& figure, auto) { header << QString::fromLatin1(figure.name); });
    QStringList lines{header.join(QLatin1Char(','))};
    for (const StageRun& run : m_impl->runs)
        for (const StageStack& stack : run.stages) lines << csvLine(run, stack);
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace hopscope::plots
