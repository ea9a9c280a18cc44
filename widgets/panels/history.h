#pragma once

// Lists the changes of the cuts; a click returns to any of them.

#include <QUndoView>

#include "panels/panels.h"

namespace hopscope::panels {

class History : public Panel {
    Q_OBJECT
public:
    History(const Context& context, QWidget* parent);
    void setTheme(const style::Theme&) override {}

private:
    QUndoView* m_list;
};

}  // namespace hopscope::panels
