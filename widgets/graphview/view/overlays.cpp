#include "graphview/view/overlays.h"

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyleOption>
#include <QToolTip>
#include <functional>

#include "graphview/scene/level_of_detail.h"
#include "graphview/scene/scene_painter.h"
#include "manual/glossary.h"

namespace hopscope::graphview {

namespace {

constexpr int chipHeight = 18, chipGap = 6, swatch = 26;
constexpr int closer = 8, closeGap = 2;  // where chips would not fit into a row otherwise

void paintCard(QPainter& painter, const QRect& rect, const style::Theme& theme)
{
    painter.setRenderHint(QPainter::Antialiasing);
    QColor fill = theme.panel;
    fill.setAlphaF(0.94F);
    painter.setPen(QPen(theme.border, 1));
    painter.setBrush(fill);
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

int chipWidth(const QString& label)
{
    return std::max(30, static_cast<int>(QFontMetricsF(smallFont()).horizontalAdvance(label)) + 14);
}

struct Sign {
    QString name;
    std::function<void(QPainter&, const QRectF&, const style::Theme&)> paint;
};

void paintCut(QPainter& painter, const QRectF& box, const style::Theme& theme)
{
    QPen pen(theme.cut, 2.4);
    pen.setDashPattern({3, 2});
    painter.setPen(pen);
    painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()));
}

void paintHatched(QPainter& painter, const QRectF& box, const style::Theme& theme)
{
    painter.setPen(QPen(theme.nodeBorder, 1));
    painter.setBrush(QBrush(theme.recompute, Qt::BDiagPattern));
    painter.drawRoundedRect(box, 4, 4);
}

void paintStructure(QPainter& painter, const QRectF& box, const style::Theme& theme)
{
    painter.setPen(QPen(theme.structure, 1.3, Qt::DashLine));
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(box, 4, 4);
}

// The self-explanatory sign comes last.
std::vector<Sign> signsOf(Legend::Signs shown)
{
    std::vector<Sign> signs;
    const auto disc = [](BreakMark mark) {
        return [mark](QPainter& painter, const QRectF& box, const style::Theme& theme) {
            paintBreakpointMark(painter, box.center() + QPointF(5, 0), mark, theme);
        };
    };
    if (shown.breakpoints) signs.push_back({Legend::tr("breakpoint"), disc(BreakMark::Here)});
    if (shown.inside) signs.push_back({Legend::tr("breakpoint inside"), disc(BreakMark::Inside)});
    if (shown.stores) {
        const auto store = [](QPainter& painter, const QRectF& box, const style::Theme& theme) {
            paintCylinder(painter, box.adjusted(4, 0, -4, 0), theme);
        };
        signs.push_back({Legend::tr("stored value"), store});
        signs.push_back({Legend::tr("cut"), paintCut});
    }
    if (shown.again) signs.push_back({Legend::tr("recomputation"), paintHatched});
    if (shown.pins)
        signs.push_back({Legend::tr("pin"), [](QPainter& painter, const QRectF& box, const style::Theme& theme) {
                             paintPin(painter, box.center() + QPointF(0, 7), theme);
                         }});
    signs.push_back({Legend::tr("structure only"), paintStructure});
    return signs;
}

}  // namespace

void Card::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

void Card::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintCard(painter, rect(), m_theme);
}

Legend::Legend(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("graphLegend"));
    setAccessibleName(tr("Legend"));
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void Legend::display(const Colouring& colouring, const style::Theme& theme, Signs signs)
{
    m_theme = theme;
    m_signs = signs;
    const bool other = colouring.legend.size() != m_colouring.legend.size() || colouring.title != m_colouring.title;
    m_colouring = {.title = colouring.title, .fill = {}, .text = {}, .legend = colouring.legend};
    QStringList words{colouring.title};
    for (const LegendEntry& entry : colouring.legend) words << entry.label;
    for (const Sign& sign : signsOf(signs)) words << sign.name;
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    if (other) updateGeometry();
    update();
}

void Legend::clear()
{
    m_colouring = {};
    updateGeometry();
    update();
}

