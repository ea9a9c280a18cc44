#pragma once

// Private to executor: copies whole tables to a GPU through pinned memory of its own.

#include <array>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "executor/device/device_context.h"
#include "executor/device/staging.h"

namespace hopscope::executor {

// Tables are copied in pieces, through pinned memory that takes up to four of them: while some are copied to the device,
// the next one is filled by several threads. Rows of mapped files are read from the file.
class TableUpload {
public:
    // `bytes`: of all tables together, which determine the size of the pieces: pinning a byte takes the system about
    // ten times as long as copying it.
    TableUpload(DeviceContext& device, std::stop_token stop, std::int64_t bytes);

    // Returns whether the memory is pinned. If it is not, copies are slower.
    [[nodiscard]] bool pinned() const;
    // Returns the table on the device; `host` must be contiguous, and is no longer needed afterwards. Operators may use
    // it after order(Upload, Compute). Raises Cancelled if a stop is requested.
    at::Tensor copy(const at::Tensor& host) { return copy(host, 0, static_cast<std::int64_t>(host.nbytes())); }
    // Copies only these of its bytes; the others have no value yet.
    at::Tensor copy(const at::Tensor& host, std::int64_t first, std::int64_t end);
    // Returns rows of the table, in this order.
    at::Tensor copyRows(const at::Tensor& table, const std::vector<std::int64_t>& rows);
    // Waits for all copies, and gives the pinned memory back to the system. No tables may be copied afterwards.
    void finish();

    // Returns the bytes of a piece: a power of two, as LibTorch pins memory, without the page for its alignment.
    static std::int64_t pieceBytes(std::int64_t bytes);

private:
    struct Place {
        StagingChunk memory;
        std::optional<c10::Event> copied;
    };
    struct Part {
        std::int64_t first = 0, end = 0, unit = 1;  // bytes
    };
    using Fill = std::function<void(std::int64_t first, std::int64_t count, std::byte* to)>;
    Place& next();
    at::Tensor filled(at::IntArrayRef shape, at::ScalarType dtype, const Part& part, const Fill& fill);

    DeviceContext& m_device;
    std::stop_token m_stop;
    std::array<Place, 4> m_places;
    std::size_t m_used = 0, m_turn = 0;
};

}  // namespace hopscope::executor
