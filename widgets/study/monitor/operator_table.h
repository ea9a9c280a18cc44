#pragma once

// Shows the cost of operators in a run as a table that can be filtered, sorted and copied. Its rows and the selection
// follow each other.

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "models/table_model.h"
#include "study/monitor/run_profile.h"
#include "study/tensors/follow_model.h"

namespace hopscope::study {

enum class ProfileColumn { Operator, Stage, Module, Seconds, Share, Bytes, Count };

// A row of the profile with its shares.
struct OperatorRow {
    ProfileRow row;
    double share = 0;      // of the run
    double ofLargest = 0;  // of the largest row
};

class OperatorModel : public models::TableModel<OperatorRow, ProfileColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

    void setProfile(const RunProfile& profile);

protected:
    [[nodiscard]] QVariant cell(const OperatorRow& row, ProfileColumn column, int role) const override;
    [[nodiscard]] QVariant header(ProfileColumn column, int role) const override;
    [[nodiscard]] bool isNumber(ProfileColumn column) const override;
};

class OperatorTable : public QWidget {
    Q_OBJECT
public:
    OperatorTable(models::Selection& selection, QWidget* parent);

    void display(RunProfile profile);
    void setTheme(const style::Theme& theme);
    void copy();                                // copies the visible rows as lines with tabs
    void follow(const models::Target& target);  // selects the first row of the target, unless the current one is one

private:
    void setupTable();
    void connectParts();
    void choose(const QModelIndex& index);
    void filter(const QString& words);
    void count();

    models::Selection& m_selection;
    models::Target m_followed;
    RunProfile m_profile;
    OperatorModel m_model;
    QSortFilterProxyModel m_order;
    RowPainter m_painter;
    QLineEdit* m_filter;
    QPushButton* m_copy;
    QTableView* m_table;
    QLabel* m_sum;
};

}  // namespace hopscope::study
