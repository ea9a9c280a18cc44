#include "plots/stage_bars.h"

#include <QCoreApplication>
#include <QToolTip>
#include <QVBoxLayout>
#include <numeric>

#include "models/labels.h"
#include "plots/canvas.h"
#include "plots/frame.h"

namespace hopscope::plots {

namespace {

constexpr int runLimit = 2;

QColor tint(QColor colour, int run)
{
    colour.setAlphaF(run == 0 ? 1.0F : 0.45F);
    return colour;
}

QString describe(const StageRun& run, const StageStack& stack)
{
    QStringList lines{StageBars::tr("<b>Stage %1</b> · %2 · %3")
                          .arg(stack.stage)
                          .arg(models::formatSeconds(stack.seconds), run.title.toHtmlEscaped())};
    for (int phase = 0; phase < protocol::phaseCount; ++phase) {
        const double seconds = stack.phases[static_cast<std::size_t>(phase)];
        if (seconds > 0) lines << phaseTitle(phase) + QStringLiteral(": ") + models::formatSeconds(seconds);
    }
    return lines.join(QStringLiteral("<br>"));
}

}  // namespace

QString phaseTitle(int phase)
{
    static constexpr std::array names{QT_TRANSLATE_NOOP("Phase", "block build"), QT_TRANSLATE_NOOP("Phase", "gather"),
                                      QT_TRANSLATE_NOOP("Phase", "H2D"),         QT_TRANSLATE_NOOP("Phase", "compute"),
                                      QT_TRANSLATE_NOOP("Phase", "D2H"),         QT_TRANSLATE_NOOP("Phase", "write")};
    return QCoreApplication::translate("Phase", names.at(static_cast<std::size_t>(phase)));
}

double phaseSum(const StageStack& stack) { return std::accumulate(stack.phases.begin(), stack.phases.end(), 0.0); }

struct StageBars::Impl {
    explicit Impl(StageBars* owner);

    void fill();
    void fillRun(int run, double width);
    void colour();
    void axes();
    void place();
    [[nodiscard]] int stageAt(const QPoint& at) const;
    [[nodiscard]] int numberOf(int stage) const;  // its place on the axis; -1: none
    void hover(const QPoint& at, const QPoint& global);

    StageBars* self;
    Canvas* canvas;
    PlotFrame* frame;
    std::array<std::array<QCPBars*, protocol::phaseCount>, runLimit> bars{};
    QCPItemRect* mark;
    std::vector<StageRun> runs;
    std::vector<int> stages;
    style::Theme theme;
    int selected = 0, hovered = 0;
};

StageBars::Impl::Impl(StageBars* owner)
    : self(owner),
      canvas(new Canvas(owner)),
      frame(new PlotFrame(tr("Time per stage, by phase"), canvas, owner)),
      mark(new QCPItemRect(canvas))
{
    canvas->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new UnitTicker(Unit::Seconds, 4)));
    for (auto& run : bars)
        for (std::size_t phase = 0; phase < run.size(); ++phase) {
            run[phase] = new QCPBars(canvas->xAxis, canvas->yAxis);
            run[phase]->setAntialiased(false);
            if (phase > 0) run[phase]->moveAbove(run[phase - 1]);
        }
    mark->setLayer(QStringLiteral("background"));
    mark->setPen(Qt::NoPen);
    mark->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
    mark->bottomRight->setTypeY(QCPItemPosition::ptAxisRectRatio);
    mark->setVisible(false);
}

int StageBars::Impl::numberOf(int stage) const
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
                keys << numberOf(stack.stage) + (runs.size() == 1 ? 0 : (run - 0.5) * (width + 0.04));
                values << stack.phases[phase];
            }
        bars[index][phase]->setWidth(width);
        bars[index][phase]->setData(keys, values, true);
    }
}

void StageBars::Impl::axes()
{
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    const int every = std::max<int>(1, static_cast<int>(stages.size()) / 12);
    for (std::size_t at = 0; at < stages.size(); at += static_cast<std::size_t>(every))
        ticker->addTick(static_cast<double>(at),
                        stages.size() > 8 ? QString::number(stages[at]) : tr("Stage %1").arg(stages[at]));
    canvas->xAxis->setTicker(ticker);
    canvas->xAxis->setRange(-0.6, std::max<double>(static_cast<double>(stages.size()), 1) - 0.4);
    double top = 0;
    for (const StageRun& run : runs)
        for (const StageStack& stack : run.stages) top = std::max(top, phaseSum(stack));
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
    std::vector<LegendItem> items;
    for (int phase = 0; phase < protocol::phaseCount; ++phase) {
        const QColor base = theme.phases.value(phase, theme.accent);
        for (int run = 0; run < runLimit; ++run) {
            QCPBars* part = bars[static_cast<std::size_t>(run)][static_cast<std::size_t>(phase)];
            part->setPen(Qt::NoPen);
            part->setBrush(tint(base, run));
        }
        items.push_back({phaseTitle(phase), base, false});
    }
    frame->legend().setColour(theme.textMuted);
    frame->legend().setItems(std::move(items));
    canvas->replot(QCustomPlot::rpQueuedReplot);
}

int StageBars::Impl::stageAt(const QPoint& at) const
{
    if (!canvas->axisRect()->rect().contains(at)) return 0;
    const int number = static_cast<int>(std::lround(canvas->xAxis->pixelToCoord(at.x())));
    return number >= 0 && static_cast<std::size_t>(number) < stages.size() ? stages[static_cast<std::size_t>(number)]
                                                                           : 0;
}

void StageBars::Impl::hover(const QPoint& at, const QPoint& global)
{
    const int stage = stageAt(at);
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
        if (const int stage = m_impl->stageAt(event->pos()); stage > 0) emit stageClicked(stage);
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

const std::vector<StageRun>& StageBars::runs() const { return m_impl->runs; }

void StageBars::setSelected(int stage)
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

QRect StageBars::barRect(int stage) const
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
    for (const schema::NamedPhase& phase : schema::namedPhases) header << QString::fromLatin1(phase.name);
    QStringList lines{header.join(QLatin1Char(','))};
    for (const StageRun& run : m_impl->runs)
        for (const StageStack& stack : run.stages) {
            QStringList fields{csvField(run.title), QString::number(stack.stage),
                               QString::number(stack.seconds, 'g', 9)};
            for (const double seconds : stack.phases) fields << QString::number(seconds, 'g', 9);
            lines << fields.join(QLatin1Char(','));
        }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace hopscope::plots
