#pragma once

// Private to verify: whether a difference is rounding that the model itself amplifies. Such a model gives other numbers
// for each order of its sums, and none of them is right.

#include <array>
#include <optional>
#include <string>

#include "verify/compare.h"

namespace hopscope::verify {

// An output of a staged run that differs from the reference.
struct Differing {
    std::string name;
    base::TensorView staged;
    std::optional<RowPairs> rows;  // none: all elements were compared
};

// The rounding of an output is how far the model's own result is from the one in float64, and how far it moves where its
// inputs change in their last digit: the larger of both, over all elements compared. A difference of up to four times
// that, beyond the absolute tolerance, is rounding; tests/models/zoo.py allows as much. A distance from float64 of more
// than a thousandth of the largest number does not count: that is a comparison that turned, or code that means something
// else there.
class Rounding {
public:
    // `data`: what the model's own forward was run on, in a child with `memory` bytes, to give `reference`. All must
    // outlive the object.
    Rounding(const Request& request, std::vector<std::string> data, std::int64_t memory,
             const base::TensorMap& reference);

    // How far the model's own result and the staged one are from exact numbers, as a sentence, if the difference is
    // rounding; else empty. Runs forward in children, once for all outputs.
    base::Result<std::string> explain(const Differing& output, const std::stop_token& stop);

private:
    using Outputs = std::optional<base::TensorMap>;
    static constexpr std::size_t inDouble = 0, ways = 4;  // the others: inputs moved by three seeds
    base::Result<Outputs> compute(std::size_t way, const std::stop_token& stop) const;
    base::Result<const base::TensorView*> result(std::size_t way, const std::string& output,
                                                 const std::stop_token& stop);

    const Request& m_request;
    std::vector<std::string> m_data;
    std::int64_t m_memory;
    const base::TensorMap& m_reference;
    std::array<std::optional<Outputs>, ways> m_computed;  // empty: not yet; no outputs: it could not be computed so
};

// What is known of all differences of a verification.
struct Explanation {
    std::string sentence;  // of the first
    bool complete = true;  // none was without
    void add(const std::string& found)
    {
        complete = complete && !found.empty();
        if (sentence.empty()) sentence = found;
    }
    [[nodiscard]] std::string whole() const { return complete ? sentence : std::string(); }
};

}  // namespace hopscope::verify
