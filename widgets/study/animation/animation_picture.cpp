#include "study/animation/animation_picture.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::study {

namespace {

constexpr qreal margin = 10;
constexpr qreal largest = 13, smallest = 3.5;  // radii of nodes
constexpr qreal ring = 3.5;                    // between a node and the mark around it
constexpr qreal nameShare = 0.34;              // of the width, for the names of stores
constexpr qreal storesShare = 0.4;             // of the height, at most
constexpr int wordLines = 4;                   // of the caption, in files

class FramePainter {
public:
    FramePainter(QPainter& painter, const QRectF& room, const FilmPicture& picture, int frame, qreal progress)
        : m_painter(painter),
          m_room(room),
          m_picture(picture),
          m_film(picture.film),
          m_number(frame),
          m_frame(m_film.animation.frames[static_cast<std::size_t>(frame)]),
          m_progress(progress),
          m_metrics(picture.font),
          m_stores(shownStores())
    {
        const auto count = static_cast<qreal>(std::max<std::size_t>(1, m_film.animation.nodes.size()));
        const QRectF graph = graphRoom();
        const qreal spacing = std::sqrt(std::max(1.0, graph.width() * graph.height()) / count);
        m_radius = std::clamp(spacing * 0.26, smallest, largest);
    }

    void paint()
    {
        m_painter.setRenderHint(QPainter::Antialiasing);
        m_painter.setFont(m_picture.font);
        m_painter.fillRect(m_room, theme().panel);
        if (m_picture.words) paintWords();
        paintEdges();
        paintNodes();
        if (m_frame.moment == Moment::Gather) paintMoving();
        for (std::size_t row = 0; row < m_stores.size(); ++row) paintStore(m_stores[row], row);
        paintOthers();
    }

    [[nodiscard]] QPointF placeOf(std::size_t node) const
    {
        const qreal edge = largest + ring + 2;
        const QRectF inner = graphRoom().adjusted(edge, edge, -edge, -edge);
        const QPointF& place = m_picture.places[node];
        return {inner.left() + place.x() * inner.width(), inner.top() + place.y() * inner.height()};
    }

private:
    [[nodiscard]] const style::Theme& theme() const { return m_picture.theme; }
    [[nodiscard]] qreal line() const { return m_metrics.height() + 6; }
    [[nodiscard]] qreal storesHeight() const
    {
        const std::size_t others = m_stores.size() < m_film.animation.stores.size() ? 1 : 0;
        return static_cast<qreal>(m_stores.size() + others) * line() + margin;
    }
    [[nodiscard]] qreal wordsHeight() const
    {
        return m_picture.words ? (wordLines + 1.4) * m_metrics.height() + margin : 0;
    }

    // The stores that any batch of the frame's stage reads or writes.
    [[nodiscard]] std::set<int> storesOfStage() const
    {
        std::set<int> used;
        for (const Frame& frame : m_film.animation.frames)
            if (frame.stage == m_frame.stage) used.insert(frame.stores.begin(), frame.stores.end());
        return used;
    }

    // If all of them left no room for the graph, only those of the stage and their neighbours are shown.
    [[nodiscard]] std::vector<std::size_t> shownStores() const
    {
        std::vector<std::size_t> shown(m_film.animation.stores.size());
        std::iota(shown.begin(), shown.end(), std::size_t{0});
        const auto most = static_cast<std::size_t>(std::max(3.0, storesShare * m_room.height() / line()));
        if (shown.size() <= most) return shown;
        const std::set<int> used = storesOfStage();
        const auto away = [&](std::size_t store) {
            const auto number = static_cast<int>(store);
            if (std::ranges::find(m_frame.stores, number) != m_frame.stores.end()) return -1;
            int least = used.empty() ? number : static_cast<int>(shown.size());
            for (const int other : used) least = std::min(least, std::abs(other - number));
            return least;
        };
        std::ranges::stable_sort(shown, {}, away);
        shown.resize(most - 1);
        std::ranges::sort(shown);
        return shown;
    }

    void paintOthers()
    {
        const auto others = static_cast<int>(m_film.animation.stores.size() - m_stores.size());
        if (others == 0) return;
        const QRectF room(m_room.left() + margin, m_room.bottom() - margin - line(), m_room.width() - 2 * margin,
                          line() - 2);
        m_painter.setPen(theme().textMuted);
        m_painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                           others == 1 ? tr("1 store of other stages") : tr("%1 stores of other stages").arg(others));
    }

    [[nodiscard]] QRectF graphRoom() const
    {
        return m_room.adjusted(margin, margin + wordsHeight(), -margin, -margin - storesHeight());
    }

    void paintWords()
    {
        QFont bold = m_picture.font;
        bold.setWeight(QFont::DemiBold);
        const QRectF room = m_room.adjusted(margin, margin, -margin, 0);
        m_painter.setPen(theme().text);
        m_painter.setFont(bold);
        m_painter.drawText(room, Qt::AlignLeft | Qt::AlignTop, frameTitle(m_film, m_number));
        m_painter.setFont(m_picture.font);
        QString words = frameCaption(m_film, m_number);
        if (m_frame.moment == Moment::Start) words += u' ' + partSentence(m_film);
        m_painter.drawText(room.adjusted(0, 1.3 * m_metrics.height(), 0, 0), Qt::AlignLeft | Qt::TextWordWrap, words);
    }

