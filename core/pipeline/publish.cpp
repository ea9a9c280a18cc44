#include "pipeline/publish.h"

#include "pipeline/outputs.h"
#include "pipeline/records.h"

namespace hopscope::pipeline {

base::Result<schema::Report> publish(const Execution& execution, schema::Report report, OutputFolder& folder)
{
    base::Result<std::vector<schema::OutputRecord>> outputs = stageOutputs(execution.run, folder);
    if (!outputs) return base::forward(outputs);
    report.outputs = std::move(*outputs);
    report.notFinite = execution.notFinite;
    report.verify = execution.verdict;
    report = schema::bounded(std::move(report));
    if (const base::Status staged = stageText(schema::writeReport(report), "report.json", folder); !staged)
        return base::forward(staged);
    if (const base::Status published = folder.publish(); !published) return base::forward(published);
    return report;
}

}  // namespace hopscope::pipeline
