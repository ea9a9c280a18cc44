#pragma once

// Follows a node through a run: its row of every value that the plan stores, stage by stage, and the contributions of
// its neighbours to an aggregation. The functions are pure; the models are the tables that show their results.

#include <QStyledItemDelegate>

#include "models/selection.h"
#include "models/table_model.h"
#include "protocol/plan.h"
#include "schema/findings.h"
#include "style/theme.h"

namespace hopscope::study {

// A query as ids of values and operators.
struct FollowPlaces {
    QStringList values, aggregations;
};
// Returns the values that stages store with one row per node, outputs included, and all aggregations into nodes.
FollowPlaces placesToFollow(const protocol::ModelRecord& model, const protocol::PlanRecord& plan);
// Returns the number of nodes in the largest table of nodes; none if unknown.
std::optional<std::int64_t> mostNodes(const protocol::ModelRecord& model, const protocol::PlanRecord& plan);

struct FollowedRow {
    models::Target target;    // the value
    QString name, table;      // name of the value; table of its rows: "node"
    protocol::StageId stage;  // the stage that stores it
    bool output = false;
    std::vector<double> numbers;  // the first numbers of the row; NaN if not finite
    double norm = 0, least = 0, most = 0;
};
// Lists the rows in the order of the stages. Values of tables without such a row are left out.
std::vector<FollowedRow> followedRows(const protocol::ModelRecord& model, const protocol::PlanRecord& plan,
                                      const schema::WatchReport& found);

struct NeighbourRow {
    std::optional<std::int64_t> neighbour;  // none: unknown
    QString edge;                           // "edge_index 5"; self-loops that the model adds have a description
    double norm = 0, share = 0;
    double ofLargest = 0;  // the share relative to the largest share
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

// Paints numbers as colours, each row from its smallest to its largest number, and shares as bars.
class RowPainter : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void setTheme(const style::Theme& theme) { m_theme = theme; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    // The role of the data painted in a cell: a list of numbers (QVariantList), or the length of a bar, at most 1
    // (double).
    static constexpr int PictureRole = Qt::UserRole + 100;

private:
    void paintBar(QPainter& painter, const QStyleOptionViewItem& option, double length) const;

    style::Theme m_theme;
};

}  // namespace hopscope::study
