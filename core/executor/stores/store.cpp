#include "executor/stores/store.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/rows/pick_rows.h"
#include "graph/file.h"
#include "loader/tensors.h"

namespace hopscope::executor {

std::string encodeFileName(const std::string& name)
{
    static const char* digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : name) {
        const auto u = static_cast<unsigned char>(c);
        if (std::isalnum(u) || c == '.' || c == '-' || c == '_') encoded += c;
        else encoded += {'%', digits[u >> 4], digits[u & 15]};
    }
    return encoded;
}

namespace {

constexpr std::int64_t leastPut = 1 << 14;  // bytes that are worth a system call
constexpr std::int64_t pickedBytes = 1 << 18;
constexpr std::int64_t preparedAtOnce = 8 << 20;  // bytes, a few milliseconds

}  // namespace

Store::Store(const std::string& folder, const std::string& name, std::string value, base::DType dtype,
             const std::vector<std::int64_t>& shape, int rowDim, const graph::Scratch& scratch, graph::Lasting lasting,
             std::optional<graph::NewFile> spare)
    : m_value(std::move(value)),
      m_rowDim(rowDim),
      m_shared(lasting == graph::Lasting::Shared)
{
    const bool numpy = dtype != base::DType::BFloat16;
    m_file = folder + "/" + encodeFileName(name) + (numpy ? ".npy" : ".safetensors");
    if (numpy) openNpy(m_file, dtype, shape, lasting, std::move(spare));
    else openSafetensors(m_file, name, dtype, shape, lasting, std::move(spare));
    begin(shape, scratch);
}

Store::Store(std::shared_ptr<std::byte> memory, std::string value, base::DType dtype,
             const std::vector<std::int64_t>& shape, int rowDim, const graph::Scratch& scratch)
    : m_value(std::move(value)),
      m_rowDim(rowDim)
{
    std::byte* const data = memory.get() + bytesAhead;
    m_view = {.dtype = dtype,
              .shape = shape,
              .strides = base::contiguousStrides(shape),
              .data = data,
              .owner = std::move(memory),
              .origin = m_value};
    m_tensor = at::from_blob(data, shape, at::TensorOptions().dtype(loader::scalarType(dtype)));
    begin(shape, scratch);
}

void Store::begin(const std::vector<std::int64_t>& shape, const graph::Scratch& scratch)
{
    m_rows = shape.empty() ? 1 : shape[static_cast<std::size_t>(m_rowDim)];
    m_rowBytes = m_rows ? m_view.bytes() / m_rows : 0;
    m_written = unwrap(scratch.allocate(std::max<std::int64_t>(m_rows, 1)));
}

void Store::openNpy(const std::string& path, base::DType dtype, const std::vector<std::int64_t>& shape,
                    graph::Lasting lasting, std::optional<graph::NewFile> spare)
{
    m_npy.emplace(unwrap(graph::NpyWriter::create(path, dtype, shape, lasting, std::move(spare))));
    m_view = m_npy->view();
    m_tensor = at::from_blob(m_npy->data(), shape, at::TensorOptions().dtype(loader::scalarType(dtype)));
}

void Store::openSafetensors(const std::string& path, const std::string& key, base::DType dtype,
                            const std::vector<std::int64_t>& shape, graph::Lasting lasting,
                            std::optional<graph::NewFile> spare)
{
    m_key = key;
    m_safetensors.emplace(unwrap(graph::SafetensorsWriter::create(path, {{.name = key, .dtype = dtype, .shape = shape}},
                                                                  lasting, std::move(spare))));
    m_view = m_safetensors->view(key);
    m_tensor = at::from_blob(m_safetensors->data(key), shape, at::TensorOptions().dtype(loader::scalarType(dtype)));
}

void Store::check(bool holds, const char* fault) const
{
    if (!holds) raise(base::ErrorCode::Internal, m_value + ": " + fault, {}, m_file);
}

