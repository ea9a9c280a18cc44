#pragma once

// Private to verify: whether a difference is rounding that the model itself amplifies. Such a model gives different
// numbers for each order of its sums, and none of them is right.

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
    std::string of = "the split's";  // the owner of the result, for sentences
};

// A difference is rounding if it is no larger than the absolute tolerance and four times the model's own rounding
// error, as tests/models/zoo.py allows: the distance of the model's result from its result in float64, the largest over
// all elements compared. If that is more than a thousandth of the largest number, a comparison may have a different
// outcome, or the code a different meaning, in float64: then, and if float64 is not possible, the result must also
// change as much when inputs change in their last digit.
class Rounding {
public:
    // `data`: the inputs on which the model's own forward was run, in a child with `memory` bytes, to give `reference`.
    // All must outlive the object.
    Rounding(const Request& request, std::vector<std::string> data, std::int64_t memory,
             const base::TensorMap& reference);

    // A sentence with the distances of the model's own result and the staged one from exact numbers, if the difference
    // is rounding; otherwise empty. Runs forward in children, once for all outputs.
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
    std::array<std::optional<Outputs>, ways> m_computed;  // empty: not computed yet; no outputs: not possible
};

// The explanation of all differences of a verification.
struct Explanation {
    std::string sentence;  // of the first
    bool complete = true;  // every difference has one
    void add(const std::string& found)
    {
        complete = complete && !found.empty();
        if (sentence.empty()) sentence = found;
    }
    [[nodiscard]] std::string whole() const { return complete ? sentence : std::string(); }
};

// Explains outputs one after the other, until one cannot be.
base::Status explainAll(const std::vector<Differing>& outputs, Rounding& rounding, const std::stop_token& stop,
                        Explanation& explanation);

}  // namespace hopscope::verify
