#pragma once

// Shows the reasons for the plan: the costs and savings of every decision, and the differences from the rules, value by
// value. The engine is queried only while the panel is visible.

#include <QBoxLayout>
#include <QComboBox>
#include <QTableView>

#include "models/explanation_model.h"
#include "panels/panels.h"
#include "panels/parts.h"

namespace hopscope::panels {

// Returns "Stored: costs 1.2 ms, saves 5.4 ms."; empty if no decision concerns the value.
QString decisionLine(const schema::Explanation& explanation, protocol::ValueId value);
// Returns "The depth rule costs 6.1 ms, this plan 5.0 ms. It moves 1.2 MiB down and 3.4 MiB up."
QString comparisonLine(const schema::Explanation& explanation, const schema::PlanComparison& comparison);

class Why : public Panel {
    Q_OBJECT
public:
    Why(const Context& context, QWidget* parent);
    void setTheme(const style::Theme&) override {}

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void setupTables(QBoxLayout& layout);
    void setupConnections();
    void refresh();
    void showComparison();
    void follow(const models::Target& target);
    void selectRow(const QModelIndex& index);
    [[nodiscard]] QString stateLine() const;

    Context m_context;
    QLabel *m_state, *m_comparisonText;
    QWidget *m_decisionPart, *m_comparisonPart;
    QComboBox* m_rule;
    models::DecisionModel m_decisions;
    models::DifferenceModel m_differences;
    QTableView *m_decisionTable, *m_differenceTable;
};

}  // namespace hopscope::panels
