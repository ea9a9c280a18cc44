#include "plots/worker_lanes.h"

#include <QKeyEvent>
#include <algorithm>

#include "models/labels.h"
#include "models/worker_text.h"

namespace hopscope::plots {

namespace {

using models::ShardSpan;
using models::WorkerLane;
using protocol::ShardOutcome;

// Indices into `phases` of the theme.
enum class Shade : std::uint8_t { Found = 0, ReadBack = 1, Again = 2, Shard = 3 };

constexpr double paleness = 0.35;

QColor shadeOf(const style::Theme& theme, Shade shade)
{
    return theme.phases.value(static_cast<int>(shade), theme.accent);
}

bool isMarked(const protocol::ShardEvent& shard) { return shard.attempt > 1 || shard.outcome == ShardOutcome::Lost; }

Interval intervalOf(const ShardSpan& span, std::size_t place)
{
    return {.start = span.event.begin,
            .end = span.event.end,
            .stage = span.event.stage,
            .batch = static_cast<std::int64_t>(place)};
}

void paintCross(QPainter& painter, const QPointF& centre, double size, const QColor& colour)
{
    painter.setPen(QPen(colour, 2));
    painter.drawLine(centre + QPointF(-size, -size), centre + QPointF(size, size));
    painter.drawLine(centre + QPointF(-size, size), centre + QPointF(size, -size));
}

}  // namespace

WorkerLanes::WorkerLanes(QWidget* parent) : TimeView(parent)
{
    setObjectName(QStringLiteral("workerLanes"));
    setAccessibleName(tr("Shards of each worker over time"));
    setAccessibleDescription(tr("Up and Down choose a worker, Shift+Left and Shift+Right choose one of its shards; "
                                "plus and minus zoom, Left and Right pan, 0 shows everything"));
}

// ---- contents

const std::vector<WorkerLane>& WorkerLanes::lanes() const
{
    static const std::vector<WorkerLane> none;
    return m_log && m_log->workers() != nullptr ? m_log->workers()->lanes() : none;
}

void WorkerLanes::display(const std::shared_ptr<const models::RunLog>& log, double now)
{
    const std::size_t before = m_rows.size();
    if (log != m_log || (log && log->thinnings() != m_thinnings)) {
        if (log != m_log) showAllAgain();
        m_rows.clear();
        m_choice.reset();
    }
    m_log = log;
    m_thinnings = log ? log->thinnings() : 0;
    m_rows.resize(lanes().size());
    for (std::size_t lane = 0; lane < m_rows.size(); ++lane) read(lane);
    if (log) setEnd(std::max(log->elapsed(), now), log->state() == protocol::RunState::Finished);
    if (before != m_rows.size()) updateGeometry();
    refresh();
}

void WorkerLanes::read(std::size_t lane)
{
    Row& row = m_rows[lane];
    const std::vector<ShardSpan>& shards = lanes()[lane].shards;
    for (; row.read < shards.size() && !shards[row.read].underWay(); ++row.read) {
        row.shards.append(intervalOf(shards[row.read], row.read));
        if (isMarked(shards[row.read].event)) row.again.push_back(row.read);
    }
}

std::vector<LegendItem> WorkerLanes::legendItems() const
{
    const models::WorkerLog* const workers = m_log ? m_log->workers() : nullptr;
    std::vector<LegendItem> items{{tr("shard"), shadeOf(theme(), Shade::Shard)},
                                  {tr("reads rows of other workers"), shadeOf(theme(), Shade::ReadBack)}};
    if (workers != nullptr && workers->again() > 0) items.push_back({tr("recomputed"), shadeOf(theme(), Shade::Again)});
    if (workers != nullptr && workers->lost() > 0) items.push_back({tr("lost"), theme().bad});
    return items;
}

// ---- geometry

QSize WorkerLanes::sizeHint() const
{
    const int line = fontMetrics().height(), rows = std::max(1, static_cast<int>(m_rows.size()));
    return {400, line + rows * (line + laneGap) + line + 8};
}

QSize WorkerLanes::minimumSizeHint() const { return {160, sizeHint().height()}; }

// The names of the stages are above the lanes.
QRect WorkerLanes::lanesRect(const QSize& size) const
{
    int names = 0;
    for (const WorkerLane& lane : lanes())
        names = std::max(names, fontMetrics().horizontalAdvance(models::workerName(lane)));
    const int left = names + textGap, line = fontMetrics().height();
    return {left, line, std::max(1, size.width() - left - 2), std::max(1, size.height() - 2 * line - 4)};
}

QRect WorkerLanes::rowOf(std::size_t lane, const QSize& size) const
{
    return rowRect(lanesRect(size), static_cast<int>(lane), std::max(1, static_cast<int>(m_rows.size())),
                   fontMetrics().height());
}

QRect WorkerLanes::laneRect(int worker) const { return rowOf(static_cast<std::size_t>(worker) - 1, size()); }

QRectF WorkerLanes::barOf(double begin, double end, const QRect& rect) const
{
    const double left = placeOf(begin, rect), right = placeOf(end, rect);
    return {left, static_cast<double>(rect.top()), std::max(right - left, 1.0), static_cast<double>(rect.height())};
}

const ShardSpan* WorkerLanes::shardAt(const QPoint& at, std::size_t* lane) const
{
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        const QRect rect = rowOf(row, size());
        if (at.y() < rect.top() || at.y() > rect.bottom()) continue;  // a lane includes its name
        *lane = row;
        if (at.x() < rect.left()) return nullptr;
        const double moment = momentAt(at);
        const std::vector<ShardSpan>& shards = lanes()[row].shards;
        if (const Interval* interval = m_rows[row].shards.lane().at(moment))
            return &shards[static_cast<std::size_t>(interval->batch)];
        const ShardSpan* last = lanes()[row].underWay();
        return last != nullptr && moment >= last->event.begin && moment <= end() ? last : nullptr;
    }
    *lane = m_rows.size();
    return nullptr;
}

