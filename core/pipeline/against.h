#pragma once

// Compares two model files on the same data: whether both compute the same numbers and, if not, at which operator they
// diverge.

#include "executor/events.h"
#include "pipeline/prepare.h"
#include "schema/comparison.h"

namespace hopscope::pipeline {

struct AgainstRequest {
    ModelOptions model;
    std::string against;      // a model file, or a file or folder with the outputs of a model
    base::Settings settings;  // of staged runs
    std::string folder;       // for scratch files
    std::optional<std::int64_t> memory =
        std::nullopt;  // bytes that forward may use; nullopt: a part of the free memory
};

// Computes the outputs of each model by its own forward, or by a staged run if forward does not fit into memory, and
// compares them. If numbers differ, compares both models operator by operator. Fails with Input if the outputs differ
// in names, types or sizes, and with Resources if a model neither fits into memory nor can be split.
base::Result<schema::Comparison> compareAgainst(const AgainstRequest& request, executor::Observer& observer,
                                                Reporter& reporter, const std::stop_token& stop);

// Returns the exit code for a comparison: 5 if its verdict is "different", otherwise 0.
int exitCodeOf(const schema::Comparison& comparison);

}  // namespace hopscope::pipeline
