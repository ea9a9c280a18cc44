#pragma once

// Private to the optimiser: the demands that pins, outputs and required reads make on a placement, node by node. The
// algorithms read these bounds instead of the pins.

#include <cstdint>
#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

void addOnce(std::vector<int>& list, int v);  // does nothing if the list contains it; linear

// The bounds of all nodes. Construction is linear.
struct Bounds {
    explicit Bounds(const Instance& instance, bool withPins = true);

    static constexpr int never = -1;

    std::vector<std::vector<int>> cuts;        // operands that have to be read wherever the node is computed
    std::vector<std::uint8_t> output;          // has to be written (inputs among the outputs are not marked)
    std::vector<std::uint8_t> pinned;          // has to be written as well
    std::vector<std::uint8_t> forbidden;       // must not be written, not even as an output
    std::vector<std::uint8_t> mayStore, once;  // the nodes' own flags included
    std::vector<int> stagePin;  // the stage in which a hop has to run; never: not pinned; after the last stage: in none

    [[nodiscard]] bool mustWrite(int v) const { return output[v] || pinned[v]; }
    [[nodiscard]] bool isCut(int u, int v) const;

private:
    void demand(const Pin& pin, int stages);
};

}  // namespace hopscope::optimiser
