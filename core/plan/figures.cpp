#include "plan/figures.h"

#include <algorithm>

namespace hopscope::plan {

namespace {

template <class N>
N merged(N into, N later, Merge how)
{
    if (how == Merge::Sum) return into + later;
    if (how == Merge::Most) return std::max(into, later);
    return into == 0 || (later != 0 && later < into) ? later : into;  // 0: of no batch
}

template <class M>
void merge(M& into, const M& later, Merge how)
{
    if (how == Merge::OfStage) return;
    if constexpr (std::is_arithmetic_v<M>) {
        into = merged(into, later, how);
    } else if constexpr (requires { later.has_value(); }) {
        if (later) into = into ? merged(*into, *later, how) : *later;
    } else {
        into += later;
    }
}

}  // namespace

double PhaseSeconds::sum() const
{
    double sum = 0;
    for (const NamedPhase& phase : namedPhases) sum += this->*phase.seconds;
    return sum;
}

PhaseSeconds& operator+=(PhaseSeconds& into, const PhaseSeconds& later)
{
    for (const NamedPhase& phase : namedPhases) into.*phase.seconds += later.*phase.seconds;
    return into;
}

StageFigures& operator+=(StageFigures& into, const StageFigures& later)
{
    base::forEachField<StageFigures>(
        [&](const auto& figure) { merge(into.*figure.member, later.*figure.member, figure.merge); });
    return into;
}

}  // namespace hopscope::plan