protocol::StageId WorkerLanes::stageAt(const QPoint& at) const
{
    std::size_t lane = 0;
    const ShardSpan* span = shardAt(at, &lane);
    return span != nullptr ? span->event.stage : protocol::StageId();
}

QString WorkerLanes::describe(const QPoint& at) const
{
    std::size_t lane = 0;
    if (const ShardSpan* span = shardAt(at, &lane)) return models::shardText(lanes()[lane], span->event);
    if (lane == m_rows.size()) return {};
    const double moment = at.x() < lanesRect(size()).left() ? -1 : momentAt(at);
    for (const protocol::ReadBackEvent& event : lanes()[lane].readBacks)
        if (event.begin <= moment && moment <= event.end) return models::readBackText(lanes()[lane], event);
    return models::laneText(lanes()[lane]);
}

// ---- painting

void WorkerLanes::paintFigure(QPainter& painter, const QSize& size)
{
    const QRect lanes = lanesRect(size);
    painter.setFont(font());
    for (std::size_t lane = 0; lane < m_rows.size(); ++lane) {
        const QRect rect = rowOf(lane, size);
        painter.setPen(theme().textMuted);
        painter.drawText(QRect(0, rect.top(), rect.left() - textGap, rect.height()),
                         Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, models::workerName(this->lanes()[lane]));
        painter.save();
        painter.setClipRect(rect);
        paintLane(painter, lane, rect);
        painter.restore();
    }
    paintBarriers(painter, lanes);
    paintAxis(painter, lanes);
}

void WorkerLanes::paintLane(QPainter& painter, std::size_t lane, const QRect& rect)
{
    paintLives(painter, lanes()[lane], rect);
    paintReadBacks(painter, lanes()[lane], rect);
    paintShards(painter, lane, rect);
    paintEnds(painter, lanes()[lane], rect);
    if (!m_choice || m_choice->lane != lane || !hasFocus()) return;
    painter.setPen(QPen(theme().text, 2));
    painter.setBrush(Qt::NoBrush);
    const ShardSpan* span = m_choice->shard ? &lanes()[lane].shards[*m_choice->shard] : nullptr;
    if (span == nullptr) painter.drawRect(rect.adjusted(1, 1, -1, -1));
    else
        painter.drawRect(
            barOf(span->event.begin, span->underWay() ? end() : span->event.end, rect).adjusted(0, 1, 0, -1));
}

