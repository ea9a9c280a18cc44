#pragma once

// Lists the breakpoints with their conditions, and shows where the current run is.

#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include "panels/parts.h"
#include "study/study.h"

namespace hopscope::study {

class BreakpointPanel : public panels::Panel {
    Q_OBJECT
public:
    BreakpointPanel(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme&) override {}

private:
    void setupList(QBoxLayout& layout);
    QWidget* setupCondition();
    void setupSteps(QBoxLayout& layout);
    void connectParts();
    [[nodiscard]] const models::Breakpoint* current() const;  // null: none
    void addSelected();
    void removeCurrent();
    void set(std::vector<models::Breakpoint> breakpoints);
    void change(const models::Breakpoint& breakpoint);  // replaces the current one
    void takeCondition();
    void takeNumbers();
    void showList();
    void showCondition();
    void showState();
    [[nodiscard]] QString stateText() const;

    panels::Context m_context;
    panels::LinkLabel* m_state;
    QListWidget* m_list;
    QPushButton *m_add, *m_remove, *m_operator, *m_batch, *m_goOn;
    QWidget* m_edit;
    QComboBox* m_condition;
    QLineEdit *m_least, *m_most, *m_node;
    bool m_filling = false;
};

}  // namespace hopscope::study
