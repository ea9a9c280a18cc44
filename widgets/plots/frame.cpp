#include "plots/frame.h"

#include <QPainter>
#include <QVBoxLayout>

namespace hopscope::plots {

namespace {

constexpr int square = 10;
constexpr int gap = 6;
constexpr int between = 16;

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("legend"));
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void Legend::setItems(std::vector<LegendItem> items)
{
    m_items = std::move(items);
    QStringList names;
    for (const LegendItem& item : m_items) names << item.name;
    setAccessibleName(tr("Legend: %1").arg(names.join(QStringLiteral(", "))));
    setVisible(!m_items.empty());
    updateGeometry();
    update();
}

void Legend::setColour(const QColor& text)
{
    m_text = text;
    update();
}

int Legend::itemWidth(const LegendItem& item) const
{
    return (item.line ? 2 * square : square) + gap + fontMetrics().horizontalAdvance(item.name);
}

std::vector<QPoint> Legend::places(int width) const
{
    std::vector<QPoint> found;
    QPoint at(0, 0);
    for (const LegendItem& item : m_items) {
        if (at.x() > 0 && at.x() + itemWidth(item) > width) at = {0, at.y() + fontMetrics().height() + 2};
        found.push_back(at);
        at.rx() += itemWidth(item) + between;
    }
    return found;
}

int Legend::heightForWidth(int width) const
{
    const std::vector<QPoint> at = places(width);
    return at.empty() ? 0 : at.back().y() + fontMetrics().height() + 2;
}

QSize Legend::sizeHint() const
{
    int width = 0;
    for (const LegendItem& item : m_items) width += itemWidth(item) + between;
    return {width, fontMetrics().height() + 2};
}

QSize Legend::minimumSizeHint() const { return {40, fontMetrics().height() + 2}; }

void Legend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintItems(painter, width());
}

void Legend::paintItems(QPainter& painter, int width) const
{
    painter.setFont(font());
    const int height = fontMetrics().height();
    const std::vector<QPoint> at = places(width);
    for (std::size_t i = 0; i < at.size(); ++i) {
        const LegendItem& item = m_items[i];
        const int wide = item.line ? 2 * square : square;
        const QRect box(at[i].x(), at[i].y() + (height - square) / 2, wide, square);
        if (item.line) {
            painter.setPen(QPen(item.colour, item.style == Qt::SolidLine ? 2 : 1.5, item.style));
            painter.drawLine(QPointF(box.left(), box.center().y() + 0.5), QPointF(box.right(), box.center().y() + 0.5));
        } else {
            painter.setPen(Qt::NoPen);
            painter.setBrush(item.colour);
            painter.drawRoundedRect(box, 2, 2);
        }
        painter.setPen(m_text);
        painter.drawText(QRect(at[i].x() + wide + gap, at[i].y(), 1000, height), Qt::AlignVCenter, item.name);
    }
}

PlotFrame::PlotFrame(const QString& title, QWidget* body, QWidget* parent)
    : QWidget(parent),
      m_title(new QLabel(title, this)),
      m_note(new QLabel(this)),
      m_legend(new Legend(this))
{
    m_title->setObjectName(QStringLiteral("title"));
    m_title->setProperty("heading", true);
    m_note->setObjectName(QStringLiteral("note"));
    m_note->setProperty("muted", true);
    m_legend->hide();
    auto* top = new QHBoxLayout;
    top->addWidget(m_title);
    top->addStretch();
    top->addWidget(m_note);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(2);
    all->addLayout(top);
    all->addWidget(m_legend);
    all->addWidget(body, 1);
}

}  // namespace hopscope::plots
