#pragma once

// The table of the user's pins, one per line, with a button to remove each.

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

struct PinRow {
    plan::Pin pin;
    protocol::ValueId value;  // the pinned value; for a cut, the one that reads it
    QString label;
};

std::vector<PinRow> pinRows(const protocol::ModelRecord& model, const std::vector<plan::Pin>& pins);

enum class PinColumn { What, Remove, Count };

class PinModel : public TableModel<PinRow, PinColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const PinRow& row, PinColumn column, int role) const override;
    [[nodiscard]] QVariant header(PinColumn column, int role) const override;
    [[nodiscard]] bool isNumber(PinColumn) const override { return false; }
};

}  // namespace hopscope::models
