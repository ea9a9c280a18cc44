#pragma once

// Compares the outputs of two model files on the same data, or those of a model file with outputs in a file.

#include <optional>

#include "schema/comparison.h"
#include "verify/verify.h"

namespace hopscope::verify {

// One of the two sides of a comparison.
struct Side {
    std::string name;                  // of the file, for sentences
    const Request* request = nullptr;  // the model and its data, without a run; null: the outputs come from a file
    base::TensorMap outputs{};
    schema::OutputsBy by = schema::OutputsBy::Forward;
};

// The bytes that forward needs on the data of a request (an estimate), and those that a child may use.
struct ForwardNeed {
    std::int64_t needed = 0, memory = 0;
    [[nodiscard]] bool fits() const { return needed <= memory; }
};
ForwardNeed forwardNeed(const Request& request);

// Returns the outputs of the model's own forward, which runs in a child process; nullopt if memory runs out. Fails with
// Input if forward fails on the data or the child dies for a different reason.
base::Result<std::optional<base::TensorMap>> forwardOutputs(const Request& request, std::stop_token stop);

// Compares all elements of all outputs. The verdict is "unverifiable" if all differences are rounding of a model whose
// forward ran (rounding.h): of the second one, or of the first one if forward did not run for the second. Fails with
// Input, naming both sides, unless the outputs have the same names, types and sizes.
base::Result<schema::Comparison> compareSides(const Side& first, const Side& second, std::stop_token stop);

}  // namespace hopscope::verify
