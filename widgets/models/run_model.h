#pragma once

// The table of the finished runs, from this window and from opened reports.

#include "models/document.h"
#include "models/table_model.h"

namespace hopscope::models {

struct RunRow {
    QString title, device, strategy;
    std::optional<schema::Verdict> verdict;  // none: the run was not verified
    int stages = 0;
    double seconds = 0;
    std::int64_t peakMemory = 0, moved = 0;  // moved: written and read
};

QString runTitleBegin();  // "run "
// Returns the number of the run, its strategy and its largest batch: "run 2: optimal, batch 600".
QString runTitle(int number, const schema::Report& report);
std::vector<RunRow> runRows(const std::vector<FinishedRun>& runs);

enum class RunColumn { Title, Device, Strategy, Stages, Seconds, Moved, Peak, Verdict, Count };

class RunModel : public TableModel<RunRow, RunColumn> {
    Q_OBJECT
public:
    using TableModel::TableModel;

protected:
    [[nodiscard]] QVariant cell(const RunRow& row, RunColumn column, int role) const override;
    [[nodiscard]] QVariant header(RunColumn column, int role) const override;
    [[nodiscard]] bool isNumber(RunColumn column) const override;
};

}  // namespace hopscope::models
