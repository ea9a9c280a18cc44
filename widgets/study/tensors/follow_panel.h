#pragma once

// Follows a node through the stages: its row of every stored value, and the contributions of its neighbours to an
// aggregation, from one run of the plan. A neighbour can be followed from there.

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>

#include "jobs/engine_queries.h"
#include "panels/parts.h"
#include "study/common/inquiry.h"
#include "study/study.h"
#include "study/tensors/follow_model.h"

namespace hopscope::study {

class FollowPanel : public panels::Panel {
    Q_OBJECT
public:
    FollowPanel(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

    void follow(qint64 node);  // as if the user had entered it
    void start();
    void copy();  // copies the table with the focus, otherwise that of the stored values, separated by tabs
    [[nodiscard]] bool busy() const { return m_inquiry->busy(); }
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
    [[nodiscard]] QString missing() const;  // why it cannot start; empty if it can
    [[nodiscard]] QString idle() const;
    void show(const schema::WatchReport& found);
    bool fillAggregations();
    void showMessages();
    void showSelected();
    void followNeighbour();
    void forget();
    void refresh();

    panels::Context m_context;
    QLineEdit* m_node;
    QPushButton *m_start, *m_copy, *m_next;
    QLabel* m_messages;
    Inquiry* m_inquiry;
    QWidget* m_found;
    QComboBox* m_aggregation;
    FollowModel m_rows;
    NeighbourModel m_neighbours;
    QSortFilterProxyModel m_rowOrder, m_neighbourOrder;
    RowPainter m_painter;
    QTableView *m_rowTable, *m_neighbourTable;
    std::optional<qint64> m_followed;
    models::PlanPtr m_plan;  // the plan that was followed
    std::vector<schema::AggregationRecord> m_aggregations;
};

}  // namespace hopscope::study