void Store::mark(std::int64_t row)
{
    check(row >= 0 && row < m_rows, "a row outside its table is written");
    std::byte& written = m_written.get()[row];
    check(written == std::byte{0}, "a row is written twice");
    written = std::byte{1};
}

graph::Digest digestOf(const at::Tensor& values)
{
    const at::Tensor whole = values.contiguous();
    return graph::digestOf(whole.const_data_ptr(), whole.nbytes());
}

StoredRows Store::write(const at::Tensor& rows, const at::Tensor& values)
{
    check(values.size(m_rowDim) == rows.numel(), "the rows of a result are not those of its class");
    const std::int64_t* numbers = rows.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < rows.numel(); ++i) mark(numbers[i]);
    StoredRows stored = rounded(values);
    if (m_shared) putScattered(rows, stored.rows);
    else if (rows.numel()) m_tensor.index_copy_(m_rowDim, rows, stored.rows);
    return stored;
}

StoredRows Store::writeRange(std::int64_t first, const at::Tensor& wide)
{
    StoredRows stored = rounded(wide);
    const at::Tensor& values = stored.rows;
    const std::int64_t n = values.size(m_rowDim);
    for (std::int64_t i = 0; i < n; ++i) mark(first + i);
    if (n == 0) return stored;
    if (m_also) m_also(first, n, static_cast<const std::byte*>(values.contiguous().const_data_ptr()));
    if (m_shared) {
        putRows(first, values);
        return stored;
    }
    if ((first + n) * m_rowBytes <= m_present) {
        fill(first, values);
        return stored;
    }
    if (!newFile() || m_rowDim != 0 || !values.is_contiguous() || n * m_rowBytes < leastPut)
        m_tensor.narrow(m_rowDim, first, n).copy_(values);
    else put(first * m_rowBytes, values.const_data_ptr(), static_cast<std::size_t>(n * m_rowBytes));
    return stored;
}

// Several threads copy into pages that are present; write() works on one core at a time.
void Store::fill(std::int64_t first, const at::Tensor& values)
{
    m_tensor.narrow(0, first, values.size(0)).copy_(values);
    newFile()->wrote(values.nbytes());
}

at::Tensor lossOf(const at::Tensor& values, const at::Tensor& stored)
{
    if (values.numel() == 0) return at::zeros({3}, values.options().dtype(at::kDouble));
    const at::Tensor sizes = values.abs(), finite = sizes.isfinite(), kept = stored.isfinite();
    const at::Tensor difference = (stored.to(values.scalar_type()) - values).abs().masked_fill(~kept, 0.0);
    return at::stack({difference.max().to(at::kDouble), sizes.masked_fill(~finite, 0.0).max().to(at::kDouble),
                      finite.logical_and(~kept).sum().to(at::kDouble)});
}

Rounding roundingOf(const at::Tensor& loss)
{
    const at::Tensor host = loss.cpu();
    const auto* const numbers = host.const_data_ptr<double>();
    return {.maxAbsolute = numbers[0], .largest = numbers[1], .infinite = static_cast<std::int64_t>(numbers[2])};
}

StoredRows Store::rounded(const at::Tensor& values)
{
    if (values.scalar_type() == m_tensor.scalar_type()) return {values, {}};
    at::Tensor stored = values.to(m_tensor.scalar_type());
    const Rounding lost = roundingOf(lossOf(values, stored));
    adoptLoss(lost);
    return {std::move(stored), lost};
}

void Store::adoptLoss(const Rounding& lost)
{
    const std::lock_guard lock(m_mutex);
    m_narrow = true;
    m_rounding.add(lost);
}

void Store::adopt(const at::Tensor& rows)
{
    const std::int64_t* numbers = rows.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < rows.numel(); ++i) mark(numbers[i]);
}

void Store::adoptRange(std::int64_t first, std::int64_t count)
{
    for (std::int64_t i = 0; i < count; ++i) mark(first + i);
}

