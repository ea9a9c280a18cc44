#pragma once

// A node followed through a run: its row of every value that the plan stores, stage by stage, and the contributions of its
// neighbours to an aggregation. Pure functions, and the tables that show them.

#include <QStyledItemDelegate>

#include "models/selection.h"
#include "models/table_model.h"
#include "protocol/plan.h"
#include "schema/findings.h"
#include "style/theme.h"

namespace hopscope::study {

// The query: ids of values and operators.
struct FollowPlaces {
    QStringList values, aggregations;
};
// The values that stages store with a row per node, outputs too, and all aggregations into nodes.
FollowPlaces placesToFollow(const protocol::ModelRecord& model, const protocol::PlanRecord& plan);
// How many nodes the largest table of nodes has; none: not known.
std::optional<std::int64_t> mostNodes(const protocol::ModelRecord& model, const protocol::PlanRecord& plan);

struct FollowedRow {
    models::Target target;    // the value
    QString name, table;      // of the value; of its rows: "node"
    protocol::StageId stage;  // the stage that stores it
    bool output = false;
    std::vector<double> numbers;  // the first of the row; not finite: NaN
    double norm = 0, least = 0, most = 0;
};
// Lists the rows in the order of the stages. Values of tables that have no such row are left out.
std::vector<FollowedRow> followedRows(const protocol::ModelRecord& model, const protocol::PlanRecord& plan,
                                      const schema::WatchReport& found);

struct NeighbourRow {
    std::optional<std::int64_t> neighbour;  // none: not known
    QString edge;                           // "edge_index 5"; self-loops that the model adds have a description
    double norm = 0, share = 0;
    double ofLargest = 0;  // the share as a part of the largest one
};
std::vector<NeighbourRow> neighbourRows(const schema::AggregationRecord& aggregation);

QString numbersText(const std::vector<double>& numbers);  // with commas

enum class FollowColumn { Value, Stage, Table, Numbers, Norm, Least, Most, Count };

class FollowModel : public models::TableModel<FollowedRow, FollowColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const FollowedRow& row, FollowColumn column, int role) const override;
    [[nodiscard]] QVariant header(FollowColumn column, int role) const override;
    [[nodiscard]] bool isNumber(FollowColumn column) const override;
};

enum class NeighbourColumn { Neighbour, Edge, Norm, Share, Count };

class NeighbourModel : public models::TableModel<NeighbourRow, NeighbourColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const NeighbourRow& row, NeighbourColumn column, int role) const override;
    [[nodiscard]] QVariant header(NeighbourColumn column, int role) const override;
    [[nodiscard]] bool isNumber(NeighbourColumn column) const override;
};

// Numbers as colours, each row from its least to its largest; shares as bars.
class RowPainter : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void setTheme(const style::Theme& theme) { m_theme = theme; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    // The data painted in a cell, as QVariant: a list of numbers (QVariantList), or the length of a bar, at most 1 (double).
    static constexpr int PictureRole = Qt::UserRole + 100;

private:
    void paintBar(QPainter& painter, const QStyleOptionViewItem& option, double length) const;

    style::Theme m_theme;
};

}  // namespace hopscope::study
