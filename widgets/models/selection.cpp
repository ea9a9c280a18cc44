#include "models/selection.h"

namespace hopscope::models {

namespace {

constexpr int historyLimit = 200;

}  // namespace

void Selection::select(const Target& target)
{
    if (target == m_current) return;
    m_history.resize(m_position + 1);
    m_history.append(target);
    if (m_history.size() > historyLimit) m_history.removeFirst();
    m_position = static_cast<int>(m_history.size()) - 1;
    m_current = target;
    emit changed(m_current);
}

void Selection::hover(const Target& target)
{
    if (target == m_hovered) return;
    m_hovered = target;
    emit hoverChanged(m_hovered);
}

void Selection::back()
{
    if (!canGoBack()) return;
    m_current = m_history.at(--m_position);
    emit changed(m_current);
    emit revealRequested(m_current);
}

void Selection::forward()
{
    if (!canGoForward()) return;
    m_current = m_history.at(++m_position);
    emit changed(m_current);
    emit revealRequested(m_current);
}

void Selection::clear()
{
    m_history.clear();
    m_position = -1;
    hover({});
    if (m_current == Target{}) return;
    m_current = {};
    emit changed(m_current);
}

void Selection::reveal(const Target& target)
{
    select(target);
    emit revealRequested(m_current);
}

}  // namespace hopscope::models
