#include "graphview/scene/scene_painter.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <cmath>

#include "models/labels.h"

namespace hopscope::graphview {

namespace {

constexpr qreal textScale = 0.42;  // smaller text is not read
constexpr qreal detailScale = 0.6;
constexpr qreal fadedOpacity = 0.28;

QString tr(const char* text) { return QCoreApplication::translate("GraphScene", text); }

QColor mixed(const QColor& a, const QColor& b, qreal share)
{
    const auto blend = [share](int x, int y) { return static_cast<int>(x + (y - x) * share); };
    return {blend(a.red(), b.red()), blend(a.green(), b.green()), blend(a.blue(), b.blue())};
}

// As QPainter does it for Qt::AlignCenter, without measuring again: there are hundreds in a frame. On whole pixels of a
// screen: letters are sharper, and each is drawn once for all its places.
void drawCentred(QPainter& painter, const QRectF& room, const QString& text, qreal width, bool picture)
{
    const QFontMetrics metrics = painter.fontMetrics();
    const qreal top = room.center().y() - metrics.height() / 2.0;
    const QPointF exact(room.center().x() - width / 2, top + metrics.ascent());
    if (picture) return painter.drawText(exact, text);
    const QTransform& view = painter.transform();
    const QPointF pixel = view.map(exact);
    painter.drawText(view.inverted().map(QPointF(std::round(pixel.x()), std::round(pixel.y()))), text);
}

}  // namespace

ScenePainter::ScenePainter(QPainter& painter, const Scene& scene, const Colouring& colouring, const style::Theme& theme,
                           const PaintState& state)
    : m_painter(painter),
      m_scene(scene),
      m_colouring(colouring),
      m_theme(theme),
      m_state(state)
{}

bool ScenePainter::marked(const std::vector<char>& list, int node) const { return !list.empty() && list[node]; }

bool ScenePainter::faded(int node) const
{
    if (!m_state.found.empty()) return !m_state.found[node];
    return !m_state.cone.empty() && !m_state.cone[node];
}

void ScenePainter::paint(const QRectF& exposed)
{
    paintBands(exposed);
    m_painter.setRenderHint(QPainter::Antialiasing);
    paintFrames(exposed);
    paintBandEdges(exposed);
    paintEdges(exposed);
    paintStubs(exposed);
    for (const SceneStore& store : m_scene.stores)
        if (store.rect.united(QRectF(store.anchor, QSizeF(1, 1))).intersects(exposed)) paintStoreLine(store, exposed);
    for (int node : m_scene.nodeIndex.inside(exposed.adjusted(-20, -20, 20, 20))) paintNode(node);
    for (const SceneStore& store : m_scene.stores)
        if (store.rect.intersects(exposed)) paintStore(store);
}

void ScenePainter::paintBands(const QRectF& exposed)
{
    const qreal top = m_scene.bands.empty() ? exposed.bottom() : m_scene.bands.front().top;
    const qreal bottom = m_scene.bands.empty() ? exposed.bottom() : m_scene.bands.back().bottom;
    const auto fillOutside = [&](qreal from, qreal to) {
        const QRectF area(exposed.left(), from, exposed.width(), to - from);
        if (to > from) m_painter.fillRect(area, m_theme.panel);
    };
    fillOutside(exposed.top(), std::min(top, exposed.bottom()));
    fillOutside(std::max(bottom, exposed.top()), exposed.bottom());
    for (const Band& band : m_scene.bands) {
        const QRectF area(exposed.left(), band.top, exposed.width(), band.bottom - band.top);
        if (!area.intersects(exposed)) continue;
        const QColor fill = band.stage == 0 ? m_theme.prologueBand : band.stage % 2 ? m_theme.bandA : m_theme.bandB;
        m_painter.fillRect(area, fill);
        if (m_state.stage > 0 && band.stage == m_state.stage) {
            QColor tint = m_theme.accent;
            tint.setAlphaF(0.07F);
            m_painter.fillRect(area, tint);
        }
    }
}

// Over the frames: a module may reach over several stages.
void ScenePainter::paintBandEdges(const QRectF& exposed)
{
    for (const Band& band : m_scene.bands) {
        if (band.bottom < exposed.top() || band.bottom > exposed.bottom()) continue;
        m_painter.setPen(QPen(m_theme.border, 1));
        m_painter.drawLine(QPointF(exposed.left(), band.bottom), QPointF(exposed.right(), band.bottom));
    }
    if (m_state.scale < textScale) return;
    for (const Band& band : m_scene.bands) paintBandTitle(band);
}

void ScenePainter::paintBandTitle(const Band& band)
{
    const bool first = band.stage == 0;
    if (m_scene.staging.count == 0 && !first) return;
    QFont font = labelFont();
    m_painter.setFont(font);
    m_painter.setPen(m_theme.textMuted);
    const QPointF at(m_state.titleX + 14, band.top + 20);
    const QString title = first ? tr("Prologue (once per graph)") : tr("Stage %1").arg(band.stage);
    const QSizeF size(QFontMetricsF(font).horizontalAdvance(title), 14);
    if (m_scene.nodeIndex.count(QRectF(at - QPointF(0, 12), size), 1) > 0) return;
    m_painter.drawText(at, title);
    if (!first) return paintProgress(band, at + QPointF(0, 10));
    font = detailFont();
    font.setItalic(true);
    m_painter.setFont(font);
    const QRectF below(at + QPointF(0, 4), QSizeF(80, 14));
    if (m_scene.nodeIndex.count(below, 1) == 0) m_painter.drawText(at + QPointF(0, 16), tr("structure only"));
}

// While a run goes on, and after it, the stage's share of what is done.
void ScenePainter::paintProgress(const Band& band, QPointF at)
{
    if (!m_state.run) return;
    for (const models::StageProgress& stage : m_state.run->stages()) {
        if (stage.index.number != band.stage) continue;
        const qreal share = stage.finished           ? 1
                            : stage.destinations > 0 ? qreal(stage.done) / qreal(stage.destinations)
                                                     : 0;
        const QRectF bar(at, QSizeF(92, 5));
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(m_theme.border);
        m_painter.drawRoundedRect(bar, 2.5, 2.5);
        m_painter.setBrush(stage.finished ? m_theme.good : m_theme.accent);
        m_painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(bar.width() * std::min(share, 1.0), 5)), 2.5, 2.5);
        m_painter.setPen(m_theme.textMuted);
        m_painter.setFont(detailFont());
        const QString state = stage.finished ? tr("done") : QStringLiteral("%1 %").arg(int(share * 100));
        m_painter.drawText(at + QPointF(0, 20),
                           models::formatSeconds(stage.seconds) + QStringLiteral(" \u00b7 ") + state);
    }
}