// Paints a thin line while a process starts and loads, and the lane from then on until it is lost.
void WorkerLanes::paintLives(QPainter& painter, const WorkerLane& lane, const QRect& rect) const
{
    for (const models::WorkerLife& life : lane.lives) {
        const double to = life.to.value_or(std::max(end(), range().second));
        const double joined = std::min(life.joined.value_or(to), to);
        painter.setPen(QPen(theme().edgeMuted, 1, Qt::DotLine));
        painter.drawLine(QPointF(placeOf(life.from, rect), rect.center().y()),
                         QPointF(placeOf(joined, rect), rect.center().y()));
        if (life.joined) painter.fillRect(barOf(joined, to, rect), theme().bandB);
    }
}

QColor WorkerLanes::colourOf(const protocol::ShardEvent& shard) const
{
    const Shade shade = shard.outcome == ShardOutcome::Found ? Shade::Found
                        : shard.attempt > 1                  ? Shade::Again
                                                             : Shade::Shard;
    const bool pale = selected().valid() && shard.stage != selected();
    return pale ? faded(shadeOf(theme(), shade), paleness) : shadeOf(theme(), shade);
}

void WorkerLanes::paintShards(QPainter& painter, std::size_t lane, const QRect& rect)
{
    Row& row = m_rows[lane];
    const std::vector<ShardSpan>& shards = lanes()[lane].shards;
    if (row.shards.isSparse(range(), rect.width())) {
        for (const Bar& bar : barsOf(row.shards.lane(), range().first, range().second, rect.left(), rect.width()))
            paintShard(painter, shards[static_cast<std::size_t>(bar.interval->batch)],
                       {bar.left, static_cast<double>(rect.top()), bar.width, static_cast<double>(rect.height())});
    } else {
        row.shards.paintCoverage(painter, rect, range(), shadeOf(theme(), Shade::Shard));
        for (const std::size_t at : row.again)
            paintShard(painter, shards[at], barOf(shards[at].event.begin, shards[at].event.end, rect));
    }
    if (const ShardSpan* span = lanes()[lane].underWay())
        paintShard(painter, *span, barOf(span->event.begin, std::max(end(), span->event.begin), rect));
}

// A shard that is not finished is open at its end, a lost one is hatched.
void WorkerLanes::paintShard(QPainter& painter, const ShardSpan& span, const QRectF& bar) const
{
    const protocol::ShardEvent& shard = span.event;
    const QColor colour = colourOf(shard);
    if (shard.outcome == ShardOutcome::Lost) {
        painter.fillRect(bar, QBrush(theme().bad, Qt::BDiagPattern));
        return;
    }
    painter.fillRect(bar, span.underWay() ? faded(colour, 0.6 * colour.alphaF()) : colour);
    if (shard.attempt > 1) painter.fillRect(bar, QBrush(faded(theme().panel, 0.6), Qt::BDiagPattern));
    if (selected().valid() && shard.stage != selected()) return;
    if (shard.attempt == 1) paintNumber(painter, bar, colour, shard.shard, theme());
}

void WorkerLanes::paintReadBacks(QPainter& painter, const WorkerLane& lane, const QRect& rect) const
{
    const QRect lower = rect.adjusted(0, rect.height() / 2, 0, 0);
    for (const protocol::ReadBackEvent& event : lane.readBacks)
        if (event.end >= range().first && event.begin <= range().second)
            painter.fillRect(barOf(event.begin, event.end, lower), shadeOf(theme(), Shade::ReadBack));
}

