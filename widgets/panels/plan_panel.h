#pragma once

// Shows the plan in numbers: its traffic, compared with other strategies; its stores and stages; strategy, undo and
// redo.

#include <QBoxLayout>
#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolButton>

#include "models/checkpoint_model.h"
#include "models/stage_model.h"
#include "panels/compare_bars.h"
#include "panels/panels.h"
#include "panels/parts.h"
#include "panels/pin_part.h"

namespace hopscope::panels {

// Returns "About 2.3 ms, moves 11.4 MiB"; without a prediction, the stored bytes; without a plan, the reason.
QString planHeadline(const protocol::PlanRecord* plan);
// Returns "2.1 MiB written, 9.3 MiB read · 7 % less than the depth rule".
QString planDetail(const models::Document& document);
// Returns "Proven to be the cheapest", "12 % above the cheapest", "at most 3 % above the cheapest"; empty if unknown.
QString planQuality(const models::Document& document);

class PlanPanel : public Panel {
    Q_OBJECT
public:
    PlanPanel(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

private:
    void setupHeader(QBoxLayout& layout);
    void setupTables(QBoxLayout& layout);
    void setupUndo();
    void setupConnections();
    void refresh();
    void showBars();
    void refreshStages();
    void refreshSettings();
    void follow(const models::Target& target);
    void selectRow(const QModelIndex& index);
    void showMenu(const QPoint& at);
    void fitTable(QTableView& table) const;
    [[nodiscard]] const models::CheckpointRow* currentCheckpoint() const;

    Context m_context;
    QLabel *m_headline, *m_quality, *m_detail, *m_barsHeading, *m_checkpointsHeading, *m_stagesHeading;
    CompareBars* m_bars;
    QComboBox* m_strategy;
    QToolButton *m_optimum, *m_undo, *m_redo, *m_clear;
    models::CheckpointModel m_checkpoints;
    models::StageModel m_stages;
    QTableView *m_checkpointTable, *m_stageTable;
};

}  // namespace hopscope::panels