void ScenePainter::paintFrames(const QRectF& exposed)
{
    for (std::size_t i = 0; i < m_scene.frames.size(); ++i) {
        const QRectF& frame = m_scene.frames[i];
        if (frame.isNull() || !frame.intersects(exposed)) continue;
        QColor fill = m_theme.panel;
        fill.setAlphaF(m_theme.dark ? 0.25F : 0.55F);
        m_painter.setPen(QPen(m_theme.border, 1));
        // Only the outermost is filled: every further one would cost as much as the whole picture.
        int parent = m_scene.graph.frames[i].parent;
        while (parent >= 0 && m_scene.frames[parent].isNull()) parent = m_scene.graph.frames[parent].parent;
        if (parent >= 0 && frame.adjusted(2, frameTitle, -2, -2).contains(exposed)) continue;  // nothing of it is seen
        m_painter.setBrush(parent < 0 ? QBrush(fill) : QBrush(Qt::NoBrush));
        m_painter.drawRoundedRect(frame.intersected(exposed.adjusted(-40, -40, 40, 40)), 9, 9);
        if (m_state.scale < textScale) continue;
        const QFontMetricsF metrics(detailFont());
        m_painter.setFont(detailFont());
        m_painter.setPen(m_theme.textMuted);
        // Left of the middle, where edges come in; the type is left out where there is no room for it.
        const QString sign = m_state.picture ? QString() : QStringLiteral("\u2212  ");
        const QString title = sign + m_scene.graph.frames[i].title;
        const qreal room = frame.width() / 2 - 18;
        const QString shown = metrics.horizontalAdvance(title) <= room
                                  ? title
                                  : title.section(QStringLiteral("  "), 0, sign.isEmpty() ? 0 : 1);
        m_painter.drawText(frame.topLeft() + QPointF(10, 15),
                           metrics.elidedText(shown, Qt::ElideMiddle, frame.width() - 20));
    }
}