std::vector<QRect> Legend::chips(int width) const
{
    // If they do not fit into a row otherwise, they move closer together.
    int wanted = 0;
    for (const LegendEntry& entry : m_colouring.legend) wanted += chipWidth(entry.label) + chipGap;
    const int spare = wanted > width ? closer : 0, gap = wanted > width ? closeGap : chipGap;
    std::vector<QRect> places;
    int x = 0, y = (rowHeight - chipHeight) / 2;
    for (const LegendEntry& entry : m_colouring.legend) {
        const int wide = chipWidth(entry.label) - spare;
        if (x > 0 && x + wide > width) x = 0, y += rowHeight;
        places.emplace_back(x, y, wide, chipHeight);
        x += wide + gap;
    }
    return places;
}

int Legend::leastRow() const
{
    int wanted = 0;
    for (const LegendEntry& entry : m_colouring.legend) wanted += chipWidth(entry.label) - closer + closeGap;
    return wanted;
}

int Legend::heightForWidth(int width) const
{
    const std::vector<QRect> places = chips(width);
    return places.empty() ? rowHeight : places.back().bottom() + 1 + (rowHeight - chipHeight) / 2;
}

void Legend::paintEvent(QPaintEvent*)
{
    if (m_colouring.legend.empty()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const std::vector<QRect> places = chips(width());
    paintEntries(painter, places);
    paintSigns(painter);
}

void Legend::paintEntries(QPainter& painter, const std::vector<QRect>& places)
{
    painter.setFont(smallFont());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const LegendEntry& entry = m_colouring.legend[i];
        painter.setPen(QPen(m_theme.nodeBorder, 1));
        painter.setBrush(entry.fill);
        painter.drawRoundedRect(QRectF(places[i]).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        painter.setPen(entry.text);
        painter.drawText(places[i], Qt::AlignCenter, entry.label);
    }
}

struct Legend::PlacedSign {
    Sign sign;
    QRectF place;
};

// Those that fit behind the colours.
std::vector<Legend::PlacedSign> Legend::placedSigns() const
{
    const std::vector<QRect> places = chips(width());
    std::vector<PlacedSign> placed;
    if (places.empty()) return placed;
    qreal x = places.back().right() + 20;
    const qreal y = places.back().top() - (rowHeight - chipHeight) / 2;
    for (const Sign& sign : signsOf(m_signs)) {
        const qreal wide = swatch + 6 + QFontMetricsF(detailFont()).horizontalAdvance(sign.name);
        if (x + wide > width()) break;
        placed.push_back({sign, QRectF(x, y, wide + 2, rowHeight)});
        x += wide + 16;
    }
    return placed;
}

void Legend::paintSigns(QPainter& painter)
{
    painter.setFont(detailFont());
    for (const auto& [sign, place] : placedSigns()) {
        sign.paint(painter, QRectF(place.x(), place.y() + 5, swatch, rowHeight - 10), m_theme);
        painter.setPen(m_theme.textMuted);
        painter.drawText(place.adjusted(swatch + 6, 0, 0, 0), Qt::AlignVCenter, sign.name);
    }
}

QString Legend::wordsAt(QPoint at) const
{
    for (const auto& [sign, place] : placedSigns())
        if (place.contains(at)) return sign.name;
    return std::ranges::any_of(chips(width()), [&](const QRect& chip) { return chip.contains(at); }) ? m_colouring.title
                                                                                                     : QString();
}

// The title of the colours is not painted; it appears together with the definitions of its terms.
bool Legend::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString words = wordsAt(help->pos());
    const QString title = words == m_colouring.title && !words.isEmpty()
                              ? QStringLiteral("<p>%1</p>").arg(words.toHtmlEscaped())
                              : QString();
    QToolTip::showText(help->globalPos(), title + manual::definitionsIn(words), this);
    return true;
}

Minimap::Minimap(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("graphMinimap"));
    setAccessibleName(tr("Overview of the graph"));
    resize(120, 150);
}

