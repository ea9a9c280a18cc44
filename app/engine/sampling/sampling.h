#pragma once

// Implements `hopscope-engine sample`, which describes and samples inputs for a client whose model is not in a file
// yet. It needs no LibTorch, and therefore answers within milliseconds.

#include <string>

#include "base/result.h"

namespace hopscope::engine {

// Answers a request; docs/reference/format-sample.md describes requests and answers. The process is confined to the
// files that the request names, unless `sandbox` is false.
base::Result<std::string> answerSampling(const std::string& request, bool sandbox);

// Runs the whole command (`hopscope-engine sample [--no-sandbox]`): reads the request from standard input, and writes
// the answer or the error as JSON to standard output. Returns the exit code.
int sampleMain(int count, char** arguments);

}  // namespace hopscope::engine
