#pragma once

// The walls of a machine: its speed at the few operations that stages spend their time on, by shape, with all cores and
// with one. On a CPU, the time of a stage is predicted from them. The bound in a report is the least time that they
// allow.

#include <cstdint>
#include <vector>

#include "base/names.h"
#include "base/tensor.h"

namespace hopscope::plan {

enum class WallKind : std::uint8_t {
    Stream,     // operators on rows: bytes read and written, on tensors of `bytes`
    Fresh,      // the same, with results in fresh memory
    Rows,       // random rows of `width` bytes copied from a table of `bytes`
    Segments,   // the same rows aggregated by the engine's own kernel: bytes of messages
    Gemm,       // products of rows with a matrix of `width` x `outputs`: floating-point operations
    Pages,      // fresh memory cleared by the system and written
    Stores,     // a file written while the system keeps it in memory
    DiskWrite,  // a file written to the disk that holds stores
    DiskRead,   // the same file read back
    Up,         // copies of pinned memory to a GPU
    Down,       // copies from a GPU to pinned memory
};

constexpr auto namesOf(WallKind)
{
    return std::to_array<base::Named<WallKind>>({{WallKind::Stream, "stream"},
                                                 {WallKind::Rows, "rows"},
                                                 {WallKind::Segments, "segments"},
                                                 {WallKind::Gemm, "gemm"},
                                                 {WallKind::Fresh, "fresh"},
                                                 {WallKind::Pages, "pages"},
                                                 {WallKind::Stores, "stores"},
                                                 {WallKind::DiskWrite, "disk_write"},
                                                 {WallKind::DiskRead, "disk_read"},
                                                 {WallKind::Up, "up"},
                                                 {WallKind::Down, "down"}});
}

struct WallRate {
    WallKind kind = WallKind::Stream;
    double all = 0, one = 0;   // per second: bytes, or operations of a product; with all cores and with one
    std::int64_t bytes = 0;    // of the tensor or table; 0: of any
    std::int64_t width = 0;    // bytes of a row; products: columns of the rows
    std::int64_t outputs = 0;  // products: columns of the result
    base::DType dtype = base::DType::Float32;  // of a product
    bool operator==(const WallRate&) const = default;
};

using Walls = std::vector<WallRate>;

// The wall that bounds a stage, as its report names it.
enum class Wall : std::uint8_t { Gemm, Rows, Stream, Link, Disk };

constexpr auto namesOf(Wall)
{
    return std::to_array<base::Named<Wall>>({{Wall::Gemm, "gemm"},
                                             {Wall::Rows, "rows"},
                                             {Wall::Stream, "stream"},
                                             {Wall::Link, "link"},
                                             {Wall::Disk, "disk"}});
}

// Returns a readable name, as in "1.4 x the bound (random rows)".
constexpr const char* inWords(Wall wall)
{
    switch (wall) {
    case Wall::Gemm: return "matrix products";
    case Wall::Rows: return "random rows";
    case Wall::Stream: return "memory bandwidth";
    case Wall::Link: return "copies to and from the GPU";
    case Wall::Disk: return "the disk";
    }
    return "";
}

}  // namespace hopscope::plan
