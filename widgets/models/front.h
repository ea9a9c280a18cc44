#pragma once

// What plans cost in time, in device memory and in host memory: those of which no other is better in all three.

#include <optional>
#include <vector>

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

// The points that no other is at least as good as in time and device memory, by rising device memory; of equal ones the
// first. Quadratic.
std::vector<FrontPoint> paretoFront(const std::vector<FrontPoint>& points);

// The plan that is shown now, in batches as large.
bool isCurrent(const FrontPoint& point, const Document& document);
bool isProven(const protocol::PlanRecord& plan);       // that no plan with its pins costs less
QString planLabel(const protocol::PlanRecord& plan);   // its strategy; of an optimum that is not proven "best found"
QString proofLabel(const protocol::PlanRecord& plan);  // "proven", "within 2.1 %"; a dash where nothing is known

struct FrontRow {
    FrontPoint point;
    bool current = false, fits = true;  // fits: into the memory limit
};

std::vector<FrontRow> frontRows(const Document& document);

enum class FrontColumn { Time, Memory, Host, Batch, Stages, Proof, Count };

class FrontModel : public TableModel<FrontRow, FrontColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const FrontRow& row, FrontColumn column, int role) const override;
    [[nodiscard]] QVariant header(FrontColumn column, int role) const override;
    [[nodiscard]] bool isNumber(FrontColumn column) const override { return column != FrontColumn::Proof; }
};

}  // namespace hopscope::models
