#include "pipeline/publishing/publish.h"

#include <algorithm>
#include <cmath>

#include "pipeline/publishing/outputs.h"
#include "pipeline/running/records.h"

namespace hopscope::pipeline {

namespace {

// The report states the largest error of all outputs along with the reassociated products.
void addErrors(schema::Report& report)
{
    if (!report.reassociated || !report.verify || report.verify->outputs.empty()) return;
    double absolute = 0, relative = 0;
    for (const schema::TensorRecord& output : report.verify->outputs) {
        absolute = std::max(absolute, output.maxAbsolute);
        relative = std::max(relative, output.maxRelative);
    }
    if (std::isfinite(absolute)) report.reassociated->maxAbsolute = absolute;
    if (std::isfinite(relative)) report.reassociated->maxRelative = relative;
}

}  // namespace

base::Result<schema::Report> publish(const Execution& execution, schema::Report report, OutputFolder& folder)
{
    base::Result<std::vector<schema::OutputRecord>> outputs = stageOutputs(execution.run, folder);
    if (!outputs) return base::forward(outputs);
    report.outputs = std::move(*outputs);
    report.notFinite = execution.notFinite;
    report.verify = execution.verdict;
    addErrors(report);
    report = schema::bounded(std::move(report));
    if (const base::Status staged = stageText(schema::writeReport(report), "report.json", folder); !staged)
        return base::forward(staged);
    if (const base::Status published = folder.publish(); !published) return base::forward(published);
    return report;
}

}  // namespace hopscope::pipeline
