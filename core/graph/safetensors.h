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

// Maps every tensor of a .safetensors file. Tensors at unaligned offsets are copied. Their `origin` is "file:key".
// Fails as mapFile() does. Fails with Input for a malformed header or one above 100 MB, a dtype that is not supported
// and a repeated key. It also does so for overlaps, gaps, sizes that do not match the file, and a bool other than 0 and
// 1. The error names the file and, if there is one, the key or offset.
base::Result<base::TensorMap> mapSafetensors(const std::string& path);

struct TensorSpec {
    std::string name;
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
};

// Writes a .safetensors file in place, as NpyWriter does: it has reserved blocks and a temporary name until publish().
// Tensors are in descending order of their element size, then by name, so that all are aligned. create() fails with
// Usage for complex128, which the format lacks, and for a repeated or reserved name.
class SafetensorsWriter {
public:
    // `lasting`, `spare`: as for NpyWriter.
    static base::Result<SafetensorsWriter> create(const std::string& path, const std::vector<TensorSpec>& tensors,
                                                  Lasting lasting = Lasting::No,
                                                  std::optional<NewFile> spare = std::nullopt);
    SafetensorsWriter(SafetensorsWriter&&) noexcept;
    SafetensorsWriter& operator=(SafetensorsWriter&&) noexcept;
    ~SafetensorsWriter();

    // `name` must be that of a TensorSpec.
    [[nodiscard]] std::byte* data(const std::string& name);
    [[nodiscard]] base::TensorView view(const std::string& name) const;
    // Writes a part of a tensor without touching mapped pages, so that resident memory does not grow. Thread-safe.
    [[nodiscard]] base::Status put(const std::string& name, std::int64_t byteOffset, const void* bytes,
                                   std::size_t count) const;
    base::Status publish(Flush flush = Flush::Yes);
    [[nodiscard]] NewFile& file();

private:
    struct State;
    explicit SafetensorsWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

// Copies `tensors` (strided views allowed) to a new file.
base::Status writeSafetensors(const std::string& path, const base::TensorMap& tensors, Flush flush = Flush::Yes);

}  // namespace hopscope::graph
