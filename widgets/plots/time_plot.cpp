#include "plots/time_plot.h"

#include <QCoreApplication>
#include <QVBoxLayout>
#include <cmath>

#include "models/labels.h"
#include "plots/curve.h"
#include "plots/frame.h"

namespace hopscope::plots {

namespace {

// A limit above this many times the largest value is named instead of drawn to scale.
constexpr double limitShown = 4;

QSharedPointer<QCPGraphDataContainer> graphData(const std::vector<Point>& points)
{
    QVector<QCPGraphData> data;
    data.reserve(static_cast<qsizetype>(points.size()));
    for (const Point& point : points) data.append(QCPGraphData(point.x, point.y));
    QSharedPointer<QCPGraphDataContainer> container(new QCPGraphDataContainer);
    container->set(data, true);
    return container;
}

// A line from the axis up to the titles of the bands.
void rise(QCPItemLine& line, double x, double titles)
{
    for (QCPItemPosition* end : {line.start, line.end}) end->setTypeY(QCPItemPosition::ptAxisRectRatio);
    line.start->setCoords(x, 1);
    line.end->setCoords(x, titles);
}

// The title of a band, shown while the band is wide enough for it.
class BandLabel : public QCPItemText {
public:
    BandLabel(QCustomPlot* plot, const Band& band)
        : QCPItemText(plot),
          m_end(band.to),
          m_titles{TimePlot::tr("Stage %1").arg(band.stage.number), QString::number(band.stage.number)}
    {}

protected:
    void draw(QCPPainter* painter) override
    {
        const double room = mParentPlot->xAxis->coordToPixel(m_end) - position->pixelPosition().x();
        for (const QString& each : m_titles) {
            if (QFontMetrics(font()).horizontalAdvance(each) + 8 > room) continue;
            setText(each);
            return QCPItemText::draw(painter);
        }
        setText({});
    }

private:
    double m_end;
    QStringList m_titles;
};

}  // namespace

struct TimePlot::Impl {
    Impl(TimePlot* owner, const QString& title, Unit quantity);

    void setUp();
    void layers();
    void addGraphs();
    void rebuild();  // bands, limit and legend
    void addBand(const Band& band, std::size_t number);
    void addLevel(const Band& band, double level, const QColor& colour);
    void addLimit();
    [[nodiscard]] QString limitText() const;
    [[nodiscard]] double needed() const;       // the largest value to show
    [[nodiscard]] bool limitDrawn() const;     // to scale, not only named
    [[nodiscard]] int titleHeight() const;     // of a row of titles
    [[nodiscard]] double titlesShare() const;  // of the height: the part above all lines, for titles
    bool fitAxes();                            // true: they have changed
    [[nodiscard]] bool stale() const;          // something has become visible since the last drawing
    void draw();
    void colour();
    void legend();
    void hover(const QPoint& at);
    void leave();
    [[nodiscard]] const Band* bandAt(double seconds) const;
    [[nodiscard]] QString readOut(const Point& point) const;

