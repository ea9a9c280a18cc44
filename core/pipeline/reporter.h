#pragma once

// Receives the progress and notes of the pipeline. The command line prints them to the terminal; the server sends them
// to its client. (executor::Observer receives the events of a run.)

#include <string>

#include "base/progress.h"

namespace hopscope::pipeline {

// A receiver of progress and notes, which is called by one thread at a time. The base class ignores everything.
class Reporter {
public:
    virtual ~Reporter() = default;
    virtual void progress(const base::Progress& /*step*/) {}  // a step has started or advanced
    virtual void progressEnded() {}                           // the step has ended
    virtual void note(const std::string& /*sentence*/) {}
    virtual void minorNote(const std::string& sentence) { note(sentence); }  // worth reading once per model and data
};

// Returns the progress callback of a reporter, which must outlive it.
inline base::ProgressFn progressOf(Reporter& reporter)
{
    return [&reporter](const base::Progress& step) { reporter.progress(step); };
}

}  // namespace hopscope::pipeline
