#pragma once

// Receives progress and notes of the pipeline. The command line shows them on the terminal, the server sends them to its
// client. (The events of a run go to executor::Observer.)

#include <string>

#include "base/progress.h"

namespace hopscope::pipeline {

// Called by one thread at a time: the working one, or one for which it waits. The base class ignores everything.
class Reporter {
public:
    virtual ~Reporter() = default;
    virtual void progress(const base::Progress& /*step*/) {}  // a step has started or advanced
    virtual void progressEnded() {}                           // the step has ended
    virtual void note(const std::string& /*sentence*/) {}
    virtual void minorNote(const std::string& sentence) { note(sentence); }  // worth reading once per model and data
};

// The same as a plain function. `reporter` must outlive it.
inline base::ProgressFn progressOf(Reporter& reporter)
{
    return [&reporter](const base::Progress& step) { reporter.progress(step); };
}

}  // namespace hopscope::pipeline
