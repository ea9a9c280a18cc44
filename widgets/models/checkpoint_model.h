#pragma once

// The table of the stored values of a plan, and of the values that pins forbid storing.

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

struct CheckpointRow {
    enum class State { Stored, Output, Forbidden };
    protocol::ValueId value;
    QString id, label, shape;
    State state = State::Stored;
    protocol::StageId stage;  // the stage that writes it
    std::optional<std::int64_t> written, read;
    bool pinned = false;
};

// Lists the stored values in the order of the plan, then the forbidden ones in the order of the pins.
std::vector<CheckpointRow> checkpointRows(const protocol::ModelRecord& model, const protocol::PlanRecord& plan);

enum class CheckpointColumn { Value, Stage, Written, Read, Pin, Count };

class CheckpointModel : public TableModel<CheckpointRow, CheckpointColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const CheckpointRow& row, CheckpointColumn column, int role) const override;
    [[nodiscard]] QVariant header(CheckpointColumn column, int role) const override;
    [[nodiscard]] bool isNumber(CheckpointColumn column) const override;
};

}  // namespace hopscope::models
