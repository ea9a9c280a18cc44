#pragma once

// The costs of plans in time, device memory and host memory, and the Pareto front of time and device memory.

#include <optional>
#include <vector>

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

// Returns the points that no other point dominates in time and device memory, in ascending order of device memory.
// Keeps the first of several equal points. Takes quadratic time.
std::vector<FrontPoint> paretoFront(const std::vector<FrontPoint>& points);

// Returns true if the point has the cuts and the predicted batch size of the current plan.
bool isCurrent(const FrontPoint& point, const Document& document);
bool isProven(const protocol::PlanRecord& plan);       // no plan with its pins and as many stages costs less
QString planLabel(const protocol::PlanRecord& plan);   // its strategy, or "best found" for an unproven optimum
QString proofLabel(const protocol::PlanRecord& plan);  // "proven", "within 2.1 %"; a dash if unknown

struct FrontRow {
    FrontPoint point;
    bool current = false, fits = true;  // fits: within the memory limit
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
