#pragma once

// How fast a device works on large graphs, as the cost model sees it. Measured by `hopscope-engine bench machine`; the
// numbers here are those of a small server and of a recent GPU, good enough to rank plans by.

#include <string>

#include "plan/walls.h"

namespace hopscope::plan {

struct Machine {
    std::string device = "cpu";  // "cpu", "cuda:0"
    double read = 2e10;          // bytes/s: consecutive rows of a store, to the device
    double gather = 6e9;         // bytes/s: rows of a store picked by number, to the device
    double write = 2e9;          // bytes/s: rows of a batch, to a store
    double structure = 4e8;      // bytes/s: row numbers made for a block
    double elementwise = 8e9;    // bytes/s: read and written by operators on rows
    double aggregate = 6e9;      // bytes/s: messages combined
    double matmul = 5e10;        // floating-point operations/s
    double call = 5e-6;          // s per operator and batch
    double batch = 1e-4;         // s per batch
    Walls walls{};               // empty: a typical machine's, as far as the rates above tell
    double slowness = 1;         // how much longer finished runs took than the walls let expect
    bool operator==(const Machine&) const = default;
};

inline Machine typicalMachine(const std::string& device)
{
    if (!device.starts_with("cuda")) return {};
    return {device, 1.2e10, 6e9, 1e10, 4e8, 1.5e12, 6e11, 2e13, 1e-5, 3e-4, {}, 1};
}

}  // namespace hopscope::plan
