#pragma once

// The receptive field as a table: one line per hop and table of nodes, with the needs of a layer-wise run for
// comparison.

#include <optional>

#include "models/table_model.h"
#include "schema/receptive_field.h"

namespace hopscope::study {

// The rows of one table that a node needs after a hop.
struct FieldRow {
    int level = 0;  // index into ReceptiveField::levels
    int depth = 0;
    bool result = false;  // the node itself
    QString table;        // empty if there is only one table
    qint64 rows = 0, of = 0, bytes = 0;
    std::optional<qint64> edges;       // edges that are combined into these rows; none for inputs
    std::optional<qint64> blockEdges;  // into the node alone, in a layer-wise run
};

std::vector<FieldRow> fieldRows(const schema::ReceptiveField& field);

// Returns "result", "hop 1" or "input", after which the rows are needed.
QString roundName(int depth, bool result);

enum class FieldColumn { Round, Rows, Share, Edges, Block, Bytes, Count };

class FieldModel : public models::TableModel<FieldRow, FieldColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const FieldRow& row, FieldColumn column, int role) const override;
    [[nodiscard]] QVariant header(FieldColumn column, int role) const override;
    [[nodiscard]] bool isNumber(FieldColumn column) const override { return column != FieldColumn::Round; }
};

}  // namespace hopscope::study
