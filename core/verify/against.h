#pragma once

// Compares the outputs of two files of a model, such as a TorchScript file and an exported program, which compute the
// same data.

#include <optional>

#include "schema/comparison.h"
#include "verify/verify.h"

namespace hopscope::verify {

// One of the two sides.
struct Side {
    std::string name;                  // of the file, for sentences
    const Request* request = nullptr;  // the model and its data, without a run; null: the outputs are those of a file
    base::TensorMap outputs{};
    schema::OutputsBy by = schema::OutputsBy::Forward;
};

// The bytes that forward needs, with these data, and those that a child may use.
struct ForwardNeed {
    std::int64_t needed = 0, memory = 0;
    [[nodiscard]] bool fits() const { return needed <= memory; }
};
ForwardNeed forwardNeed(const Request& request);

// The outputs of the model's own forward, which runs in a child process; nullopt if memory runs out. Fails with Input if
// forward refuses the data.
base::Result<std::optional<base::TensorMap>> forwardOutputs(const Request& request, std::stop_token stop);

// Compares all elements of all outputs; a difference that is rounding (rounding.h) is "unverifiable". Fails with Input,
// and a sentence that names both, unless the outputs have the same names, types and sizes.
base::Result<schema::Comparison> compareSides(const Side& first, const Side& second, std::stop_token stop);

}  // namespace hopscope::verify
