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

// Maps a .npy file (format 1 to 3, in C or Fortran order). Big-endian files are converted. Takes constant time except
// for conversions, for unaligned elements, which are copied, and for bools, whose bytes must be 0 or 1. Never
// unpickles. Fails as mapFile() does. Fails with Input for unsupported dtypes, for malformed headers, and for files of
// a size that differs from that in the header; the error names file, offset and, if there is one, field.
base::Result<base::TensorView> mapNpy(const std::string& path);

// Writes a .npy file. It is created at its full size under a temporary name; its blocks are reserved as by NewFile, so
// that a full disk is an error now and not a SIGBUS later. publish() renames the file; the destructor removes an
// unpublished one, except for a lasting one. Refuses dtypes that numpy lacks (bfloat16); use SafetensorsWriter for
// these.
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
    // Writes elements at `byteOffset` without touching mapped pages, which saves zeroing them. Thread-safe.
    [[nodiscard]] base::Status put(std::int64_t byteOffset, const void* bytes, std::size_t count) const;
    base::Status publish();  // msync, fsync, rename; fails with Resources
    [[nodiscard]] NewFile& file();

private:
    struct State;
    explicit NpyWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

}  // namespace hopscope::graph
