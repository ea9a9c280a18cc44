#pragma once

// Shows the plans that trade time for memory as a curve and as a table; a click adopts one. The engine is queried only
// while the panel is visible.

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
    void resume();  // restarts the search after a change, if the panel is visible
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
