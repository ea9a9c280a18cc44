#include "schema/report.h"

#include <algorithm>

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

using json::Reader;
using json::Value;

Value phasesValue(const plan::PhaseSeconds& phases) { return json::written(phases); }
Value bytesValue(const plan::Bytes& bytes) { return json::written(bytes); }
plan::Bytes readBytes(const Reader& item) { return json::readAs<plan::Bytes>(item); }

const StageRecord* stageOf(const Report* report, plan::StageId stage)
{
    if (report == nullptr) return nullptr;
    const auto found = std::ranges::find(report->stages, stage, &StageRecord::index);
    return found == report->stages.end() ? nullptr : &*found;
}

Value reportValue(const Report& report) { return documentOf(report, "hopscope-report"); }

std::string writeReport(const Report& report) { return json::write(reportValue(report), true); }

base::Result<Report> readReport(const std::string& text, const std::string& file)
{
    return parseDocument<Report>(text, "hopscope-report", file);
}

}  // namespace hopscope::schema
