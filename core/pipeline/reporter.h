#pragma once

// Who hears of what the pipeline does beside a run's own events: a terminal, the client of a request, or nobody.

#include <string>

#include "base/progress.h"

namespace hopscope::pipeline {

// Called on the thread that does the work. As it is it keeps everything to itself.
class Reporter {
public:
    virtual ~Reporter() = default;
    virtual void progress(const base::Progress& /*step*/) {}  // a step has begun, or goes on
    virtual void progressEnded() {}                           // nothing is under way any more
    virtual void note(const std::string& /*sentence*/) {}
};

// For what takes a plain function. `reporter` must outlive it.
inline base::ProgressFn progressOf(Reporter& reporter)
{
    return [&reporter](const base::Progress& step) { reporter.progress(step); };
}

}  // namespace hopscope::pipeline
