#pragma once

// The explanation of a plan as tables: its decisions, and the values on which a rule decides differently.

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

QString formatCost(double cost, base::Unit unit);                 // "1.2 ms", "640 KiB"
QString stageList(const std::vector<protocol::StageId>& stages);  // "1, 3–5"; `stages` is ascending

struct DecisionRow {
    schema::Decision decision;
    QString label;
    base::Unit unit = base::Unit::Seconds;
};

// Returns the decisions: those that save the most first, those whose saving is unknown, or that are required, last.
std::vector<DecisionRow> decisionRows(const protocol::ModelRecord& model, const schema::Explanation& explanation);

enum class DecisionColumn { Value, What, Costs, Saves, Count };

class DecisionModel : public TableModel<DecisionRow, DecisionColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const DecisionRow& row, DecisionColumn column, int role) const override;
    [[nodiscard]] QVariant header(DecisionColumn column, int role) const override;
    [[nodiscard]] bool isNumber(DecisionColumn column) const override;
};

struct DifferenceRow {
    schema::ValueDifference difference;
    QString label;
    base::Unit unit = base::Unit::Seconds;
};

std::vector<DifferenceRow> differenceRows(const protocol::ModelRecord& model, const schema::PlanComparison& comparison,
                                          base::Unit unit);

// The columns of the table. Each cell but the value's has two lines: the plan's number, and the rule's below it.
enum class DifferenceColumn { Value, Cost, Written, Read, Stages, Count };

class DifferenceModel : public TableModel<DifferenceRow, DifferenceColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const DifferenceRow& row, DifferenceColumn column, int role) const override;
    [[nodiscard]] QVariant header(DifferenceColumn column, int role) const override;
    [[nodiscard]] bool isNumber(DifferenceColumn column) const override;
};

}  // namespace hopscope::models
