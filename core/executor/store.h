#pragma once

// Private to executor: one value for all rows, in a mapped file. Every row is written exactly once; that is counted.

#include <memory>
#include <optional>
#include <string>

#include <ATen/ATen.h>

#include "executor/block.h"
#include "executor/executor.h"
#include "graph/npy.h"
#include "graph/safetensors.h"

namespace hopscope::executor {

class Store {
public:
    // `file` is a name without extension: .npy is added, or .safetensors (with one tensor `key`) for dtypes numpy lacks.
    Store(const std::string& folder, const std::string& file, const std::string& key, base::DType dtype,
          const std::vector<std::int64_t>& shape, int rowDim, const graph::Scratch& scratch);

    [[nodiscard]] const at::Tensor& tensor() const { return m_tensor; }
    [[nodiscard]] int rowDim() const { return m_rowDim; }
    [[nodiscard]] std::int64_t rowBytes() const { return m_rowBytes; }
    [[nodiscard]] const base::TensorView& view() const { return m_view; }
    [[nodiscard]] const std::string& file() const { return m_file; }

    // Rows in the order of `rows`, which are global row numbers.
    void write(const at::Tensor& rows, const at::Tensor& values);
    void writeRange(std::int64_t first, const at::Tensor& values);
    void writeAll(const at::Tensor& values);
    void checkComplete(const std::string& what) const;
    void publish();

private:
    void openNpy(const std::string& path, base::DType dtype, const std::vector<std::int64_t>& shape);
    void openSafetensors(const std::string& path, const std::string& key, base::DType dtype,
                         const std::vector<std::int64_t>& shape);
    void mark(std::int64_t row);

    std::optional<graph::NpyWriter> m_npy;
    std::optional<graph::SafetensorsWriter> m_safetensors;
    std::string m_file;
    base::TensorView m_view;
    at::Tensor m_tensor;
    int m_rowDim = 0;
    std::int64_t m_rows = 0, m_rowBytes = 0;
    std::shared_ptr<std::byte> m_written;
};

// KEY of a file name: everything but letters, digits, '.', '-' and '_' becomes %XX.
std::string encodeFileName(const std::string& name);

}  // namespace hopscope::executor