    TimePlot* self;
    Unit unit;
    Canvas* canvas;
    PlotFrame* frame;
    QSharedPointer<UnitTicker> ticker;  // of the y axis
    Curve *graph = nullptr, *secondGraph = nullptr;
    QCPItemLine *now = nullptr, *cursor = nullptr;
    QCPItemText* text = nullptr;
    std::vector<QCPAbstractItem*> items;  // for bands, levels and limit
    Series series, second;
    QString secondName;
    bool secondNamed = false;  // in the legend
    std::vector<Band> bands;
    QString otherTitle;
    std::vector<double> other;
    std::optional<double> limit;
    style::Theme theme;
    double end = 0, drawnEnd = -1;
    std::size_t drawnSize = 0;
    bool drawnFinished = false;
    bool finished = false, following = true, fitting = false;
    protocol::StageId selected;
};

TimePlot::Impl::Impl(TimePlot* owner, const QString& title, Unit quantity)
    : self(owner),
      unit(quantity),
      canvas(new Canvas(owner)),
      frame(new PlotFrame(title, canvas, owner)),
      ticker(new UnitTicker(quantity, 4))
{
    layers();
    addGraphs();
    canvas->yAxis->setTicker(ticker);
    canvas->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    canvas->axisRect()->setRangeDrag(Qt::Horizontal);
    canvas->axisRect()->setRangeZoom(Qt::Horizontal);
    canvas->setAccessibleName(title);
    canvas->setAccessibleDescription(tr("Zoom with the wheel, drag to pan, double-click to show everything"));
}

// The curve has a paint buffer of its own: axes and bands are not repainted while only the curve changes.
void TimePlot::Impl::layers()
{
    canvas->addLayer(QStringLiteral("live"), canvas->layer(QStringLiteral("axes")), QCustomPlot::limAbove);
    canvas->layer(QStringLiteral("live"))->setMode(QCPLayer::lmBuffered);
}

void TimePlot::Impl::addGraphs()
{
    graph = new Curve(canvas->xAxis, canvas->yAxis);
    secondGraph = new Curve(canvas->xAxis, canvas->yAxis);
    // Memory and rate of a batch apply from the end of the one before: levels, not slopes.
    for (Curve* curve : {graph, secondGraph}) {
        curve->setLineStyle(QCPGraph::lsStepRight);
        curve->setAntialiased(false);
        curve->setLayer(QStringLiteral("live"));
        curve->setAdaptiveSampling(false);
    }
    now = new QCPItemLine(canvas);
    now->setLayer(QStringLiteral("live"));
    cursor = new QCPItemLine(canvas);
    cursor->setVisible(false);
    text = new QCPItemText(canvas);
    text->setVisible(false);
    text->setPadding(QMargins(6, 4, 6, 4));
    text->setTextAlignment(Qt::AlignLeft);
    text->position->setTypeX(QCPItemPosition::ptAbsolute);
    text->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    for (QCPAbstractItem* item : {static_cast<QCPAbstractItem*>(cursor), static_cast<QCPAbstractItem*>(text)})
        item->setLayer(QStringLiteral("overlay"));
}

void TimePlot::Impl::addBand(const Band& band, std::size_t number)
{
    auto* rect = new QCPItemRect(canvas);
    rect->setLayer(QStringLiteral("background"));
    rect->setPen(Qt::NoPen);
    rect->setBrush(band.stage == selected ? theme.selection : number % 2 == 0 ? theme.bandA : theme.bandB);
    rect->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
    rect->bottomRight->setTypeY(QCPItemPosition::ptAxisRectRatio);
    rect->topLeft->setCoords(band.from, 0);
    rect->bottomRight->setCoords(band.to, 1);
    items.push_back(rect);
    auto* label = new BandLabel(canvas, band);
    label->setLayer(QStringLiteral("grid"));
    label->setColor(theme.textMuted);
    label->setFont(canvas->smallFont());
    label->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
    label->setPadding(QMargins(4, 2, 0, 0));
    label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    label->position->setCoords(band.from, 0);
    items.push_back(label);
}

void TimePlot::Impl::addLevel(const Band& band, double level, const QColor& colour)
{
    auto* line = new QCPItemLine(canvas);
    line->setLayer(QStringLiteral("grid"));
    line->setPen(QPen(colour, 1, Qt::DashLine));
    line->setAntialiased(false);
    line->start->setCoords(band.from, level);
    line->end->setCoords(band.to, level);
    items.push_back(line);
}

bool TimePlot::Impl::limitDrawn() const { return limit && *limit <= limitShown * needed(); }

// A limit far above all values is only named.
void TimePlot::Impl::addLimit()
{
    if (!limitDrawn()) return;
    auto* line = new QCPItemStraightLine(canvas);
    line->setLayer(QStringLiteral("grid"));
    line->setPen(QPen(theme.bad, 1, Qt::DashLine));
    line->setAntialiased(false);
    line->point1->setCoords(0, *limit);
    line->point2->setCoords(1, *limit);
    items.push_back(line);
}

QString TimePlot::Impl::limitText() const
{
    return tr("limit %1").arg(valueLabel(*limit, unit)) + (limitDrawn() ? QString() : QStringLiteral(" \u2191"));
}

void TimePlot::Impl::rebuild()
{
    for (QCPAbstractItem* item : items) canvas->removeItem(item);
    items.clear();
    for (std::size_t number = 0; number < bands.size(); ++number) {
        Band band = bands[number];
        if (number + 1 < bands.size()) band.to = std::min(band.to, bands[number + 1].from);  // titles are side by side
        addBand(band, number);
        if (bands[number].level) addLevel(bands[number], *bands[number].level, theme.textMuted);
        if (number < other.size()) addLevel(bands[number], other[number], theme.warning);
    }
    addLimit();
    legend();
    fitAxes();
    canvas->replot(QCustomPlot::rpQueuedReplot);
}

void TimePlot::Impl::legend()
{
    std::vector<LegendItem> entries;
    const bool predicted = std::ranges::any_of(bands, [](const Band& band) { return band.level.has_value(); });
    if (predicted)
        entries.push_back({.name = tr("predicted peak of the stage"), .colour = theme.textMuted, .line = true});
    secondNamed = second.size() > 0 && !secondName.isEmpty();
    if (secondNamed) entries.push_back({.name = secondName, .colour = theme.structure, .line = false});
    if (!other.empty())
        entries.push_back({.name = tr("peak in %1").arg(otherTitle), .colour = theme.warning, .line = true});
    if (limit) entries.push_back({.name = limitText(), .colour = theme.bad, .line = true});
    frame->legend().setColour(theme.textMuted);
    frame->legend().setItems(std::move(entries));
}

double TimePlot::Impl::needed() const
{
    double largest = std::max(series.largest(), second.largest());
    for (const Band& band : bands) largest = std::max(largest, band.level.value_or(0));
    for (const double value : other) largest = std::max(largest, value);
    return largest;
}

int TimePlot::Impl::titleHeight() const { return QFontMetrics(canvas->smallFont()).height() + 4; }

double TimePlot::Impl::titlesShare() const
{
    constexpr double most = 0.6;
    if (bands.empty()) return 0;
    return std::min(most, static_cast<double>(titleHeight()) / std::max(1, canvas->axisRect()->height()));
}

// Leaves the room behind titles empty, even of the grid.
bool TimePlot::Impl::fitAxes()
{
    const QCPRange oldX = canvas->xAxis->range(), oldY = canvas->yAxis->range();
    double top = needed();
    if (limitDrawn()) top = std::max(top, *limit * 1.02);
    const double right = finished && end > 0 ? end : growingEnd(oldX.upper, end);
    fitting = true;
    if (following) canvas->xAxis->setRange(0, right);
    const double below = 1 - titlesShare();
    canvas->yAxis->setRange(0, growingEnd(oldY.upper, top * 1.02 / below));
    ticker->setLast(canvas->yAxis->range().upper * below);
    rise(*now, end, titlesShare());
    fitting = false;
    return oldX != canvas->xAxis->range() || oldY != canvas->yAxis->range();
}

// During a run, a frame in which the curve has not moved by a pixel is skipped.
bool TimePlot::Impl::stale() const
{
    if (series.size() < drawnSize || finished != drawnFinished || drawnEnd < 0) return true;
    if (drawnSize == 0 && series.size() > 0) return true;  // the axes are those of an empty plot
    if (series.size() == drawnSize && end == drawnEnd) return false;
    const QCPRange range = canvas->xAxis->range();
    return finished || end - drawnEnd >= range.size() / std::max(canvas->axisRect()->width(), 100);
}

void TimePlot::Impl::draw()
{
    const bool changed = fitAxes();
    drawnEnd = end;
    drawnSize = series.size();
    drawnFinished = finished;
    const QCPRange range = canvas->xAxis->range();
    const int pixels = std::max(canvas->axisRect()->width(), 100);
    for (const auto& [curve, values] : {std::pair{graph, &series}, std::pair{secondGraph, &second}}) {
        const std::vector<Point> points = values->thinned(range.lower, range.upper, static_cast<std::size_t>(pixels));
        curve->setDense(points.size() > static_cast<std::size_t>(pixels) / 4);
        curve->setData(graphData(points));
    }
    if (secondNamed != (second.size() > 0 && !secondName.isEmpty())) legend();
    now->setVisible(!finished && end > 0);
    if (changed) canvas->replot(QCustomPlot::rpQueuedReplot);
    else canvas->layer(QStringLiteral("live"))->replot();
}

void TimePlot::Impl::colour()
{
    canvas->setTheme(theme);
    graph->setPen(QPen(theme.accent, 1));
    secondGraph->setPen(QPen(theme.structure, 1));
    QColor fill = theme.accent;
    fill.setAlphaF(0.2F);
    graph->setBrush(unit == Unit::Bytes ? QBrush(fill) : QBrush(Qt::NoBrush));
    now->setPen(QPen(theme.text, 1));
    now->setAntialiased(false);
    cursor->setPen(QPen(theme.textMuted, 1));
    cursor->setAntialiased(false);
    text->setColor(theme.text);
    text->setBrush(theme.raised);
    text->setPen(QPen(theme.border, 1));
    text->setFont(canvas->smallFont());
    rebuild();
}

const Band* TimePlot::Impl::bandAt(double seconds) const
{
    for (const Band& band : bands)
        if (seconds >= band.from && seconds < band.to) return &band;
    return nullptr;
}

QString TimePlot::Impl::readOut(const Point& point) const
{
    QString line = tr("t = %1\n%2").arg(valueLabel(point.x, Unit::Seconds), valueLabel(point.y, unit));
    if (const Band* band = bandAt(point.x)) line += tr("\nstage %1").arg(band->stage.number);
    return line;
}

void TimePlot::Impl::hover(const QPoint& at)
{
    const QRect inside = canvas->axisRect()->rect();
    const Point* point = inside.contains(at) ? series.nearest(canvas->xAxis->pixelToCoord(at.x())) : nullptr;
    if (point == nullptr) return leave();
    const double x = canvas->xAxis->coordToPixel(point->x);
    cursor->setVisible(true);
    rise(*cursor, point->x, titlesShare());
    text->setVisible(true);
    text->setText(readOut(*point));
    const bool left = x > inside.center().x();
    text->setPositionAlignment((left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop);
    text->position->setCoords(x + (left ? -8 : 8), 0.12);
    canvas->layer(QStringLiteral("overlay"))->replot();
}

void TimePlot::Impl::leave()
{
    if (!text->visible()) return;
    cursor->setVisible(false);
    text->setVisible(false);
    canvas->layer(QStringLiteral("overlay"))->replot();
}

TimePlot::TimePlot(const QString& title, Unit unit, QWidget* parent)
    : QWidget(parent),
      m_impl(std::make_unique<Impl>(this, title, unit))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_impl->frame);
    setMinimumHeight(130);
    m_impl->setUp();
}

