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
    if (outputs.size() > mostNamed) text += " and " + std::to_string(outputs.size() - mostNamed) + " more outputs";
    return text;
}

}  // namespace

std::string sentenceOf(const NotFiniteRecord& record)
{
    std::int64_t all = 0;
    for (const LostNumbers& lost : record.outputs) all += lost.of;
    return base::formatCount(static_cast<double>(record.numbers())) + " of " +
           base::formatCount(static_cast<double>(all)) + " numbers in " + outputsText(record.outputs) +
           " are NaN or infinite: " + record.origin;
}

std::string notFiniteBesideVerdict(const Report& report)
{
    const bool said = report.verify && report.verify->verdict == Verdict::Equal && report.verify->notFinite() > 0;
    return report.notFinite && !said ? sentenceOf(*report.notFinite) : std::string();
}

}  // namespace hopscope::schema
