#pragma once

// Private to executor: a store, that is, all rows of a value in a mapped file or in scratch memory. Checks that every row is written exactly
// once: a violation raises Internal.

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <ATen/ATen.h>

#include "executor/block.h"
#include "executor/executor.h"
#include "graph/npy.h"
#include "graph/safetensors.h"

namespace hopscope::executor {

// What a narrower type has changed in values that were finite.
struct Rounding {
    double maxAbsolute = 0;     // of those that stay finite
    double largest = 0;         // absolute value
    std::int64_t infinite = 0;  // number of those that do not
};

class Store {
public:
    // What is written may have a wider type than `dtype`, and is rounded then. `name` names the file, NAME.npy, or NAME.safetensors with one tensor NAME for dtypes that numpy lacks; `value`
    // names what is stored in messages ("conv1.lin output").
    Store(const std::string& folder, const std::string& name, std::string value, base::DType dtype,
          const std::vector<std::int64_t>& shape, int rowDim, const graph::Scratch& scratch);
    // In scratch memory instead of a file of its own, for rows that are written in another order than they lie in: a file
    // would bring in its pages one by one. Cannot be published.
    Store(const std::string& folder, std::string value, base::DType dtype, const std::vector<std::int64_t>& shape,
          int rowDim, const graph::Scratch& scratch);

    [[nodiscard]] const at::Tensor& tensor() const { return m_tensor; }
    [[nodiscard]] int rowDim() const { return m_rowDim; }
    [[nodiscard]] std::int64_t rowBytes() const { return m_rowBytes; }
    [[nodiscard]] const base::TensorView& view() const { return m_view; }
    [[nodiscard]] const std::string& file() const { return m_file; }

    // Whether something was rounded, and how much that has changed so far.
    [[nodiscard]] bool isNarrow() const { return m_narrow; }
    [[nodiscard]] const Rounding& rounding() const { return m_rounding; }

    // Thread-safe for different rows. Writes values[i] to the row with the global number rows[i]; to rows from `first` on; to all rows.
    void write(const at::Tensor& rows, const at::Tensor& values);
    void writeRange(std::int64_t first, const at::Tensor& values);
    void writeAll(const at::Tensor& values);
    // Fails unless every row has been written.
    void checkComplete() const;
    // Gives the file its final name.
    void publish();

private:
    void openScratch(const std::string& folder, base::DType dtype, const std::vector<std::int64_t>& shape);
    void begin(const std::vector<std::int64_t>& shape, const graph::Scratch& scratch);
    void openNpy(const std::string& path, base::DType dtype, const std::vector<std::int64_t>& shape);
    void openSafetensors(const std::string& path, const std::string& key, base::DType dtype,
                         const std::vector<std::int64_t>& shape);
    void check(bool holds, const char* fault) const;
    void mark(std::int64_t row);
    at::Tensor rounded(const at::Tensor& values);
    void put(std::int64_t byteOffset, const void* bytes, std::size_t count);

    std::optional<graph::NpyWriter> m_npy;
    std::optional<graph::SafetensorsWriter> m_safetensors;
    std::string m_file, m_value, m_key;  // key: within a .safetensors file
    base::TensorView m_view;
    at::Tensor m_tensor;
    int m_rowDim = 0;
    std::int64_t m_rows = 0, m_rowBytes = 0;
    std::shared_ptr<std::byte> m_written;
    std::mutex m_mutex;  // guards what follows
    Rounding m_rounding;
    bool m_narrow = false;
};

// Makes a file name of any name: everything except letters, digits, '.', '-' and '_' becomes %XX.
std::string encodeFileName(const std::string& name);

}  // namespace hopscope::executor
