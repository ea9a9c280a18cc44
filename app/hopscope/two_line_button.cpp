#include "two_line_button.h"

#include <QFontMetrics>
#include <QPainter>
#include <QStyleOptionButton>
#include <QStylePainter>

namespace hopscope::window {

namespace {

constexpr int margin = 12, gap = 2;

QFont titleFont(QFont font)
{
    font.setWeight(QFont::DemiBold);
    return font;
}

}  // namespace

TwoLineButton::TwoLineButton(const QString& title, const QString& detail, QWidget* parent)
    : QPushButton(parent),
      m_title(title),
      m_detail(detail)
{
    setAccessibleName(title);
    setAccessibleDescription(detail);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TwoLineButton::setDetailColour(const QColor& colour)
{
    m_detailColour = colour;
    update();
}

QSize TwoLineButton::sizeHint() const
{
    const int lines = QFontMetrics(titleFont(font())).height() + gap + fontMetrics().height();
    return {260, lines + 2 * 7};
}

QSize TwoLineButton::minimumSizeHint() const { return {120, sizeHint().height()}; }

void TwoLineButton::paintEvent(QPaintEvent*)
{
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    option.text.clear();
    painter.drawControl(QStyle::CE_PushButtonBevel, option);
    const QFontMetrics title(titleFont(font()));
    const int width = this->width() - 2 * margin;
    const int top = (height() - title.height() - gap - fontMetrics().height()) / 2;
    painter.setPen(palette().color(QPalette::Text));
    painter.setFont(titleFont(font()));
    painter.drawText(QRect(margin, top, width, title.height()), Qt::AlignVCenter,
                     title.elidedText(m_title, Qt::ElideRight, width));
    painter.setFont(font());
    painter.setPen(m_detailColour);
    painter.drawText(QRect(margin, top + title.height() + gap, width, fontMetrics().height()), Qt::AlignVCenter,
                     fontMetrics().elidedText(m_detail, Qt::ElideRight, width));
}

}  // namespace hopscope::window