void WorkerLanes::paintEnds(QPainter& painter, const WorkerLane& lane, const QRect& rect) const
{
    for (const models::WorkerLife& life : lane.lives)
        if (life.lost)
            paintCross(painter, {placeOf(*life.to, rect), rect.top() + rect.height() / 2.0}, rect.height() / 4.0,
                       theme().bad);
}

// A name stands before its line, if it does not overlap the previous line.
void WorkerLanes::paintBarriers(QPainter& painter, const QRect& lanes) const
{
    if (!m_log || m_log->workers() == nullptr) return;
    double free = lanes.left();
    for (const protocol::BarrierEvent& barrier : m_log->workers()->barriers()) {
        const double at = placeOf(barrier.time, lanes);
        if (at < lanes.left() || at > lanes.right() + 1) continue;
        painter.setPen(QPen(theme().nodeBorder, 1));
        painter.drawLine(QPointF(at, 2), QPointF(at, lanes.bottom()));
        const QString name = tr("stage %1").arg(barrier.stage.number);
        const int width = fontMetrics().horizontalAdvance(name);
        if (at - width - 4 < free) continue;
        painter.setPen(barrier.stage == selected() ? theme().text : theme().textMuted);
        painter.drawText(QRectF(at - width - 4, 0, width + 1, lanes.top()), Qt::AlignCenter, name);
        free = at + 4;
    }
}

// ---- keys

void WorkerLanes::keyPressEvent(QKeyEvent* event)
{
    const int key = event->key();
    const bool along = (event->modifiers() & Qt::ShiftModifier) && (key == Qt::Key_Left || key == Qt::Key_Right);
    if (m_rows.empty() || !(along || key == Qt::Key_Up || key == Qt::Key_Down)) return TimeView::keyPressEvent(event);
    Choice choice = m_choice.value_or(Choice{});
    const std::size_t count = lanes()[choice.lane].shards.size();
    if (key == Qt::Key_Up) choice = {m_choice && choice.lane > 0 ? choice.lane - 1 : 0, {}};
    else if (key == Qt::Key_Down) choice = {m_choice ? std::min(choice.lane + 1, m_rows.size() - 1) : 0, {}};
    else if (count == 0) return;
    else if (key == Qt::Key_Right) choice.shard = choice.shard ? std::min(*choice.shard + 1, count - 1) : 0;
    else choice.shard = choice.shard && *choice.shard > 0 ? *choice.shard - 1 : choice.shard ? 0 : count - 1;
    choose(choice);
}

void WorkerLanes::choose(Choice choice)
{
    m_choice = choice;
    update();
    setAccessibleDescription(chosenText());
    emit choiceChanged(chosenText());
}

QString WorkerLanes::chosenText() const
{
    if (!m_choice || m_choice->lane >= m_rows.size()) return {};
    const WorkerLane& lane = lanes()[m_choice->lane];
    return m_choice->shard ? models::shardText(lane, lane.shards[*m_choice->shard].event) : models::laneText(lane);
}

// ---- files

QString WorkerLanes::figureTitle() const { return tr("Workers"); }

QString WorkerLanes::csv() const
{
    QString lines =
        QStringLiteral("worker,host,stage,shard,loop,first,count,attempt,outcome,start,seconds,rows,written,read\n");
    for (const WorkerLane& lane : lanes())
        for (const ShardSpan& span : lane.shards) {
            const protocol::ShardEvent& shard = span.event;
            QStringList fields{QString::number(lane.number), csvField(lane.host), QString::number(shard.stage.number)};
            for (const std::int64_t number : {std::int64_t{shard.shard}, std::int64_t{shard.loop}, shard.first,
                                              shard.count, std::int64_t{shard.attempt}})
                fields << QString::number(number);
            fields << QString::fromLatin1(base::nameOf(shard.outcome)) << QString::number(shard.begin, 'g', 9)
                   << QString::number(shard.end - shard.begin, 'g', 9);
            for (const std::int64_t number : {shard.destinations, shard.written, shard.read})
                fields << QString::number(number);
            lines += fields.join(u',') + u'\n';
        }
    return lines;
}

}  // namespace hopscope::plots