void ScenePainter::paintEdges(const QRectF& exposed)
{
    const std::vector<int> edges = m_scene.edgesInside(exposed);
    for (int edge : edges)
        if (!m_scene.edges[edge].cut) paintEdge(edge);
    for (int edge : edges)
        if (m_scene.edges[edge].cut) paintEdge(edge);
    if (m_state.scale >= detailScale) paintCutBytes(edges);
}

void ScenePainter::paintEdge(int index)
{
    const SceneEdge& edge = m_scene.edges[index];
    const bool off = faded(edge.from) || faded(edge.to);
    const bool lit = index == m_state.selectedEdge || index == m_state.hoveredEdge;
    const bool structure = m_scene.graph.nodes[edge.to].prologue;
    QColor colour = edge.cut ? m_theme.cut : structure ? m_theme.structure : m_theme.edge;
    if (lit && !edge.cut) colour = m_theme.accent;
    QPen pen(colour, edge.cut ? 2.4 : lit ? 2 : 1.2);
    if (lit && edge.cut) pen.setWidthF(3.4);
    pen.setCapStyle(Qt::FlatCap);
    if (edge.cut) pen.setDashPattern({3, 2});
    m_painter.setOpacity(off ? fadedOpacity : 1);
    m_painter.setPen(pen);
    m_painter.setBrush(Qt::NoBrush);
    m_painter.drawPath(edgePath(edge.path));
    const auto size = edge.path.size();
    paintArrow(edge.path[size - 1], edge.path[size - 2], colour, edge.cut ? 9 : 6.5);
    if (!edge.pins.isEmpty()) paintPin(m_painter, pointOnPath(edge.path, 0.75), m_theme);
    m_painter.setOpacity(1);
}

void ScenePainter::paintArrow(QPointF tip, QPointF from, const QColor& colour, qreal size)
{
    QPointF direction = tip - from;
    const qreal length = std::hypot(direction.x(), direction.y());
    direction = length < 0.1 ? QPointF(0, 1) : direction / length;
    const QPointF side(-direction.y(), direction.x());
    const QPointF base = tip - direction * size;
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(colour);
    m_painter.drawPolygon(QPolygonF{tip, base + side * size * 0.5, base - side * size * 0.5});
}

// Beside each cut edge where nothing else is; an edge without room keeps its bytes to its checkpoint.
void ScenePainter::paintCutBytes(const std::vector<int>& edges)
{
    m_painter.setFont(smallFont());
    std::vector<QRectF> taken;
    for (const SceneStore& store : m_scene.stores) taken.push_back(store.rect);
    for (int index : edges) {
        const SceneEdge& edge = m_scene.edges[index];
        if (!edge.cut || edge.bytes.isEmpty()) continue;
        const QRectF chip = roomBeside(edge, taken);
        if (chip.isNull()) continue;
        taken.push_back(chip);
        m_painter.setOpacity(faded(edge.from) || faded(edge.to) ? fadedOpacity : 1);
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(m_theme.panel);
        m_painter.drawRoundedRect(chip, 3, 3);
        m_painter.setPen(m_theme.warning);
        m_painter.drawText(chip, Qt::AlignCenter, edge.bytes);
    }
    m_painter.setOpacity(1);
}

QRectF ScenePainter::roomBeside(const SceneEdge& edge, const std::vector<QRectF>& taken) const
{
    const QSizeF size(QFontMetricsF(smallFont()).horizontalAdvance(edge.bytes) + 6, 14);
    for (const qreal along : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8}) {
        const QRectF chip(pointOnPath(edge.path, along) + QPointF(4, -size.height() / 2), size);
        const bool free = std::none_of(taken.begin(), taken.end(), [&](const QRectF& r) { return r.intersects(chip); });
        if (free && m_scene.nodeIndex.inside(chip).empty()) return chip;
    }
    return {};
}

