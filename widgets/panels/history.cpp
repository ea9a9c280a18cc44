#include "panels/history.h"

#include <QVBoxLayout>

namespace hopscope::panels {

History::History(const Context& context, QWidget* parent)
    : Panel(parent),
      m_list(new QUndoView(&context.workbench.undoStack(), this))
{
    setObjectName(QStringLiteral("history"));
    m_list->setObjectName(QStringLiteral("historyList"));
    m_list->setAccessibleName(tr("Changes of the cuts"));
    m_list->setEmptyLabel(tr("Plan of the strategy"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setToolTip(tr("Click a line to return to it"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_list);
}

Panel* makeHistory(const Context& context, QWidget* parent) { return new History(context, parent); }

}  // namespace hopscope::panels
