#pragma once

// Shows step by step how the rules and the optimum arrive at their plans: the graph after each step, next to the user's
// plan. A table compares the stages, stores, bytes moved and recomputed operators of the plans. The panel queries the
// engine only while it is visible.

#include <QComboBox>
#include <QPushButton>
#include <QTableView>

#include "jobs/engine_queries.h"
#include "models/table_model.h"
#include "panels/parts.h"
#include "study/rules/rule_steps.h"
#include "study/study.h"

namespace hopscope::study {

enum class SummaryColumn { Name, Stages, Stores, Moved, Again, Count };

class SummaryModel : public models::TableModel<WaySummary, SummaryColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const WaySummary& row, SummaryColumn column, int role) const override;
    [[nodiscard]] QVariant header(SummaryColumn column, int role) const override;
    [[nodiscard]] bool isNumber(SummaryColumn column) const override { return column != SummaryColumn::Name; }
};

class Rules : public panels::Panel {
    Q_OBJECT
public:
    Rules(const panels::Context& context, QWidget* parent);

    void setTheme(const style::Theme&) override {}
    void setSeen(bool seen);  // true: in front; behind a tab, it shows nothing next to the graph
    [[nodiscard]] bool busy() const { return m_request != 0; }
    [[nodiscard]] int step() const { return m_step; }                           // from 0
    [[nodiscard]] const models::PlanPtr& picture() const { return m_picture; }  // the plan in the graph; null: none

signals:
    void stepShown(const QString& name, const hopscope::models::PlanPtr& plan);  // null: none any longer

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    // The plans at which the walkthroughs arrive. If they change, the engine has to be queried again.
    using Ends = std::vector<models::PlanPtr>;

    QLayout* makeChoice();
    QLayout* makeButtons();
    QWidget* makeContent();
    QPushButton* button(const char* name, const QString& text, const QString& spoken, const QString& tip);
    void connectParts();
    [[nodiscard]] Ends ends() const;
    [[nodiscard]] bool mayAsk() const;
    [[nodiscard]] QString stateLine() const;
    void forget();
    void ask();
    void answered(const base::Result<plan::Walkthroughs>& all);
    void chooseWay(int way);
    void go(int step);
    void showWords(const Way& way);
    void showNothing();

    panels::Context m_context;
    QComboBox* m_choice;
    QLabel *m_state, *m_count, *m_caption, *m_moves, *m_values;
    QPushButton *m_first, *m_back, *m_next, *m_last;
    QWidget* m_found;
    SummaryModel m_summaries;
    QTableView* m_table;
    std::optional<plan::Walkthroughs> m_all;
    std::vector<Way> m_ways;
    Ends m_asked;  // those of the last query
    models::PlanPtr m_picture;
    std::int64_t m_request = 0;  // 0: none is running
    std::int64_t m_number = 0;   // of the latest query; answers to earlier ones are dropped
    int m_way = 0, m_step = 0;
    bool m_seen = false;
    QString m_problem;
};

}  // namespace hopscope::study
