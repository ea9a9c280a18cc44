#include "executor/overlap.h"

#include <algorithm>

namespace hopscope::executor {

namespace {

using Spans = std::vector<Overlap::Span>;

// Ascending, and apart from each other.
Spans merged(Spans spans)
{
    std::ranges::sort(spans, {}, &Overlap::Span::begin);
    Spans apart;
    for (const Overlap::Span& s : spans) {
        if (apart.empty() || s.begin > apart.back().end) apart.push_back(s);
        else apart.back().end = std::max(apart.back().end, s.end);
    }
    return apart;
}

double length(const Spans& spans)
{
    double sum = 0;
    for (const Overlap::Span& s : spans) sum += s.end - s.begin;
    return sum;
}

double common(const Spans& a, const Spans& b)
{
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        sum += std::max(0.0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
        if (a[i].end < b[j].end) ++i;
        else ++j;
    }
    return sum;
}

}  // namespace

double Overlap::share() const
{
    const Spans copies = merged(m_copies), computing = merged(m_computing);
    const double shorter = std::min(length(copies), length(computing));
    return shorter > 0 ? common(copies, computing) / shorter : 0;
}

}  // namespace hopscope::executor
