#include "executor/loop/pieces.h"

#include <algorithm>
#include <utility>

#include "executor/failure.h"

namespace hopscope::executor {

namespace {

at::Tensor bytesOf(const at::Tensor& t) { return t.view({-1}).view(at::kByte); }

std::int64_t partBytes(const at::Tensor& t) { return static_cast<std::int64_t>(t.nbytes()) / t.size(0); }

}  // namespace

// ---- what both share

void Pieces::begin()
{
    const std::lock_guard lock(m_mutex);
    m_pieces.clear();
    m_made = m_passed = 0;
    m_left = false;
    m_busy = true;
    m_failure = nullptr;
}

// A part that exceeds the room for a piece gets pageable memory.
void Pieces::cut(std::size_t tensor, std::int64_t parts, std::int64_t partBytes)
{
    const auto count = static_cast<std::int64_t>(places);
    const std::int64_t room = m_memory.part(0, count).numel();
    const std::int64_t each = std::max<std::int64_t>(room / std::max<std::int64_t>(partBytes, 1), 1);
    for (std::int64_t first = 0; first < parts; first += each) {
        const std::int64_t end = std::min(first + each, parts), bytes = (end - first) * partBytes;
        const auto place = static_cast<std::int64_t>(m_pieces.size() % places);
        const at::Tensor host = bytes > room ? at::Tensor() : m_memory.part(place, count).narrow(0, 0, bytes);
        m_pieces.push_back({.tensor = tensor, .first = first, .end = end, .host = host});
    }
}

void Pieces::leave()
{
    const std::lock_guard lock(m_mutex);
    m_left = true;
    m_changed.notify_all();
}

void Pieces::awaitLeft()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return !m_busy; });
}

template <class Work>
void Pieces::besides(Work&& work)
{
    std::exception_ptr failure;
    try {
        work();
    } catch (...) {
        failure = std::current_exception();
    }
    {
        const std::lock_guard lock(m_mutex);
        m_failure = failure;
        m_busy = false;
        m_changed.notify_all();
    }
    if (failure) std::rethrow_exception(failure);
}

template <class Condition>
bool Pieces::await(const Condition& condition)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_left || condition(); });
    return !m_left;
}

template <class Condition>
void Pieces::await(const std::stop_token& stop, const Condition& condition)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, stop, [&] { return m_failure || m_left || condition(); });
    if (m_failure) std::rethrow_exception(m_failure);
    if (m_left || stop.stop_requested()) raise(base::ErrorCode::Cancelled, "cancelled");
}

void Pieces::advance(std::size_t& count)
{
    const std::lock_guard lock(m_mutex);
    ++count;
    m_changed.notify_all();
}

std::size_t Pieces::now(const std::size_t& count)
{
    const std::lock_guard lock(m_mutex);
    return count;
}

// ---- to the device

void UploadPieces::begin(std::vector<HostRows> rows)
{
    Pieces::begin();
    m_rows = std::move(rows);
    for (std::size_t t = 0; t < m_rows.size(); ++t) cut(t, m_rows[t].count, m_rows[t].partBytes());
}

void UploadPieces::fill(const Write& write)
{
    besides([&] {
        for (std::size_t p = 0; p < m_pieces.size(); ++p) {
            if (!await([&] { return p < m_passed + places; })) return;
            Piece& piece = m_pieces[p];
            const HostRows& rows = m_rows[piece.tensor];
            if (!piece.host.defined())
                piece.host = at::empty({(piece.end - piece.first) * rows.partBytes()}, at::kByte);
            write(rows, piece.first, piece.end, static_cast<std::byte*>(piece.host.mutable_data_ptr()));
            advance(m_made);
        }
    });
}

std::vector<at::Tensor> UploadPieces::copy(DeviceContext& device, const std::stop_token& stop, std::vector<Span>& spans,
                                           const std::function<void()>& meanwhile)
{
    std::vector<at::Tensor> there;
    for (const HostRows& rows : m_rows) there.push_back(device.allocate(rows.shape, rows.dtype));
    const std::size_t first = spans.size();
    std::size_t passed = 0;
    for (std::size_t p = 0; p < m_pieces.size();) {
        if (now(m_made) > p) {
            queue(device, m_pieces[p++], there, spans.emplace_back());
            continue;
        }
        meanwhile();
        if (passed < p) {
            spans[first + passed++].end->synchronize();
            advance(m_passed);
        } else {
            await(stop, [&] { return m_made > p; });
        }
    }
    m_rows.clear();
    return there;
}

void UploadPieces::queue(DeviceContext& device, const Piece& piece, const std::vector<at::Tensor>& there, Span& span)
{
    const std::int64_t first = piece.first * m_rows[piece.tensor].partBytes();
    span.begin = device.mark(Lane::Upload);
    device.uploadInto(bytesOf(there[piece.tensor]).narrow(0, first, piece.host.numel()), piece.host);
    span.end = device.mark(Lane::Upload);
}

// ---- from the device

void DownloadPieces::begin(std::vector<at::Tensor> results)
{
    Pieces::begin();
    m_results = std::move(results);
    m_kinds.clear();
    m_queued = m_arrived = 0;
    for (std::size_t t = 0; t < m_results.size(); ++t) {
        m_kinds.push_back(at::empty(m_results[t].sizes(), m_results[t].options().device(at::kMeta)));
        cut(t, m_results[t].size(0), partBytes(m_results[t]));
    }
}

void DownloadPieces::queue(DeviceContext& device, Span& span)
{
    Piece& piece = m_pieces[m_queued];
    const at::Tensor& result = m_results[piece.tensor];
    const std::int64_t each = partBytes(result), bytes = (piece.end - piece.first) * each;
    if (!piece.host.defined()) piece.host = at::empty({bytes}, at::kByte);
    span.begin = device.mark(Lane::Download);
    device.download(bytesOf(result).narrow(0, piece.first * each, bytes), piece.host);
    span.end = device.mark(Lane::Download);
    if (++m_queued == m_pieces.size()) m_results.clear();
}

bool DownloadPieces::step(DeviceContext& device, const std::stop_token& stop, std::vector<Span>& spans, bool wait)
{
    const std::size_t passed = now(m_passed);
    if (m_queued < m_pieces.size() && m_queued < passed + places) {
        if (m_queued == 0) m_firstSpan = spans.size();
        queue(device, spans.emplace_back());
        return true;
    }
    if (m_arrived < m_queued) {
        const c10::Event& end = *spans[m_firstSpan + m_arrived].end;
        if (!wait && !end.query()) return false;
        end.synchronize();
        ++m_arrived;
        advance(m_made);
        return true;
    }
    if (wait) await(stop, [&] { return m_passed > passed; });
    return wait;
}

bool DownloadPieces::drain(const Store& store)
{
    std::size_t stored = 0;
    besides([&] {
        for (; stored < m_pieces.size(); ++stored) {
            if (!await([&] { return m_made > stored; })) return;
            const Piece& piece = m_pieces[stored];
            std::vector<std::int64_t> shape = m_kinds[piece.tensor].sizes().vec();
            shape[0] = piece.end - piece.first;
            store(piece.tensor, piece.first, piece.host.view(m_kinds[piece.tensor].scalar_type()).view(shape));
            advance(m_passed);
        }
    });
    return stored == m_pieces.size();
}

}  // namespace hopscope::executor
