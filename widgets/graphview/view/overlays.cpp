#include "graphview/view/overlays.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyleOption>

#include "graphview/scene/level_of_detail.h"
#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

namespace {

constexpr int pad = 12, chipHeight = 18, rowHeight = 26, chipGap = 6;
constexpr int swatch = 26;

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

QStringList signNames(Legend::Signs signs)
{
    QStringList names;
    if (signs.stores) names << Legend::tr("checkpoint") << Legend::tr("cut");
    names << Legend::tr("structure only");
    if (signs.again) names << Legend::tr("recomputed");
    if (signs.pins) names << Legend::tr("pinned");
    return names;
}

int signsWidth(Legend::Signs signs)
{
    int width = 0;
    for (const QString& name : signNames(signs))
        width += swatch + 6 + static_cast<int>(QFontMetricsF(detailFont()).horizontalAdvance(name)) + 14;
    return width;
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
    setAttribute(Qt::WA_TransparentForMouseEvents);
}

void Legend::display(const Colouring& colouring, const style::Theme& theme, Signs signs)
{
    m_colouring = colouring;
    m_theme = theme;
    m_signs = signs;
    QStringList words{colouring.title};
    for (const LegendEntry& entry : colouring.legend) words << entry.label;
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    resize(sizeHint());
    setVisible(!colouring.fill.empty());
    update();
}

QSize Legend::sizeHint() const
{
    int width = static_cast<int>(QFontMetricsF(smallFont()).horizontalAdvance(m_colouring.title)) + 10;
    for (const LegendEntry& entry : m_colouring.legend) width += chipWidth(entry.label) + chipGap;
    return {std::max(width, signsWidth(m_signs)) + 2 * pad, 2 * rowHeight + 10};
}

void Legend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintCard(painter, rect(), m_theme);
    paintEntries(painter);
    paintSigns(painter);
}

void Legend::paintEntries(QPainter& painter)
{
    painter.setFont(smallFont());
    painter.setPen(m_theme.textMuted);
    const int title = static_cast<int>(QFontMetricsF(smallFont()).horizontalAdvance(m_colouring.title)) + 10;
    painter.drawText(QRect(pad, 5, title, rowHeight), Qt::AlignVCenter, m_colouring.title);
    int x = pad + title;
    for (const LegendEntry& entry : m_colouring.legend) {
        const QRect chip(x, 5 + (rowHeight - chipHeight) / 2, chipWidth(entry.label), chipHeight);
        painter.setPen(QPen(m_theme.nodeBorder, 1));
        painter.setBrush(entry.fill);
        painter.drawRoundedRect(QRectF(chip).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        painter.setPen(entry.text);
        painter.drawText(chip, Qt::AlignCenter, entry.label);
        x += chip.width() + chipGap;
    }
}

void Legend::paintSigns(QPainter& painter)
{
    int x = pad;
    painter.setFont(detailFont());
    const auto next = [&](const QString& name, auto draw) {
        const QRectF box(x, 5 + rowHeight + 5, swatch, rowHeight - 10);
        draw(box);
        const int width = static_cast<int>(QFontMetricsF(detailFont()).horizontalAdvance(name)) + 14;
        painter.setPen(m_theme.textMuted);
        painter.drawText(QRectF(x + swatch + 6, 5 + rowHeight, width, rowHeight), Qt::AlignVCenter, name);
        x += swatch + 6 + width;
    };
    if (m_signs.stores) {
        next(tr("checkpoint"), [&](QRectF box) { paintCylinder(painter, box.adjusted(4, 0, -4, 0), m_theme); });
        next(tr("cut"), [&](QRectF box) {
            QPen pen(m_theme.cut, 2.4);
            pen.setDashPattern({3, 2});
            painter.setPen(pen);
            painter.drawLine(box.left(), box.center().y(), box.right(), box.center().y());
        });
    }
    next(tr("structure only"), [&](QRectF box) {
        painter.setPen(QPen(m_theme.structure, 1.3, Qt::DashLine));
        painter.setBrush(m_theme.panel);
        painter.drawRoundedRect(box, 4, 4);
    });
    const auto hatched = [&](QRectF box) {
        painter.setPen(QPen(m_theme.nodeBorder, 1));
        painter.setBrush(QBrush(m_theme.recompute, Qt::BDiagPattern));
        painter.drawRoundedRect(box, 4, 4);
    };
    if (m_signs.again) next(tr("recomputed"), hatched);
    const auto pin = [&](QRectF box) { paintPin(painter, box.center() + QPointF(0, 7), m_theme); };
    if (m_signs.pins) next(tr("pinned"), pin);
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
    m_field->setPlaceholderText(tr("Search operator, module, shape..."));
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
