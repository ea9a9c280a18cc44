#pragma once

// Divides the rows of a table between a device and pinned memory of the host, for kernels that read both.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/segment.h"

// A copy of each row is in one of the two; in the other one its bytes are 0xff, as are those of gaps.
struct DividedRows {
    std::vector<std::byte> device, host;
    std::vector<std::int32_t> places;  // a random order
    std::int32_t cached = 0;

    // `rows` rows of `rowBytes` bytes, `stride` bytes apart. None, some or all of them are on the device.
    DividedRows(const std::byte* table, std::int64_t rows, std::int64_t rowBytes, std::int64_t stride,
                std::uint64_t seed)
        : device(static_cast<std::size_t>(rows * stride), std::byte{0xff}),
          host(device),
          places(static_cast<std::size_t>(rows))
    {
        std::mt19937_64 random(seed);
        std::iota(places.begin(), places.end(), 0);
        std::shuffle(places.begin(), places.end(), random);
        const std::int64_t some = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows + 1));
        cached = static_cast<std::int32_t>(seed % 5 == 0 ? 0 : seed % 5 == 1 ? rows : some);
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::int32_t place = places[static_cast<std::size_t>(row)];
            std::byte* const to = place < cached ? device.data() + place * stride : host.data() + row * stride;
            std::memcpy(to, table + row * stride, static_cast<std::size_t>(rowBytes));
        }
    }

    [[nodiscard]] hopscope::kernels::HostRows arguments() const { return {places.data(), host.data(), cached}; }
};
