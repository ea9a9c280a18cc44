#pragma once

// The speed of a device on large graphs, as the cost model uses it, and its walls. `hopscope-engine bench machine`
// measures them. The numbers here, of a small server and of a recent GPU, are good enough to rank plans.

#include <string>

#include "plan/walls.h"

namespace hopscope::plan {

struct Machine {
    std::string device = "cpu";  // "cpu", "cuda:0"
    double read = 2e10;          // bytes/s: consecutive rows of a store, to the device
    double gather = 6e9;         // bytes/s: rows of a store picked by number, to the device
    double write = 2e9;          // bytes/s: rows of a batch, to a store
    double structure = 4e8;      // bytes/s: row numbers computed for a block
    double elementwise = 8e9;    // bytes/s: read and written by operators on rows
    double aggregate = 6e9;      // bytes/s: messages combined
    double matmul = 5e10;        // floating-point operations/s
    double call = 5e-6;          // s per operator and batch
    double batch = 1e-4;         // s per batch
    Walls walls{};               // empty: not known
    double slowness = 1;         // the duration of finished runs relative to the prediction from the walls
    bool operator==(const Machine&) const = default;
};

// Returns the walls of two cores of a server with 32 MiB of cache.
inline Walls typicalWalls()
{
    constexpr std::int64_t Ki = 1 << 10, Mi = 1 << 20;
    Walls walls{{.kind = WallKind::Stream, .all = 1.6e11, .one = 8.5e10, .bytes = Mi},
                {.kind = WallKind::Stream, .all = 4e10, .one = 2.5e10, .bytes = 32 * Mi},
                {.kind = WallKind::Fresh, .all = 6e9, .one = 3e9},
                {.kind = WallKind::Pages, .all = 2.5e10, .one = 1.3e10},
                {.kind = WallKind::Stores, .all = 7e9, .one = 5e9},
                {.kind = WallKind::DiskWrite, .all = 5e8, .one = 5e8},
                {.kind = WallKind::DiskRead, .all = 1.5e9, .one = 1.5e9}};
    struct Table {
        std::int64_t bytes;
        double narrow, middle, wide;  // bytes/s of rows of 64, 256 and 1024 bytes
    };
    for (const Table& t : {Table{512 * Ki, 4.5e10, 8e10, 1.2e11}, Table{4 * Mi, 1.8e10, 5e10, 6e10},
                           Table{32 * Mi, 1e10, 2e10, 2.8e10}, Table{256 * Mi, 8e9, 1.3e10, 1.8e10}})
        for (const auto& [width, rate] : {std::pair{64, t.narrow}, std::pair{256, t.middle}, std::pair{1024, t.wide}})
            for (const WallKind kind : {WallKind::Rows, WallKind::Segments})
                walls.push_back({.kind = kind, .all = rate, .one = rate / 2, .bytes = t.bytes, .width = width});
    struct Product {
        std::int64_t columns, outputs;
        double rate;
    };
    for (const Product& p : {Product{32, 16, 4e10}, Product{32, 128, 1.1e11}, Product{128, 16, 1e11},
                             Product{128, 48, 1.6e11}, Product{128, 512, 1.8e11}, Product{512, 512, 1.9e11}})
        walls.push_back(
            {.kind = WallKind::Gemm, .all = p.rate, .one = p.rate / 2, .width = p.columns, .outputs = p.outputs});
    return walls;
}

inline Machine typicalMachine(const std::string& device)
{
    if (!device.starts_with("cuda"))
        return {.device = device,
                .read = 2e10,
                .gather = 1.3e10,
                .write = 5e9,
                .structure = 2.5e9,
                .elementwise = 1e11,
                .aggregate = 1.3e10,
                .matmul = 1.6e11,
                .call = 2e-6,
                .batch = 5e-5,
                .walls = typicalWalls(),
                .slowness = 1};
    return {.device = device,
            .read = 1.2e10,
            .gather = 6e9,
            .write = 1e10,
            .structure = 4e8,
            .elementwise = 1.5e12,
            .aggregate = 6e11,
            .matmul = 2e13,
            .call = 1e-5,
            .batch = 3e-4,
            .walls = {},
            .slowness = 1};
}

}  // namespace hopscope::plan
