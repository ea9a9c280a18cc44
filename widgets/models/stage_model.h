#pragma once

// The table of the stages of a plan: their work, their predicted traffic, memory and times, and their measured times.

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

struct StageRow {
    protocol::StageId stage{1};
    int reads = 0, writes = 0, ops = 0, recomputed = 0;
    std::optional<std::int64_t> bytes, peak;  // predicted; written and read
    std::optional<double> expected, seconds;  // predicted, measured
};

// Returns the rows. Measured seconds come from `log` if it has finished the stage, otherwise from `report`; both may be
// null.
std::vector<StageRow> stageRows(const protocol::PlanRecord& plan, const RunLog* log, const schema::Report* report);

enum class StageColumn { Stage, Reads, Writes, Ops, Recomputed, Bytes, Peak, Expected, Seconds, Count };

class StageModel : public TableModel<StageRow, StageColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const StageRow& row, StageColumn column, int role) const override;
    [[nodiscard]] QVariant header(StageColumn column, int role) const override;
    [[nodiscard]] bool isNumber(StageColumn) const override { return true; }
};

}  // namespace hopscope::models
