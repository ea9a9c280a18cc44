#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "graph/file.h"

namespace hopscope::graph {

// Maps a .npy file (format 1 to 3, C or Fortran order; little-endian mapped, big-endian converted). Constant time
// except for conversions and bools, whose bytes must be 0 or 1. Never unpickles. Fails with Input, naming file, field
// and offset: object dtypes, structured dtypes, short files, contradictory headers.
base::Result<base::TensorView> mapNpy(const std::string& path);

// A .npy file being filled: created at its full size (blocks reserved, so that a full disk is an error now and not a
// SIGBUS later) under a temporary name and renamed by publish(). Unpublished files are removed by the destructor.
// dtypes that numpy lacks (bfloat16) are refused: use SafetensorsWriter.
class NpyWriter {
public:
    // `lasting`, `spare`: see NewFile; the elements are those of the earlier process if file().continued().
    static base::Result<NpyWriter> create(const std::string& path, base::DType dtype, std::vector<std::int64_t> shape,
                                          Lasting lasting = Lasting::No, std::optional<NewFile> spare = std::nullopt);
    NpyWriter(NpyWriter&&) noexcept;
    NpyWriter& operator=(NpyWriter&&) noexcept;
    ~NpyWriter();

    [[nodiscard]] std::byte* data();                     // the mapped elements, row-major
    [[nodiscard]] const base::TensorView& view() const;  // the same, read-only; outlives the writer
    // Writes elements from `byteOffset` on without touching mapped pages, which saves zeroing them. Thread-safe.
    [[nodiscard]] base::Status put(std::int64_t byteOffset, const void* bytes, std::size_t count) const;
    base::Status publish();  // msync, fsync, rename; Resources on failure
    [[nodiscard]] NewFile& file();

private:
    struct State;
    explicit NpyWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

}  // namespace hopscope::graph
