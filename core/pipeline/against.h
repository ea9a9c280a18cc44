#pragma once

// Two files of a model compared on the same data: do they yield the same numbers, and if not, where do they diverge?

#include "executor/events.h"
#include "pipeline/prepare.h"
#include "schema/comparison.h"

namespace hopscope::pipeline {

struct AgainstRequest {
    ModelOptions model;
    std::string against;      // a model file, or a file or a folder with outputs of one
    base::Settings settings;  // of staged runs
    std::string folder;       // for scratch files
    std::optional<std::int64_t> memory =
        std::nullopt;  // bytes that forward may use; nullopt: a share of the free memory
};

// Each side is computed by the model's own forward, or by a staged run if forward does not fit into memory. Where
// numbers differ, both models are compared operator by operator. Fails with Input if the outputs differ in names,
// types or sizes, and with Resources if a model neither fits into memory nor can be split.
base::Result<schema::Comparison> compareAgainst(const AgainstRequest& request, executor::Observer& observer,
                                                Reporter& reporter, const std::stop_token& stop);

// The exit code that a comparison stands for: 0, or 5 for "different".
int exitCodeOf(const schema::Comparison& comparison);

}  // namespace hopscope::pipeline