    [[nodiscard]] bool usesEdges() const
    {
        switch (m_frame.moment) {
        case Moment::Block:
        case Moment::Gather: return true;
        case Moment::Compute: return m_frame.rows.starts_with("O(");
        default: return false;
        }
    }

    void paintEdges()
    {
        const auto& edges = m_film.animation.edges;
        std::vector<char> used(edges.size(), 0);
        for (const int e : m_frame.edges) used[static_cast<std::size_t>(e)] = 1;
        for (const char now : {char{0}, char{1}})
            for (std::size_t e = 0; e < edges.size(); ++e)
                if (used[e] == now) paintEdge(edges[e], now != 0);
    }

    void paintEdge(const DrawnEdge& edge, bool used)
    {
        if (edge.from < 0 || edge.from == edge.to) return;
        const QPointF from = placeOf(static_cast<std::size_t>(edge.from)),
                      to = placeOf(static_cast<std::size_t>(edge.to));
        const QPointF way = to - from;
        const qreal length = std::hypot(way.x(), way.y());
        if (length < 2 * m_radius) return;
        const QPointF unit = way / length, tip = to - unit * (m_radius + 1);
        const bool strong = used && usesEdges();
        const QColor colour = strong ? theme().edge : theme().edgeMuted;
        m_painter.setPen(QPen(colour, strong ? 1.5 : 0.7));
        m_painter.drawLine(from + unit * m_radius, tip);
        if (strong) paintTip(tip, unit, colour);
    }

    void paintTip(const QPointF& tip, const QPointF& unit, const QColor& colour)
    {
        const qreal size = std::min(6.0, m_radius * 0.9);
        const QPointF across(-unit.y(), unit.x()), back = tip - unit * size;
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(colour);
        m_painter.drawPolygon(QPolygonF({tip, back + across * (size * 0.5), back - across * (size * 0.5)}));
    }

    void paintNodes()
    {
        const std::vector<int> reached = stagesReached(m_film.animation, m_film.plan, m_frame);
        std::vector<char> own(reached.size(), 0), read(reached.size(), 0);
        for (const int node : m_frame.frontier) read[static_cast<std::size_t>(node)] = 1;
        for (const int node : m_frame.destinations) own[static_cast<std::size_t>(node)] = 1;
        for (std::size_t node = 0; node < reached.size(); ++node) {
            if (own[node] != 0) paintMark(node, true);
            else if (read[node] != 0) paintMark(node, false);
            paintNode(node, reached[node]);
        }
    }

    // The shape depends on the type: a circle, a square, a diamond, then from the first again.
    [[nodiscard]] QPainterPath shapeOf(std::size_t node, qreal radius) const
    {
        const QPointF place = placeOf(node);
        QPainterPath path;
        switch (m_film.animation.nodes[node].table % 3) {
        case 0: path.addEllipse(place, radius, radius); break;
        case 1:
            path.addRoundedRect(QRectF(place.x() - radius, place.y() - radius, 2 * radius, 2 * radius), 2, 2);
            break;
        default:
            path.addPolygon(QPolygonF({place - QPointF(0, 1.25 * radius), place + QPointF(1.25 * radius, 0),
                                       place + QPointF(0, 1.25 * radius), place - QPointF(1.25 * radius, 0)}));
            path.closeSubpath();
        }
        return path;
    }

    void paintMark(std::size_t node, bool own)
    {
        m_painter.setBrush(Qt::NoBrush);
        const QColor colour = own ? theme().accent : theme().checkpoint;
        m_painter.setPen(QPen(colour, own ? 2.6 : 1.8, own ? Qt::SolidLine : Qt::DashLine));
        m_painter.drawPath(shapeOf(node, radiusOf(node) + ring));
    }

    [[nodiscard]] qreal radiusOf(std::size_t node) const
    {
        return m_film.animation.nodes[node].whole ? m_radius : std::max(smallest, m_radius * 0.7);
    }

    void paintNode(std::size_t node, int reached)
    {
        const qreal radius = radiusOf(node);
        m_painter.setPen(QPen(theme().nodeBorder, 0.9));
        m_painter.setBrush(theme().depthColour(shadeOf(reached)));
        m_painter.drawPath(shapeOf(node, radius));
        const QString number = QString::number(m_film.animation.nodes[node].id);
        QFont small = m_picture.font;
        small.setPointSizeF(std::max(6.5, m_picture.font.pointSizeF() * 0.78));
        if (QFontMetricsF(small).horizontalAdvance(number) > 2 * radius - 1) return;
        m_painter.setFont(small);
        m_painter.setPen(theme().depthTextColour(shadeOf(reached)));
        const QPointF place = placeOf(node);
        m_painter.drawText(QRectF(place.x() - 20, place.y() - 10, 40, 20), Qt::AlignCenter, number);
        m_painter.setFont(m_picture.font);
    }