void ScenePainter::paintStubs(const QRectF& exposed)
{
    if (m_state.scale < textScale) return;
    m_painter.setFont(smallFont());
    for (const SceneStub& stub : m_scene.stubs) {
        if (!stub.textRect.adjusted(0, -4, 60, 4).intersects(exposed)) continue;
        const bool lit = stub.source == m_state.stubSource;
        const QColor& colour = m_scene.graph.nodes[stub.source].prologue ? m_theme.structure : m_theme.textMuted;
        m_painter.setOpacity(faded(stub.node) ? fadedOpacity : 1);
        m_painter.setPen(QPen(colour, lit ? 2.2 : 1.2, lit ? Qt::SolidLine : Qt::DotLine));
        m_painter.drawLine(stub.from, stub.to - QPointF(5, 0));
        paintArrow(stub.to, stub.from, colour, 5.5);
        QColor back = m_theme.panel;
        back.setAlphaF(0.72F);
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(back);
        m_painter.drawRoundedRect(stub.textRect.adjusted(-3, 0, 2, 0), 4, 4);
        m_painter.setPen(colour);
        m_painter.drawText(stub.textRect, Qt::AlignRight | Qt::AlignVCenter, stub.text);
    }
    m_painter.setOpacity(1);
}

// No further than it is seen: dots beyond cost as much as those in the picture.
void ScenePainter::paintStoreLine(const SceneStore& store, const QRectF& exposed)
{
    const qreal near = store.rect.left() > store.anchor.x() ? store.rect.left() + 4 : store.rect.right();
    const auto [left, right] = std::minmax({store.anchor.x(), near});
    const qreal begin = std::max(left, exposed.left()), end = std::min(right, exposed.right());
    if (begin >= end) return;
    m_painter.setPen(QPen(m_theme.cut, 1.2, Qt::DotLine));
    m_painter.drawLine(QPointF(begin, store.anchor.y()), QPointF(end, store.anchor.y()));
}

void ScenePainter::paintStore(const SceneStore& store)
{
    const bool lit = m_state.selectedStore == store.value;
    const QRectF& rect = store.rect;
    // Lines of other stores do not run through its text.
    m_painter.setPen(lit ? QPen(m_theme.accent, 1.6) : QPen(m_theme.border, 1));
    m_painter.setBrush(m_theme.panel);
    m_painter.drawRoundedRect(rect.adjusted(0, 2, 0, -2), 6, 6);
    paintCylinder(m_painter, QRectF(rect.left() + 5, rect.center().y() - 11, 25, 22), m_theme);
    if (store.pinned) {
        m_painter.setPen(QPen(m_theme.panel, 1));
        m_painter.setBrush(m_theme.accent);
        m_painter.drawEllipse(QPointF(rect.left() + 29, rect.center().y() - 10), 4, 4);
    }
    if (m_state.scale < textScale) return;
    m_painter.setFont(smallFont());
    if (store.count > 1) paintCount(rect, store.count);
    m_painter.setPen(m_theme.warning);
    const bool both = !store.up.isEmpty() && !store.down.isEmpty();
    const QRectF text(rect.left() + 37, rect.top(), rect.width() - 37, rect.height());
    m_painter.drawText(both ? text.adjusted(0, 0, 0, -rect.height() / 2) : text, Qt::AlignVCenter, store.down);
    m_painter.drawText(both ? text.adjusted(0, rect.height() / 2, 0, 0) : text, Qt::AlignVCenter, store.up);
}

// "×40" on the glyph of a store that stands for several.
void ScenePainter::paintCount(const QRectF& store, int count)
{
    const QString text = QStringLiteral("\u00d7%1").arg(count);
    const qreal width = QFontMetricsF(smallFont()).horizontalAdvance(text) + 6;
    const QRectF chip(store.left() + 17 - width / 2, store.bottom() - 9, width, 13);
    m_painter.setPen(QPen(m_theme.border, 1));
    m_painter.setBrush(m_theme.panel);
    m_painter.drawRoundedRect(chip, 4, 4);
    m_painter.setPen(m_theme.warning);
    m_painter.drawText(chip, Qt::AlignCenter, text);
}

