#pragma once

// Private to executor: implements stores. A store holds all rows of a value, in a mapped file or in memory. It checks
// that every row is written exactly once, by this process or an earlier one; a violation raises Internal.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <ATen/ATen.h>

#include "executor/executor.h"
#include "executor/journal.h"
#include "executor/rows/block.h"
#include "graph/npy.h"
#include "graph/safetensors.h"

namespace hopscope::executor {

// The rows as they were written, and their rounding errors if the type of the store is narrower.
struct StoredRows {
    at::Tensor rows;
    std::optional<Rounding> lost;
};

// The digest of the rows that were written, and their rounding errors.
struct StoredPart {
    graph::Digest digest;
    std::optional<Rounding> lost;
};

// Returns the rounding errors of stored values as a tensor on their device, and as numbers, which waits for the device.
at::Tensor lossOf(const at::Tensor& values, const at::Tensor& stored);
Rounding roundingOf(const at::Tensor& loss);

// Returns the digest of all elements, in order.
graph::Digest digestOf(const at::Tensor& values);

class Store {
public:
    // Creates a store in a file. Values of a wider type than `dtype` are rounded when written. `name` names the file,
    // NAME.npy, or NAME.safetensors with one tensor NAME for dtypes that numpy lacks; `value` names the stored value in
    // messages ("conv1.lin output"). For `spare`, see graph::NewFile::reuse().
    Store(const std::string& folder, const std::string& name, std::string value, base::DType dtype,
          const std::vector<std::int64_t>& shape, int rowDim, const graph::Scratch& scratch,
          graph::Lasting lasting = graph::Lasting::No, std::optional<graph::NewFile> spare = std::nullopt);

    // Creates a store in existing memory, which has bytesAhead bytes followed by the values. It is neither published
    // nor taken over by another process.
    Store(std::shared_ptr<std::byte> memory, std::string value, base::DType dtype,
          const std::vector<std::int64_t>& shape, int rowDim, const graph::Scratch& scratch);
    // Rows in .npy files begin at the same offset: the rounding of products may depend on the alignment of their
    // operands.
    static constexpr std::int64_t bytesAhead = 128;

    [[nodiscard]] const at::Tensor& tensor() const { return m_tensor; }
    [[nodiscard]] int rowDim() const { return m_rowDim; }
    [[nodiscard]] std::int64_t rowBytes() const { return m_rowBytes; }
    [[nodiscard]] const base::TensorView& view() const { return m_view; }
    [[nodiscard]] const std::string& file() const { return m_file; }

    // Return whether values were rounded, and the rounding errors so far.
    [[nodiscard]] bool isNarrow() const { return m_narrow; }
    [[nodiscard]] const Rounding& rounding() const { return m_rounding; }

    // Write rows; thread-safe for different rows. write() writes values[i] to the row with the global number rows[i];
    // writeRange() writes to the rows from `first` on; writeAll() writes to all rows; writePicked() writes row rows[i]
    // of `table` to row i, for all rows i, on all cores.
    StoredRows write(const at::Tensor& rows, const at::Tensor& values);
    StoredRows writeRange(std::int64_t first, const at::Tensor& values);
    void writeAll(const at::Tensor& values);
    void writePicked(const at::Tensor& table, const std::int64_t* rows);
    // Raises Internal unless every row has been written.
    void checkComplete() const;
    // From now on, flushes rows to the disk as soon as they are written. This is for stores that will be published.
    void flushBehind();
    // Does the same, and removes flushed pages from the page cache. This is for stores that do not fit into memory.
    void letGoBehind();
    // Makes the pages of the file present, from the first row on, so that writeRange() can fill them with several
    // threads. Ends early if a stop is requested, or if the system cannot. Other threads may write rows meanwhile.
    void preparePages(const std::stop_token& stop);
    // From now on, writeRange() also passes its rows to `also`, on the thread that writes them. An empty `also` ends
    // this.
    using Also = std::function<void(std::int64_t first, std::int64_t count, const std::byte* rows)>;
    void tell(Also also) { m_also = std::move(also); }
    // Gives the file its final name.
    void publish();
    // Returns the file that is being written, which the caller may take once the store is no longer used; nullptr if
    // the store is in memory.
    graph::NewFile* newFile();

    // For lasting stores: continued() returns whether an earlier process has written rows; adopt() and adoptRange()
    // count such rows as written, and adoptLoss() adds their rounding errors; sync() flushes to the disk, on any
    // thread.
    [[nodiscard]] bool continued();
    void adopt(const at::Tensor& rows);
    void adoptRange(std::int64_t first, std::int64_t count);
    void adoptLoss(const Rounding& lost);
    [[nodiscard]] base::Status sync();
    // For shared stores: makes the rows visible that other processes have written.
    void refresh();

private:
    void begin(const std::vector<std::int64_t>& shape, const graph::Scratch& scratch);
    void openNpy(const std::string& path, base::DType dtype, const std::vector<std::int64_t>& shape,
                 graph::Lasting lasting, std::optional<graph::NewFile> spare);
    void openSafetensors(const std::string& path, const std::string& key, base::DType dtype,
                         const std::vector<std::int64_t>& shape, graph::Lasting lasting,
                         std::optional<graph::NewFile> spare);
    void check(bool holds, const char* fault) const;
    void mark(std::int64_t row);
    StoredRows rounded(const at::Tensor& values);
    void put(std::int64_t byteOffset, const void* bytes, std::size_t count);
    void fill(std::int64_t first, const at::Tensor& values);
    void putRows(std::int64_t first, const at::Tensor& values);
    void putScattered(const at::Tensor& rows, const at::Tensor& values);

    std::optional<graph::NpyWriter> m_npy;
    std::optional<graph::SafetensorsWriter> m_safetensors;
    std::string m_file, m_value, m_key;  // key: within a .safetensors file
    base::TensorView m_view;
    at::Tensor m_tensor;
    int m_rowDim = 0;
    std::int64_t m_rows = 0, m_rowBytes = 0;
    std::shared_ptr<std::byte> m_written;
    bool m_shared = false;
    std::atomic<std::int64_t> m_present = 0;  // bytes of the first rows whose pages are present
    Also m_also;
    std::mutex m_mutex;  // guards the members below
    Rounding m_rounding;
    bool m_narrow = false;
};

// Turns any name into a file name: everything except letters, digits, '.', '-' and '_' becomes %XX.
std::string encodeFileName(const std::string& name);

}  // namespace hopscope::executor
