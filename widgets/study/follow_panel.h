#pragma once

// Follows a node through the stages: its row of all that is stored, and what its neighbours add to an aggregation, from one run
// of the plan. A neighbour can be followed in turn.

#include <QComboBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>

#include "jobs/engine_queries.h"
#include "panels/parts.h"
#include "study/follow_model.h"
#include "study/study.h"

namespace hopscope::study {

class FollowPanel : public panels::Panel {
    Q_OBJECT
public:
    FollowPanel(const panels::Context& context, QWidget* parent);
    ~FollowPanel() override;  // gives what is under way up
    void setTheme(const style::Theme& theme) override;

    void follow(qint64 node);  // as if it had been entered
    void start();
    void copy();  // the table that has the focus, else that of the stored values: as lines with tabs
    [[nodiscard]] bool busy() const { return m_request != 0; }
    [[nodiscard]] std::optional<qint64> followed() const { return m_followed; }  // none: nothing is shown

signals:
    void finished();  // with rows, or with the reason why there are none

private:
    void setupChoice(QBoxLayout& layout);
    QWidget* setupFound();
    QTableView* addTable(const char* name, const QString& title, QAbstractItemModel& model,
                         QSortFilterProxyModel& order);
    void connectParts();
    void connectTables();
    [[nodiscard]] std::optional<qint64> node() const;
    [[nodiscard]] QString missing() const;  // why it cannot start; empty: it can
    [[nodiscard]] QString idle() const;
    void answered(std::int64_t number, qint64 node, const base::Result<schema::WatchReport>& found);
    void show(const schema::WatchReport& found);
    bool fillAggregations();
    void showMessages();
    void showSelected();
    void followNeighbour();
    void say(const QString& sentence);
    void cancel();
    void forget();
    void refresh();
    void showProgress(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total);

    panels::Context m_context;
    QLineEdit* m_node;
    QPushButton *m_start, *m_cancel, *m_copy, *m_next;
    QLabel *m_state, *m_messages;
    QProgressBar* m_progress;
    QWidget* m_found;
    QComboBox* m_aggregation;
    FollowModel m_rows;
    NeighbourModel m_neighbours;
    QSortFilterProxyModel m_rowOrder, m_neighbourOrder;
    RowPainter m_painter;
    QTableView *m_rowTable, *m_neighbourTable;
    std::int64_t m_request = 0;  // 0: none under way
    std::int64_t m_number = 0;   // of questions: answers to those that were given up are dropped
    std::optional<qint64> m_followed;
    models::PlanPtr m_plan;  // that was followed
    std::vector<schema::AggregationRecord> m_aggregations;
    QString m_said;
};

}  // namespace hopscope::study