    // The rows that are read travel along the edges.
    void paintMoving()
    {
        m_painter.setPen(QPen(theme().panel, 0.8));
        m_painter.setBrush(theme().checkpoint);
        for (const int e : m_frame.edges) {
            const DrawnEdge& edge = m_film.animation.edges[static_cast<std::size_t>(e)];
            if (edge.from < 0 || edge.from == edge.to) continue;
            const QPointF from = placeOf(static_cast<std::size_t>(edge.from)),
                          to = placeOf(static_cast<std::size_t>(edge.to));
            const QPointF now = from + (to - from) * (0.15 + 0.7 * m_progress);
            m_painter.drawEllipse(now, std::max(2.2, m_radius * 0.3), std::max(2.2, m_radius * 0.3));
        }
    }

    // The colour shows how many stages a row has passed through, spread over all colours of depths.
    [[nodiscard]] int shadeOf(int reached) const
    {
        const auto stages = static_cast<qreal>(std::max<std::size_t>(1, m_film.plan.stages.size()));
        return qRound(reached * static_cast<qreal>(theme().depth.size() - 1) / stages);
    }

    [[nodiscard]] int stageOf(const DrawnStore& store) const
    {
        if (!store.stage) return 0;
        const auto stage = std::ranges::find(m_film.plan.stages, *store.stage, &protocol::PlanStage::index);
        return 1 + static_cast<int>(stage - m_film.plan.stages.begin());
    }

    void paintStore(std::size_t number, std::size_t row)
    {
        const DrawnStore& store = m_film.animation.stores[number];
        const bool active = std::ranges::find(m_frame.stores, static_cast<int>(number)) != m_frame.stores.end();
        const qreal top = m_room.bottom() - storesHeight() + static_cast<qreal>(row) * line();
        const qreal wide = m_room.width() - 2 * margin,
                    state = m_metrics.horizontalAdvance(tr("1,000 of 1,000 exact")) + 8;
        const QRectF name(m_room.left() + margin, top, wide * nameShare - 6, line() - 2);
        const QRectF cells(name.right() + 6, top + 2, wide - name.width() - 12 - state, line() - 6);
        QFont font = m_picture.font;
        if (active) font.setWeight(QFont::DemiBold);
        m_painter.setFont(font);
        m_painter.setPen(theme().text);
        const QString kind = !store.stage ? tr("%1 (input)") : store.output ? tr("%1 (result)") : tr("%1 (store)");
        const QString words = kind.arg(storeName(m_film, number));
        m_painter.drawText(name, Qt::AlignVCenter | Qt::AlignLeft,
                           QFontMetricsF(font).elidedText(words, Qt::ElideMiddle, name.width()));
        m_painter.setFont(m_picture.font);
        m_painter.drawText(QRectF(cells.right() + 6, top, state, line() - 2), Qt::AlignVCenter | Qt::AlignLeft,
                           storeState(m_film, number, m_frame));
        paintCells(store, number, cells);
        m_painter.setBrush(Qt::NoBrush);
        m_painter.setPen(QPen(active ? theme().checkpoint : theme().border, active ? 2 : 1));
        m_painter.drawRoundedRect(cells, 2, 2);
    }

    void paintCells(const DrawnStore& store, std::size_t number, const QRectF& room)
    {
        const auto count = static_cast<qreal>(store.cells.size());
        m_painter.setPen(Qt::NoPen);
        for (std::size_t c = 0; c < store.cells.size(); ++c) {
            if (m_frame.exact[number][c] == 0) continue;
            const qreal from = room.left() + room.width() * static_cast<qreal>(c) / count;
            const qreal gap = room.width() / count > 5 ? 1 : 0;
            m_painter.setBrush(theme().depthColour(shadeOf(stageOf(store))));
            if (!store.stage) m_painter.setBrush(theme().nodeBorder);
            m_painter.drawRect(QRectF(from, room.top(), room.width() / count - gap, room.height()));
        }
    }

    QPainter& m_painter;
    QRectF m_room;
    const FilmPicture& m_picture;
    const Film& m_film;
    int m_number;
    const Frame& m_frame;
    qreal m_progress;
    QFontMetricsF m_metrics;
    std::vector<std::size_t> m_stores;  // that are shown, of the animation's
    qreal m_radius = largest;
};

}  // namespace

void paintFrame(QPainter& painter, const QRectF& room, const FilmPicture& picture, int frame, qreal progress)
{
    painter.save();
    FramePainter(painter, room, picture, frame, progress).paint();
    painter.restore();
}

QPointF nodePlace(const QRectF& room, const FilmPicture& picture, int frame, std::size_t node)
{
    QPainter nowhere;
    return FramePainter(nowhere, room, picture, frame, 0).placeOf(node);
}

}  // namespace hopscope::study