void TimePlot::Impl::setUp()
{
    // Titles keep their height when the height of the plot changes.
    QObject::connect(canvas, &QCustomPlot::afterLayout, self, [this] {
        if (fitAxes()) canvas->replot(QCustomPlot::rpQueuedReplot);
    });
    QObject::connect(canvas, &QCustomPlot::mouseMove, self, [this](QMouseEvent* event) { hover(event->pos()); });
    QObject::connect(canvas, &QCustomPlot::mouseDoubleClick, self, [this](QMouseEvent*) { self->zoom(0, 0); });
    QObject::connect(canvas, &QCustomPlot::mouseRelease, self, [this](QMouseEvent* event) {
        const Band* band = bandAt(canvas->xAxis->pixelToCoord(event->pos().x()));
        if (band != nullptr && canvas->axisRect()->rect().contains(event->pos())) emit self->stageClicked(band->stage);
    });
    QObject::connect(canvas->xAxis, QOverload<const QCPRange&>::of(&QCPAxis::rangeChanged), self, [this] {
        if (fitting) return;
        following = false;
        draw();
    });
}

TimePlot::~TimePlot() = default;

Series& TimePlot::series() { return m_impl->series; }

Series& TimePlot::second() { return m_impl->second; }

void TimePlot::setSecondName(const QString& name) { m_impl->secondName = name; }

