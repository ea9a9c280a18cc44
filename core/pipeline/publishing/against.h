#pragma once

// Compares a model file with another one, or with outputs in files, on the same data: whether the numbers are the same
// and, if not, at which operator the two models diverge.

#include "executor/events.h"
#include "pipeline/opening/prepare.h"
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
// compares them. If numbers differ and both sides are models that fit into memory together, compares these operator by
// operator. Fails with Input if the outputs differ in names, types or sizes, and with Resources if a model neither fits
// into memory nor can be split.
base::Result<schema::Comparison> compareAgainst(const AgainstRequest& request, executor::Observer& observer,
                                                Reporter& reporter, const std::stop_token& stop);

// Returns the exit code for a comparison: 5 if its verdict is "different", otherwise 0.
int exitCodeOf(const schema::Comparison& comparison);

}  // namespace hopscope::pipeline
