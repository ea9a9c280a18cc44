#include "study/receptive/field_flow.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <map>

#include "models/labels.h"
#include "study/receptive/field_model.h"
#include "study/receptive/field_text.h"

namespace hopscope::study {

namespace {

constexpr qreal gap = 14;                         // between the halves, and around
constexpr qreal leastDot = 2.2, largestDot = 12;  // radii
constexpr qreal bar = 14;                         // its height
constexpr qreal leastStep = 58;                   // between two rounds
constexpr std::size_t mostEdges = 1500;           // that are drawn one by one

QString count(std::int64_t number) { return models::formatCount(static_cast<double>(number)); }

qreal leftOf(const QFontMetrics& metrics) { return metrics.horizontalAdvance(FieldModel::tr("hop 10")) + 12; }

std::int64_t rowsIn(const schema::FieldLevel& level)
{
    std::int64_t sum = 0;
    for (const schema::FieldRows& rows : level.rows) sum += rows.rows;
    return sum;
}

double shareOf(const schema::FieldLevel& level)
{
    std::int64_t all = 0;
    for (const schema::FieldRows& rows : level.rows) all += rows.of;
    return all > 0 ? static_cast<double>(rowsIn(level)) / static_cast<double>(all) : 0;
}

bool listed(const schema::FieldLevel& level)
{
    return std::ranges::all_of(level.rows, [](const auto& rows) { return std::ssize(rows.ids) == rows.rows; }) &&
           std::ranges::all_of(level.edges, [](const auto& edges) { return std::ssize(edges.fromIds) == edges.edges; });
}

std::size_t edgesIn(const schema::FieldLevel& level)
{
    std::size_t sum = 0;
    for (const schema::FieldEdges& edges : level.edges) sum += edges.fromIds.size();
    return sum;
}

// The number of different rows of the level below that the round of a level reads for the node.
std::int64_t readsAt(const schema::ReceptiveField& field, int level)
{
    const auto at = static_cast<std::size_t>(level);
    std::int64_t sum = 0;
    for (const schema::FieldRead& read : field.reads)
        if (read.depth == field.levels[at].depth && read.from == field.levels[at + 1].depth) sum += read.rows;
    return sum;
}

QString percent(double share)
{
    return QStringLiteral("%1 %").arg(100 * share, 0, 'f', share < 0.1 && share > 0 ? 1 : 0);
}

}  // namespace

FieldFlow::FieldFlow(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("fieldFlow"));
    setAccessibleName(tr("Receptive field, hop by hop"));
    setFocusPolicy(Qt::StrongFocus);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setSizePolicy(policy);
}

void FieldFlow::display(std::shared_ptr<const schema::ReceptiveField> field)
{
    m_field = std::move(field);
    m_chosen = std::clamp(m_chosen, 0, std::max(0, levels() - 1));
    QStringList lines;
    if (m_field)
        for (const schema::FieldLevel& level : m_field->levels)
            lines << tr("%1: %2 rows")
                         .arg(roundName(level.depth, &level == &m_field->levels.front()), count(rowsIn(level)));
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

void FieldFlow::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

void FieldFlow::choose(int level)
{
    if (level == m_chosen || level < 0 || level >= levels()) return;
    m_chosen = level;
    update();
    emit levelChosen(level);
}

int FieldFlow::levels() const { return m_field ? static_cast<int>(m_field->levels.size()) : 0; }

QSize FieldFlow::sizeHint() const
{
    const int heading = 2 * fontMetrics().height() + 30;
    return {420,
            heading + static_cast<int>(std::max(1, levels() - 1) * (leastStep + fontMetrics().height()) + 2 * bar)};
}

QSize FieldFlow::minimumSizeHint() const { return {240, sizeHint().height()}; }

QRectF FieldFlow::half(int number) const
{
    const qreal left = leftOf(fontMetrics()), top = fontMetrics().height() + 18;
    const qreal width = (this->width() - left - 2 * gap) * 0.5;
    // Bars need room for their words below, rows for half of a dot.
    const qreal below = fontMetrics().height() + bar + 2;
    return {left + number * (width + gap), top, width, height() - top - below};
}

qreal FieldFlow::step() const { return levels() > 1 ? (half(0).height() - bar) / (levels() - 1) : 0; }

qreal FieldFlow::lineOf(int level) const { return half(0).top() + bar + level * step(); }

bool FieldFlow::drawsRows() const
{
    if (!m_field) return false;
    std::size_t edges = 0;
    for (const schema::FieldLevel& level : m_field->levels) {
        edges += edgesIn(level);
        const bool fits = static_cast<double>(rowsIn(level)) * 2 * (leastDot + 0.5) <= half(0).width();
        if (!listed(level) || !fits) return false;
    }
    return edges <= mostEdges;
}

FieldFlow::Dots FieldFlow::dotsOf(int level) const
{
    Dots dots;
    for (const schema::FieldRows& rows : m_field->levels[static_cast<std::size_t>(level)].rows)
        for (const std::int64_t id : rows.ids) dots.push_back({.table = rows.table, .id = id, .at = {}});
    const QRectF room = half(0);
    const qreal spacing =
        std::min(2 * largestDot + 8, room.width() / static_cast<qreal>(std::max<std::size_t>(1, dots.size())));
    const qreal first = room.center().x() - spacing * (static_cast<qreal>(dots.size()) - 1) / 2;
    for (std::size_t i = 0; i < dots.size(); ++i) dots[i].at = {first + spacing * static_cast<qreal>(i), lineOf(level)};
    return dots;
}

qreal FieldFlow::radiusOf(const Dots& dots, qreal width) const
{
    return std::clamp(width / static_cast<qreal>(std::max<std::size_t>(1, dots.size())) / 2 - 0.5, leastDot,
                      largestDot);
}

void FieldFlow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (!m_field) return;
    paintChosen(painter);
    paintHeadings(painter);
    paintNames(painter);
    if (drawsRows()) paintRows(painter);
    else paintBars(painter);
    paintBlocks(painter);
    if (!hasFocus()) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.accent, 1.4));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
}