void TimePlot::setOther(const QString& title, std::vector<double> perStage)
{
    m_impl->otherTitle = title;
    m_impl->other = std::move(perStage);
    m_impl->rebuild();
}

void TimePlot::setBands(std::vector<Band> bands)
{
    if (m_impl->bands == bands) return;
    m_impl->bands = std::move(bands);
    m_impl->rebuild();
}

void TimePlot::setLimit(std::optional<double> limit)
{
    if (m_impl->limit == limit) return;
    m_impl->limit = limit;
    m_impl->rebuild();
}

void TimePlot::setEnd(double seconds, bool finished)
{
    m_impl->end = seconds;
    m_impl->finished = finished;
}

void TimePlot::setSelected(protocol::StageId stage)
{
    if (m_impl->selected == stage) return;
    m_impl->selected = stage;
    m_impl->rebuild();
}

void TimePlot::setTheme(const style::Theme& theme)
{
    m_impl->theme = theme;
    m_impl->colour();
}

void TimePlot::refresh()
{
    if (m_impl->stale()) m_impl->draw();
}

int TimePlot::drawnPoints() const { return m_impl->graph->dataCount(); }

void TimePlot::zoom(double from, double to)
{
    m_impl->following = from >= to;
    m_impl->fitting = true;
    if (from < to) m_impl->canvas->xAxis->setRange(from, to);
    m_impl->fitting = false;
    m_impl->draw();
    m_impl->canvas->replot(QCustomPlot::rpQueuedReplot);
}

QString TimePlot::figureTitle() const { return m_impl->frame->title(); }

const Legend* TimePlot::figureLegend() const { return &m_impl->frame->legend(); }

void TimePlot::paintFigure(QPainter& painter, const QSize& size)
{
    m_impl->leave();
    m_impl->canvas->paintInto(painter, size);
}

QString TimePlot::csv() const
{
    const bool bytes = m_impl->unit == Unit::Bytes;
    QString lines = QStringLiteral("seconds,%1\n").arg(csvField(figureTitle() + (bytes ? tr(" (bytes)") : QString())));
    for (const Point& point : m_impl->series.points())
        lines +=
            QString::number(point.x, 'g', 9) + QLatin1Char(',') + QString::number(point.y, 'g', 12) + QLatin1Char('\n');
    return lines;
}

void TimePlot::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) m_impl->colour();
    QWidget::changeEvent(event);
}

void TimePlot::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_impl->draw();
}

}  // namespace hopscope::plots
