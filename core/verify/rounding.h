#pragma once

// Private to verify: decides whether a difference is rounding that the model itself amplifies. Such a model computes
// different numbers for each order of its sums, and none of them is right.

#include <array>
#include <optional>
#include <string>

#include "verify/compare.h"

namespace hopscope::verify {

// An output of a staged run that differs from the reference.
struct Differing {
    std::string name;
    base::TensorView staged;
    std::optional<RowPairs> rows;    // none: all elements were compared
    std::string of = "the split's";  // names the result in sentences
};

// Decides whether differences are rounding: no larger than the absolute tolerance plus four times the model's own
// rounding error, as in tests/models/zoo.py. That error is the largest distance of the model's result from its result
// in float64, over all elements compared.
//
// If the error exceeds a thousandth of the largest number, a comparison may have a different outcome in float64, or the
// code a different meaning. In this case, and if float64 is impossible, the result must also change as much when the
// last digit of the inputs changes.
class Rounding {
public:
    // `reference`: the result of the model's own forward on the inputs `data`, in a child with `memory` bytes.
    // Arguments passed by reference must outlive the object.
    Rounding(const Request& request, std::vector<std::string> data, std::int64_t memory,
             const base::TensorMap& reference);

    // Returns a sentence with the sizes of the model's own error and of the difference if that is rounding; otherwise
    // an empty string. Runs forward in children, once for all outputs.
    base::Result<std::string> explain(const Differing& output, const std::stop_token& stop);

private:
    using Outputs = std::optional<base::TensorMap>;
    static constexpr std::size_t inDouble = 0, ways = 4;  // the other ways: inputs changed with three seeds
    base::Result<Outputs> compute(std::size_t way, const std::stop_token& stop) const;
    base::Result<const base::TensorView*> result(std::size_t way, const std::string& output,
                                                 const std::stop_token& stop);

    const Request& m_request;
    std::vector<std::string> m_data;
    std::int64_t m_memory;
    const base::TensorMap& m_reference;
    std::array<std::optional<Outputs>, ways> m_computed;  // empty: not computed yet; without outputs: impossible
};

// Explains all differences of a verification.
struct Explanation {
    std::string sentence;  // the first explanation
    bool complete = true;  // whether every difference has an explanation
    void add(const std::string& found)
    {
        complete = complete && !found.empty();
        if (sentence.empty()) sentence = found;
    }
    [[nodiscard]] std::string whole() const { return complete ? sentence : std::string(); }
};

// Explains the differences of outputs in order, up to the first without an explanation.
base::Status explainAll(const std::vector<Differing>& outputs, Rounding& rounding, const std::stop_token& stop,
                        Explanation& explanation);

}  // namespace hopscope::verify