QPen ScenePainter::borderOf(int node) const
{
    const VisibleNode& record = m_scene.graph.nodes[node];
    if (marked(m_state.selected, node)) return {m_theme.accent, 2.6};
    if (node == m_state.hoveredNode) return {m_theme.accent, 1.8};
    if (m_state.stubSource == node) return {m_theme.structure, 2.4};
    if (record.prologue && record.shape == Shape::Structure) return {m_theme.structure, 1.3, Qt::DashLine};
    if (record.shape == Shape::Output) return {m_theme.text, 2.2};
    return {m_theme.nodeBorder, 1.1};
}

void ScenePainter::paintNode(int node)
{
    const VisibleNode& record = m_scene.graph.nodes[node];
    m_painter.setOpacity(faded(node) ? fadedOpacity : 1);
    if (record.shape == Shape::Module) paintStack(node);
    const QPainterPath path = shapePath(record.shape, m_scene.nodes[node]);
    m_painter.setPen(borderOf(node));
    m_painter.setBrush(record.prologue && record.shape == Shape::Structure ? m_theme.panel : m_colouring.fill[node]);
    m_painter.drawPath(path);
    if (!m_scene.staging.again[node].empty()) paintHatching(node, path);
    if (m_state.scale >= textScale) paintText(node);
    if (m_state.scale >= textScale && !record.expands.isEmpty() && !m_state.picture) paintExpander(node);
    if (m_state.scale >= detailScale && !record.prologue) paintBadge(node);
    if (m_state.scale >= detailScale && m_scene.innerStores[node] > 0) paintInnerStores(node);
    if (marked(m_state.bookmarked, node)) paintBookmark(node);
    if (!m_scene.pins.empty() && !m_scene.pins[node].isEmpty())
        paintPin(m_painter, m_scene.nodes[node].bottomLeft() + QPointF(1, 5), m_theme);
    if (!m_scene.moved.empty() && m_scene.moved[node] > 0) paintMove(node);
    m_painter.setOpacity(1);
}

// A second edge behind a box says that there is more inside; a third that it stands for several.
void ScenePainter::paintStack(int node)
{
    const int sheets = m_scene.graph.nodes[node].repeat > 1 ? 2 : 1;
    m_painter.setPen(QPen(m_theme.nodeBorder, 1));
    m_painter.setBrush(mixed(m_colouring.fill[node], m_theme.panel, 0.45));
    for (int sheet = sheets; sheet > 0; --sheet)
        m_painter.drawPath(shapePath(Shape::Module, m_scene.nodes[node].translated(sheet * 3.5, sheet * 3.5)));
}

void ScenePainter::paintHatching(int node, const QPainterPath& path)
{
    QColor colour = mixed(m_colouring.fill[node], m_colouring.text[node], 0.32);
    m_painter.save();
    m_painter.setClipPath(path, Qt::IntersectClip);
    m_painter.setPen(QPen(colour, 1));
    const QRectF& rect = m_scene.nodes[node];
    // Only outside of the text: stripes would make it hard to read.
    for (qreal x = rect.left() - rect.height(); x < rect.right(); x += 7)
        m_painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()));
    m_painter.restore();
}

void ScenePainter::paintText(int node)
{
    const NodeText& text = m_scene.texts[node];
    const VisibleNode& record = m_scene.graph.nodes[node];
    const QRectF& rect = m_scene.nodes[node];
    const bool structure = record.prologue && record.shape == Shape::Structure;
    const bool two = !text.detail.isEmpty() && m_state.scale >= detailScale;
    if (!m_scene.staging.again[node].empty()) {
        const qreal width = QFontMetricsF(labelFont()).horizontalAdvance(text.label) + 8;
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(m_colouring.fill[node]);
        m_painter.drawRoundedRect(QRectF(rect.center().x() - width / 2, rect.top() + 4, width, rect.height() - 8), 4,
                                  4);
    }
    m_painter.setPen(structure ? m_theme.structure : m_colouring.text[node]);
    m_painter.setFont(labelFont());
    const QRectF upper = two ? rect.adjusted(0, 3, 0, -rect.height() * 0.42) : rect;
    drawCentred(m_painter, upper, text.label, text.labelWidth, m_state.picture);
    if (!two) return;
    m_painter.setFont(detailFont());
    drawCentred(m_painter, rect.adjusted(0, rect.height() * 0.5, 0, -3), text.detail, text.detailWidth,
                m_state.picture);
}

}  // namespace hopscope::graphview
