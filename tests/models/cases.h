#pragma once

// The list files: one model per line, tab-separated NAME=VALUE fields.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/compare.h"

namespace hopscope::models {

enum class Expectation : std::uint8_t {
    Equal,    // runs, and computes what is expected
    Refused,  // ends with exit code 4 and a sentence that names the place
    Either,   // one of both, as a random program may
};

struct Graph {
    std::string data, expected;  // .safetensors files; `expected` by output name
};

struct Case {
    std::string name, model, list;  // `list`: the file that names the model
    Expectation expectation = Expectation::Equal;
    std::vector<std::string> reasons;  // Refused: one of these is part of the message
    std::string hint;                  // Refused: part of the hint, if any is listed
    std::string noOptimum;             // part of the reason why optimal cuts are refused; empty: they must not be
    std::vector<std::string> roles;
    std::vector<Graph> graphs;
    std::vector<std::int64_t> batches{1, 7, 0};  // 0: all destinations at once; -1: chosen by the executor
    int stages = 0;                              // of the depth strategy; 0: not checked
    bool prologue = false;                       // must not be empty
    bool shuffle = true;                         // run in random destination order too
    bool peaks = true;                           // predicted peaks of memory are compared
    bool gpu = true;                             // runs on the simulated GPU, too
    bool quick = false;                          // one of those that the quick tier runs
    Tolerance tolerance;
    std::optional<double> accuracy;  // of the first output against `labels` of the data on `test_mask`
};

// Fails with Input on unknown fields and words, and on a refusal without a reason.
base::Result<std::vector<Case>> readCases(const std::string& path);

}  // namespace hopscope::models