void FieldFlow::paintChosen(QPainter& painter) const
{
    const qreal y = lineOf(m_chosen);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.hover);
    painter.drawRoundedRect(QRectF(2, y - largestDot - 5, width() - 4, 2 * largestDot + 10), 6, 6);
}

void FieldFlow::paintHeadings(QPainter& painter) const
{
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    painter.setFont(bold);
    painter.setPen(m_theme.text);
    const QString titles[] = {tr("Node by node"), tr("Layer by layer")};
    for (int number = 0; number < 2; ++number) {
        const QRectF room = half(number);
        painter.drawText(QRectF(room.left(), 4, room.width(), fontMetrics().height() + 4), Qt::AlignCenter,
                         titles[number]);
    }
    painter.setFont(font());
    const qreal x = half(1).left() - gap / 2;
    painter.setPen(QPen(m_theme.border, 1));
    painter.drawLine(QPointF(x, 6), QPointF(x, height() - 6));
}

void FieldFlow::paintNames(QPainter& painter) const
{
    const int line = fontMetrics().height();
    for (int level = 0; level < levels(); ++level) {
        painter.setPen(level == m_chosen ? m_theme.text : m_theme.textMuted);
        const QString name = roundName(m_field->levels[static_cast<std::size_t>(level)].depth, level == 0);
        painter.drawText(QRectF(8, lineOf(level) - line / 2.0, leftOf(fontMetrics()), line), Qt::AlignVCenter, name);
    }
}

void FieldFlow::paintRows(QPainter& painter) const
{
    QList<Dots> all;
    for (int level = 0; level < levels(); ++level) all.push_back(dotsOf(level));
    for (int level = 0; level + 1 < levels(); ++level) paintEdges(painter, level, all[level], all[level + 1]);
    for (int level = 0; level < levels(); ++level) paintDots(painter, level, all[level], half(0).width());
}

void FieldFlow::paintEdges(QPainter& painter, int level, const Dots& upper, const Dots& lower) const
{
    std::map<std::pair<std::string, std::int64_t>, QPointF> above, below;
    for (const Dot& dot : upper) above[{dot.table, dot.id}] = dot.at;
    for (const Dot& dot : lower) below[{dot.table, dot.id}] = dot.at;
    QColor colour = level == m_chosen ? m_theme.edge : m_theme.edgeMuted;
    painter.setPen(QPen(colour, level == m_chosen ? 1.1 : 0.8));
    for (const schema::FieldEdges& edges : m_field->levels[static_cast<std::size_t>(level)].edges)
        for (std::size_t i = 0; i < edges.fromIds.size(); ++i) {
            const auto from = below.find({edges.from, edges.fromIds[i]}), to = above.find({edges.to, edges.toIds[i]});
            if (from != below.end() && to != above.end()) painter.drawLine(from->second, to->second);
        }
}

void FieldFlow::paintDots(QPainter& painter, int level, const Dots& dots, qreal width) const
{
    const int depth = m_field->levels[static_cast<std::size_t>(level)].depth;
    const qreal radius = radiusOf(dots, width);
    QFont small = font();
    small.setPointSizeF(std::max(6.5, font().pointSizeF() * 0.78));
    painter.setFont(small);
    // All circles of a line have text, or none of them.
    const bool numbers = std::ranges::all_of(dots, [&](const Dot& dot) {
        return painter.fontMetrics().horizontalAdvance(QString::number(dot.id)) <= 2 * radius - 1;
    });
    for (const Dot& dot : dots) {
        const bool own = dot.id == m_field->node && dot.table == m_field->table;
        painter.setPen(QPen(own ? m_theme.accent : m_theme.nodeBorder, own ? 2 : 0.8));
        painter.setBrush(m_theme.depthColour(depth));
        painter.drawEllipse(dot.at, radius, radius);
        if (!numbers) continue;
        painter.setPen(m_theme.depthTextColour(depth));
        painter.drawText(QRectF(dot.at.x() - 20, dot.at.y() - 10, 40, 20), Qt::AlignCenter, QString::number(dot.id));
    }
    painter.setFont(font());
}

