#pragma once

// Which plans trade time for memory, as a curve and as a table; a click uses one. Asked of the engine only while somebody
// sees it.

#include <QTableView>

#include "models/front.h"
#include "panels/front_plot.h"
#include "panels/panels.h"
#include "panels/parts.h"

namespace hopscope::panels {

class TradeOff : public Panel {
    Q_OBJECT
public:
    TradeOff(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override { m_plot->setTheme(theme); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();
    void resume();  // after a change, the search for those who see this
    void use(int row);
    [[nodiscard]] QString stateLine() const;

    Context m_context;
    QLabel* m_state;
    FrontPlot* m_plot;
    models::FrontModel m_rows;
    QTableView* m_table;
    bool m_seen = false;
};

}  // namespace hopscope::panels
