#include "panels/flow_layout.h"

#include <QWidget>

namespace hopscope::panels {

namespace {

constexpr int gap = 12, rowGap = 6;

}  // namespace

FlowLayout::~FlowLayout()
{
    for (const QLayoutItem* item : m_items) delete item;
}

QLayoutItem* FlowLayout::itemAt(int index) const
{
    return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)] : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index)
{
    QLayoutItem* item = itemAt(index);
    if (item) m_items.erase(m_items.begin() + index);
    return item;
}

QSize FlowLayout::sizeHint() const
{
    QSize whole;
    for (const QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;  // hidden
        whole.rwidth() += item->sizeHint().width() + gap;
        whole.setHeight(std::max(whole.height(), item->sizeHint().height()));
    }
    return whole;
}

QSize FlowLayout::minimumSize() const
{
    QSize widest;
    for (const QLayoutItem* item : m_items)
        if (!item->isEmpty()) widest = widest.expandedTo(item->sizeHint());
    return widest;
}

void FlowLayout::setGeometry(const QRect& rect)
{
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool place) const
{
    int x = rect.left(), y = rect.top(), row = 0;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        if (m_items[i]->isEmpty()) continue;
        const QSize size = m_items[i]->sizeHint();
        if (x > rect.left() && x + size.width() > rect.left() + rect.width()) {
            x = rect.left();
            y += row + rowGap;
            row = 0;
        }
        const bool last = i + 1 == m_items.size();
        const int left = last ? std::max(x, rect.left() + rect.width() - size.width()) : x;
        if (place) m_items[i]->setGeometry({QPoint(left, y), size});
        x += size.width() + gap;
        row = std::max(row, size.height());
    }
    return y + row - rect.top();
}

}  // namespace hopscope::panels
