// Reports of bounded size, whatever the model is like.

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.h"
#include "base/units.h"
#include "schema/report.h"

namespace hopscope::schema {

namespace {

constexpr std::size_t longestText = 1000;

// With room for the note about the omissions.
bool fits(const Report& report) { return writeReport(report).size() < mostReportBytes - longestText; }

std::string counted(std::int64_t count, const std::string& what)
{
    return base::formatCount(static_cast<double>(count)) + " " + what;
}

// Keeps so many of the largest in their order; how many are gone.
template <class T, class Size>
std::int64_t keepLargest(std::vector<T>& items, std::size_t keep, Size&& size)
{
    if (items.size() <= keep) return 0;
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return size(items[a]) > size(items[b]); });
    order.resize(keep);
    std::ranges::sort(order);
    std::vector<T> kept;
    for (const std::size_t i : order) kept.push_back(std::move(items[i]));
    const auto gone = static_cast<std::int64_t>(items.size() - keep);
    items = std::move(kept);
    return gone;
}

// Calls `keep` with ever smaller numbers, from half of `most` down to `least`, until the report fits; what all calls have left out.
template <class Keep>
std::int64_t halve(Report& report, std::size_t most, std::size_t least, Keep&& keep)
{
    std::int64_t gone = 0;
    for (std::size_t n = most; n > least && !fits(report);) {
        n = std::max(n / 2, least);
        gone += keep(n);
    }
    return gone;
}

void shortenTexts(Report& report)
{
    const auto shorten = [](std::string& text) {
        if (text.size() > longestText) text = base::oneLine(text, longestText);
    };
    shorten(report.modelClass);
    std::ranges::for_each(report.notes, shorten);
    for (OrderRecord& order : report.orders) shorten(order.reason);
    for (NarrowedRecord& store : report.narrowed) shorten(store.value);
    for (StageRecord& stage : report.stages)
        for (OperatorTimeRecord& op : stage.operators) shorten(op.label);
    if (report.notFinite) shorten(report.notFinite->origin);
    if (!report.verify) return;
    shorten(report.verify->reason);
    for (auto* records : {&report.verify->outputs, &report.verify->checkpoints})
        for (TensorRecord& record : *records) shorten(record.name);
}

std::int64_t leaveOutOperators(Report& report, std::size_t least)
{
    std::size_t most = 0;
    for (const StageRecord& stage : report.stages) most = std::max(most, stage.operators.size());
    return halve(report, most, least, [&](std::size_t keep) {
        std::int64_t gone = 0;
        for (StageRecord& stage : report.stages)
            gone += keepLargest(stage.operators, keep, [](const OperatorTimeRecord& op) { return op.seconds; });
        return gone;
    });
}

std::int64_t leaveOutCompared(Report& report, std::size_t least)
{
    if (!report.verify) return 0;
    Verification& found = *report.verify;
    const auto worst = [](const TensorRecord& record) { return std::pair(record.different, record.maxAbsolute); };
    return halve(report, std::max(found.checkpoints.size(), found.outputs.size()), least, [&](std::size_t keep) {
        return keepLargest(found.checkpoints, keep, worst) + keepLargest(found.outputs, keep, worst);
    });
}

std::int64_t leaveOutStages(Report& report, std::size_t least)
{
    return halve(report, report.stages.size(), least, [&](std::size_t keep) {
        return keepLargest(report.stages, keep, [](const StageRecord& stage) { return stage.seconds; });
    });
}

// Later ones mostly repeat the first.
std::int64_t leaveOutRemarks(Report& report, std::size_t least)
{
    const auto cut = [](auto& items, std::size_t keep) {
        const auto before = items.size();
        if (before > keep) items.resize(keep);
        return static_cast<std::int64_t>(before - items.size());
    };
    const std::size_t most = std::max({report.notes.size(), report.narrowed.size(), report.orders.size()});
    return halve(report, most, least, [&](std::size_t keep) {
        return cut(report.notes, keep) + cut(report.narrowed, keep) + cut(report.orders, keep);
    });
}

// In this order, of each kind some first, and all but one only where that does not suffice.
struct Step {
    std::int64_t (*leaveOut)(Report& report, std::size_t least);
    const char* what;
    std::int64_t gone = 0;
};

}  // namespace

Report bounded(Report report)
{
    if (fits(report)) return report;
    shortenTexts(report);
    std::array steps{Step{leaveOutOperators, "of its operators, which took the least time"},
                     Step{leaveOutCompared, "of its comparisons, which have the smallest differences"},
                     Step{leaveOutRemarks, "of its notes and records of stores and orders"},
                     Step{leaveOutStages, "of its stages, which took the least time"}};
    for (const std::size_t least : {std::size_t{100}, std::size_t{1}})
        for (Step& step : steps) step.gone += step.leaveOut(report, least);
    std::string note = "a report has room for " + base::formatBytes(mostReportBytes) + ": texts of more than " +
                       counted(longestText, "bytes are cut");
    for (const Step& step : steps)
        if (step.gone > 0) note += "; it omits " + counted(step.gone, step.what);
    report.notes.push_back(std::move(note));
    return report;
}

}  // namespace hopscope::schema