Camera Minimap::camera() const
{
    const QSizeF room(width() - 12, height() - 12);
    Camera fitted = Camera::fitting(m_scene->bounds, room, 2);
    const qreal spare = std::max(0.0, room.height() - m_scene->bounds.height() * fitted.scale);
    fitted.offset += QPointF(6, 6 + spare / 2);
    return fitted;
}

void Minimap::display(ScenePtr scene, const Colouring& colouring, const style::Theme& theme)
{
    m_scene = std::move(scene);
    m_theme = theme;
    setVisible(m_scene && !m_scene->nodes.empty());
    if (!m_scene || m_scene->nodes.empty()) return;
    m_picture = QImage(size(), QImage::Format_RGB32);
    m_picture.fill(theme.panel);
    drawFromAfar(m_picture, *m_scene, colouring, theme, camera(), {});
    update();
}

void Minimap::follow(const QRectF& seen)
{
    m_seen = seen;
    update();
}

void Minimap::paintEvent(QPaintEvent*)
{
    if (!m_scene) return;
    QPainter painter(this);
    painter.drawImage(0, 0, m_picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_theme.border, 1));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    const QRectF frame = camera().toScreen(m_seen).intersected(QRectF(rect()).adjusted(2, 2, -2, -2));
    painter.setPen(QPen(m_theme.accent, 1.6));
    painter.drawRoundedRect(frame, 3, 3);
}

void Minimap::mousePressEvent(QMouseEvent* event)
{
    if (m_scene) emit jumped(camera().toScene(event->position()));
}

void Minimap::mouseMoveEvent(QMouseEvent* event)
{
    if (m_scene && event->buttons() & Qt::LeftButton) emit jumped(camera().toScene(event->position()));
}

SearchBar::SearchBar(QWidget* parent) : Card(parent), m_field(new QLineEdit(this)), m_count(new QLabel(this))
{
    setObjectName(QStringLiteral("graphSearch"));
    setupWidgets();
    hide();
}

QToolButton* SearchBar::addButton(const char* name, const QString& text, const QString& tip)
{
    auto* button = new QToolButton(this);
    button->setObjectName(QLatin1String(name));
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    layout()->addWidget(button);
    return button;
}

void SearchBar::setupWidgets()
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 6, 8, 6);
    m_field->setObjectName(QStringLiteral("graphSearchField"));
    m_field->setPlaceholderText(tr("Search name, module, shape…"));
    m_field->setAccessibleName(tr("Search the graph"));
    m_field->setClearButtonEnabled(true);
    m_field->setMinimumWidth(200);
    for (auto* clear : m_field->findChildren<QToolButton*>()) clear->setAccessibleName(tr("Clear the search"));
    m_count->setObjectName(QStringLiteral("graphSearchCount"));
    row->addWidget(m_field);
    row->addWidget(m_count);
    QToolButton* previous = addButton("graphSearchPrevious", QStringLiteral("\u2191"), tr("Previous (Shift+F3)"));
    QToolButton* next = addButton("graphSearchNext", QStringLiteral("\u2193"), tr("Next (F3)"));
    QToolButton* close = addButton("graphSearchClose", QStringLiteral("\u00d7"), tr("Close (Esc)"));
    connect(m_field, &QLineEdit::textChanged, this, &SearchBar::queryChanged);
    connect(previous, &QToolButton::clicked, this, [this] { emit stepped(-1); });
    connect(next, &QToolButton::clicked, this, [this] { emit stepped(1); });
    connect(close, &QToolButton::clicked, this, &SearchBar::closed);
    adjustSize();
}

void SearchBar::open()
{
    setVisible(true);
    raise();
    m_field->setFocus(Qt::ShortcutFocusReason);
    m_field->selectAll();
}

void SearchBar::setResult(int position, int count)
{
    m_count->setText(query().isEmpty() ? QString()
                     : count == 0      ? tr("no matches")
                                       : tr("%1 of %2").arg(position).arg(count));
    adjustSize();
}

void SearchBar::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) emit closed();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        emit stepped(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    else QWidget::keyPressEvent(event);
}

}  // namespace hopscope::graphview
