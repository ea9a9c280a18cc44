#pragma once

// Records composite operators without a line in the table as the operators that they consist of.

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "loader/walk/numbers.h"

namespace hopscope::loader {

class CompositeOperators {
public:
    CompositeOperators(Recorder& recorder, const Location& location, OperatorCalls& calls, Numbers& numbers)
        : m_recorder(recorder),
          m_location(location),
          m_calls(calls),
          m_numbers(numbers)
    {}

    // Returns the operator's results; nullopt if it has a line in the table or is not composite. Throws Refused if a
    // part may not run, or if the operator computes with numbers that depend on the data other than through sizes.
    std::optional<std::vector<Item>> evaluate(const torch::jit::Operator& op, const std::vector<Item>& args);

private:
    // The origin of a size: a dimension of a tensor among the arguments.
    struct Extent {
        Item tensor;
        std::size_t argument = 0;
        int item = -1;  // of a list
        std::int64_t dim = 0;
    };
    using Extents = std::vector<Extent>;
    // One call of a part: its arguments and results on the sample.
    struct Part {
        const torch::jit::Operator* op = nullptr;
        torch::jit::Stack args, results;
    };
    using Parts = std::vector<Part>;
    struct Run {
        Parts parts;
        torch::jit::Stack results;
    };
    // The position of a number among the arguments of the parts: the part, the argument, the item of a list.
    using Place = std::tuple<std::size_t, std::size_t, int>;
    // factor * size + constant
    struct Size {
        const Extent* extent = nullptr;
        std::int64_t factor = 0, constant = 0;
    };
    using Sizes = std::map<Place, Size>;
    using Known = std::map<const void*, Item>;  // by tensor

    Run run(const torch::jit::Operator& op, torch::jit::Stack stack) const;
    void checkPart(const torch::jit::Operator& part, const torch::jit::Stack& args) const;
    [[nodiscard]] std::vector<Extents> groups(const std::vector<Item>& args) const;
    [[nodiscard]] std::optional<std::array<Run, 2>>
    longerRuns(const torch::jit::Operator& op, const torch::jit::Stack& stack, const Extents& group) const;
    static bool followPart(std::size_t p, const std::array<const Part*, 3>& part, const Extents& group, Sizes& sizes);
    bool follow(const torch::jit::Operator& op, const torch::jit::Stack& stack, const Run& first, const Extents& group,
                Sizes& sizes) const;
    void requireSameOnOtherNumbers(const torch::jit::Operator& op, const torch::jit::Stack& stack,
                                   const Run& first) const;
    std::vector<Item> argumentsOf(const Run& run, std::size_t p, const Known& known, const Sizes& sizes);
    void record(const Part& part, const std::vector<Item>& args, Known& known);
    std::vector<Item> replay(const torch::jit::Operator& op, const Run& run, const Sizes& sizes, Known known);
    Item itemOf(const c10::IValue& value, const Known& known, const Sizes& sizes, const Place& place);
    [[nodiscard]] Item tensorOf(const at::Tensor& tensor, const Known& known);
    Item number(const Size& size);

    Recorder& m_recorder;
    const Location& m_location;
    OperatorCalls& m_calls;
    Numbers& m_numbers;
};

}  // namespace hopscope::loader