graph::NewFile* Store::newFile()
{
    if (m_npy) return &m_npy->file();
    return m_safetensors ? &m_safetensors->file() : nullptr;
}

bool Store::continued() { return newFile() && newFile()->continued(); }

base::Status Store::sync() { return newFile() ? newFile()->sync() : base::Status(); }

void Store::put(std::int64_t byteOffset, const void* bytes, std::size_t count)
{
    unwrap(m_npy ? m_npy->put(byteOffset, bytes, count) : m_safetensors->put(m_key, byteOffset, bytes, count));
}

// Other processes write rows of the same pages: on network file systems, a page that is written through a mapping goes back
// as a whole.
void Store::putRows(std::int64_t first, const at::Tensor& values)
{
    const at::Tensor whole = values.contiguous();
    const auto* const bytes = static_cast<const std::byte*>(whole.const_data_ptr());
    std::int64_t outer = 1;
    for (int d = 0; d < m_rowDim; ++d) outer *= whole.size(d);
    const std::int64_t part = whole.numel() ? static_cast<std::int64_t>(whole.nbytes()) / outer : 0;
    const std::int64_t rowPart = m_rowBytes / std::max<std::int64_t>(outer, 1);
    for (std::int64_t o = 0; o < outer && part > 0; ++o)
        put((o * m_rows + first) * rowPart, bytes + o * part, static_cast<std::size_t>(part));
}

// Writes consecutive rows at once.
void Store::putScattered(const at::Tensor& rows, const at::Tensor& values)
{
    const std::int64_t* const numbers = rows.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0, end = 0; i < rows.numel(); i = end) {
        for (end = i + 1; end < rows.numel() && numbers[end] == numbers[end - 1] + 1;) ++end;
        putRows(numbers[i], values.narrow(m_rowDim, i, end - i));
    }
}

void Store::refresh()
{
    if (const graph::NewFile* const file = newFile()) file->refresh();
}

void Store::writeAll(const at::Tensor& values)
{
    std::memset(m_written.get(), 1, static_cast<std::size_t>(m_rows));
    m_tensor.copy_(values);
}

// Writes parts that fit into the caches of a core, one after the other, so that the disk is busy from the start.
void Store::writePicked(const at::Tensor& table, const std::int64_t* rows)
{
    const std::int64_t each = std::max<std::int64_t>(pickedBytes / std::max<std::int64_t>(m_rowBytes, 1), 1);
    std::atomic<std::int64_t> next = 0;
    at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t, std::int64_t) {
        const c10::InferenceMode inference;
        for (std::int64_t first; (first = next.fetch_add(each)) < m_rows;) {
            const std::int64_t count = std::min(each, m_rows - first);
            auto* const from = const_cast<std::int64_t*>(rows + first);
            writeRange(first, pickRows(table, m_rowDim, at::from_blob(from, {count}, at::kLong), pageable));
        }
    });
}

void Store::checkComplete() const
{
    const std::byte* end = m_written.get() + m_rows;
    const auto missing = std::find(static_cast<const std::byte*>(m_written.get()), end, std::byte{0}) - m_written.get();
    check(missing == m_rows, "a row was never written");
}

void Store::flushBehind()
{
    if (graph::NewFile* const file = newFile()) file->flushBehind();
}

void Store::letGoBehind()
{
    if (graph::NewFile* const file = newFile()) file->letGoBehind();
}

void Store::preparePages(const std::stop_token& stop)
{
    if (!newFile() || m_rowDim != 0) return;
    auto* const bytes = static_cast<std::byte*>(m_tensor.mutable_data_ptr());
    for (std::int64_t at = 0, count = 0; at < m_view.bytes() && !stop.stop_requested(); at += count) {
        count = std::min(preparedAtOnce, m_view.bytes() - at);
        if (!graph::makePresent(bytes + at, count)) return;
        m_present = at + count;
    }
}

void Store::publish() { unwrap(m_npy ? m_npy->publish() : m_safetensors->publish()); }

}  // namespace hopscope::executor
