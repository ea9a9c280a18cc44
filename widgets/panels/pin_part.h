#pragma once

// Shows the user's pins in the panels: a menu for one value, and the list of all pins.

#include <QMenu>
#include <QTableView>
#include <QToolButton>

#include "jobs/cuts.h"
#include "models/pin_model.h"
#include "panels/panels.h"

namespace hopscope::panels {

// Fills a menu with all pins for a value and its operator's operands, and "Let the strategy decide".
void fillPinMenu(QMenu& menu, const Context& context, protocol::ValueId value);

// Lists the pins, one per line with a button to remove it, and the number of stages that the user has allowed. Hidden
// if the list is empty.
class PinList : public QWidget {
    Q_OBJECT
public:
    PinList(const Context& context, QWidget* parent);

protected:
    void keyPressEvent(QKeyEvent* event) override;  // Delete removes the current pin

private:
    void refresh();
    void clicked(const QModelIndex& index);
    void remove(int row);

    Context m_context;
    models::PinModel m_pins;
    QTableView* m_table;
    QLabel *m_heading, *m_stages;
    QToolButton* m_fewest;
};

}  // namespace hopscope::panels