// One scale for both halves: the most rows of a round are as wide as a half.
qreal FieldFlow::widthOf(std::int64_t rows) const
{
    std::int64_t most = 1;
    for (const schema::FieldLevel& level : m_field->levels) most = std::max(most, rowsIn(level));
    const qreal full = half(0).width();
    return std::clamp(full * static_cast<qreal>(rows) / static_cast<qreal>(most), 3.0, full);
}

void FieldFlow::paintBars(QPainter& painter) const
{
    const qreal centre = half(0).center().x();
    QPolygonF left, right;
    for (int level = 0; level < levels(); ++level) {
        const qreal reach = widthOf(rowsIn(m_field->levels[static_cast<std::size_t>(level)])) / 2;
        left << QPointF(centre - reach, lineOf(level));
        right.prepend(QPointF(centre + reach, lineOf(level)));
    }
    QColor shade = m_theme.depthColour(1);
    shade.setAlphaF(m_theme.dark ? 0.45F : 0.3F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(shade);
    painter.drawPolygon(left + right);
    for (int level = 0; level < levels(); ++level) paintBar(painter, level);
}

void FieldFlow::paintBar(QPainter& painter, int level) const
{
    const schema::FieldLevel& shown = m_field->levels[static_cast<std::size_t>(level)];
    const qreal wide = widthOf(rowsIn(shown));
    const QRectF room(half(0).center().x() - wide / 2, lineOf(level) - bar / 2, wide, bar);
    painter.setPen(QPen(m_theme.nodeBorder, 0.8));
    painter.setBrush(m_theme.depthColour(shown.depth));
    painter.drawRoundedRect(room, 3, 3);
    const QString rows = tr("%1 rows, %2").arg(count(rowsIn(shown)), percent(shareOf(shown)));
    paintLabel(painter, room, level == 0 ? tr("node %1").arg(m_field->node) : rows);
}

// Placed below a bar, on an opaque background.
void FieldFlow::paintLabel(QPainter& painter, const QRectF& above, const QString& text) const
{
    const qreal wide = fontMetrics().horizontalAdvance(text) + 8, high = fontMetrics().height();
    const QRectF room(above.center().x() - wide / 2, above.bottom() + 3, wide, high);
    QColor paper = m_theme.panel;
    paper.setAlphaF(0.85F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(paper);
    painter.drawRoundedRect(room, 4, 4);
    painter.setPen(m_theme.text);
    painter.drawText(room, Qt::AlignCenter, text);
}

void FieldFlow::paintBlocks(QPainter& painter) const
{
    for (int level = 0; level + 1 < levels(); ++level) paintFan(painter, level);
    for (int level = 0; level < levels(); ++level) paintStore(painter, level);
}

// Between two rounds: the node, and the rows of the store that it reads.
void FieldFlow::paintFan(QPainter& painter, int level) const
{
    const qreal reach = widthOf(readsAt(*m_field, level)) / 2, centre = half(1).center().x();
    const qreal base = lineOf(level + 1) - bar / 2;
    QColor shade = m_theme.depthColour(m_field->levels[static_cast<std::size_t>(level)].depth);
    shade.setAlphaF(0.45F);
    painter.setPen(QPen(m_theme.edge, 0.8));
    painter.setBrush(shade);
    painter.drawPolygon(QPolygonF({{centre, lineOf(level)}, {centre + reach, base}, {centre - reach, base}}));
}

void FieldFlow::paintStore(QPainter& painter, int level) const
{
    const bool result = level == 0, input = level + 1 == levels();
    const QRectF room = half(1), store(room.left(), lineOf(level) - bar / 2, room.width(), bar);
    painter.setPen(QPen(result || input ? m_theme.nodeBorder : m_theme.checkpoint, 1.4));
    painter.setBrush(m_theme.panel);
    painter.drawRoundedRect(store, 5, 5);
    const std::int64_t rows = result ? 1 : readsAt(*m_field, level - 1);
    const qreal wide = widthOf(rows);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.depthColour(m_field->levels[static_cast<std::size_t>(level)].depth));
    painter.drawRoundedRect(QRectF(store.center().x() - wide / 2, store.top() + 1, wide, bar - 2), 4, 4);
    const QString read = input ? tr("%1 input rows read") : tr("%1 stored rows read");
    paintLabel(painter, store, result ? tr("node %1").arg(m_field->node) : read.arg(count(rows)));
}

void FieldFlow::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || levels() == 0) return;
    int nearest = 0;
    for (int level = 1; level < levels(); ++level)
        if (std::abs(lineOf(level) - event->position().y()) < std::abs(lineOf(nearest) - event->position().y()))
            nearest = level;
    choose(nearest);
}

void FieldFlow::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Up) return choose(m_chosen - 1);
    if (event->key() == Qt::Key_Down) return choose(m_chosen + 1);
    QWidget::keyPressEvent(event);
}

}  // namespace hopscope::study
