#pragma once

// Shows the cost of a finished run: its operators in a table, and as frames below their stages and modules. Each page
// names the missing data if there is nothing to show. A third page shows the memory of batches, which needs no run.

#include <QComboBox>
#include <QTabWidget>

#include "panels/parts.h"
#include "study/monitor/flame_view.h"
#include "study/monitor/memory_page.h"
#include "study/monitor/operator_table.h"
#include "study/study.h"

namespace hopscope::study {

class MonitorPanel : public panels::Panel {
    Q_OBJECT
public:
    MonitorPanel(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

private:
    // A widget, and the sentence shown instead if the widget has nothing to show.
    struct Page {
        QWidget* content;
        QLabel* sentence;
    };
    void setupRuns(QBoxLayout& layout);
    void addPage(const QString& title, QWidget* content);
    QWidget* setupFlame();
    void connectParts();
    void fillRuns();
    void refresh();
    void follow(const models::Target& target);
    [[nodiscard]] const schema::Report* report() const;  // of the chosen run; null if there is none
    [[nodiscard]] QString missing() const;               // why nothing is shown; empty otherwise

    panels::Context m_context;
    QWidget* m_runRow;
    QComboBox* m_runs;
    QTabWidget* m_tabs;
    OperatorTable* m_table;
    FlameView* m_flame;
    MemoryPage* m_memory;
    std::vector<Page> m_pages;
};

}  // namespace hopscope::study
