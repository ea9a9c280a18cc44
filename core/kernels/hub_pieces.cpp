#include <algorithm>
#include <iterator>

#include "kernels/segment.h"

namespace hopscope::kernels {

std::vector<HubPiece> hubPieces(Index offsets, std::int64_t destinations)
{
    std::vector<HubPiece> pieces;
    for (std::int64_t d = 0; d < destinations; ++d) {
        const std::int64_t end = offsets[d + 1];
        if (end - offsets[d] <= kPiece) continue;
        for (std::int64_t begin = offsets[d]; begin < end; begin += kPiece)
            pieces.push_back({.destination = d, .begin = begin, .end = std::min(begin + kPiece, end)});
    }
    return pieces;
}

bool kernelsCannotRun(int code)
{
    // In the order of driver_types.h: a driver older than the runtime, no machine code and no PTX that fits, PTX that is
    // not valid, no compiler for PTX, PTX newer than the driver, that compiler switched off, a driver whose parts differ,
    // a compatibility package that does not support the device.
    constexpr int codes[] = {kNoCuda, 35, kNoImage, 218, 221, 222, 223, 803, 804};
    return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

}  // namespace hopscope::kernels
