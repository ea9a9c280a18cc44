// Sentences about results that are not finite.

#include "base/units.h"
#include "schema/report.h"

namespace hopscope::schema {

namespace {

constexpr std::size_t mostNamed = 4;

std::string outputsText(const std::vector<LostNumbers>& outputs)
{
    std::string text;
    for (std::size_t i = 0; i < outputs.size() && i < mostNamed; ++i) text += (i ? ", " : "") + outputs[i].output;
    if (outputs.size() > mostNamed)
        text += " and " + base::counted(static_cast<std::int64_t>(outputs.size() - mostNamed), "more output");
    return text;
}

}  // namespace

std::string sentenceOf(const NotFiniteRecord& record)
{
    std::int64_t all = 0;
    for (const LostNumbers& lost : record.outputs) all += lost.of;
    return base::formatCount(static_cast<double>(record.numbers())) + " of " +
           base::formatCount(static_cast<double>(all)) + (all == 1 ? " number in " : " numbers in ") +
           outputsText(record.outputs) + (record.numbers() == 1 ? " is" : " are") +
           " NaN or infinite: " + record.origin;
}

std::string notFiniteBesideVerdict(const Report& report)
{
    const bool said = report.verify && report.verify->verdict == Verdict::Equal && report.verify->notFinite() > 0;
    return report.notFinite && !said ? sentenceOf(*report.notFinite) : std::string();
}

}  // namespace hopscope::schema
