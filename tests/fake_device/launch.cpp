#include "fake_device/launch.h"

#include <algorithm>
#include <cstring>

#include "fake_device/guard.h"
#include "fake_device/memory.h"

namespace hopscope::fake_device {

namespace {

constexpr int illegalAccess = 700;  // this and greater codes end the context

std::int64_t bytesOf(kernels::Element element) { return element == kernels::Element::Float32 ? 4 : 2; }

// A launch as the device sees it: pointers and a stream, nothing else.
class Launch {
public:
    Launch(const kernels::SegmentArguments& arguments, void* stream)
        : m_arguments(arguments),
          m_lane(stream ? static_cast<int>(reinterpret_cast<std::intptr_t>(stream)) : laneOf(currentDevice(), 0))
    {}

    int run()
    {
        const std::string complaint = wrongDevice();
        if (!complaint.empty()) return die(complaint);
        m_mark = clocks().launch(m_lane);
        useStructure();
        useRows();
        usePieces();
        kernels::segmentCpu(m_arguments, 0, m_arguments.destinations);
        ++state().counts.operators;
        ++state().counts.segments;
        clocks().charge(m_lane, Engine::Compute, m_bytes);
        return 0;
    }

private:
    [[nodiscard]] std::string wrongDevice() const
    {
        const int device = currentDevice();
        if (deviceOf(m_lane) != device)
            return laneName(m_lane) + " used while cuda:" + std::to_string(device) + " is current";
        const auto& a = m_arguments;
        for (const void* p : {a.offsets.data, a.columns.data, a.weight, a.source, static_cast<const void*>(a.out),
                              static_cast<const void*>(a.pieces), static_cast<const void*>(a.partial)})
            if (p && !memoryOf(device).find(p)) return "memory that is not of cuda:" + std::to_string(device);
        return {};
    }

    static int die(const std::string& complaint)
    {
        state().findings.push_back("an illegal memory access was encountered: kernel with " + complaint);
        return state().deadCode = illegalAccess;
    }

    void useStructure()
    {
        auto& a = m_arguments;
        useIndex(a.offsets, a.destinations + 1);
        m_first = a.offsets[0];
        m_last = a.offsets[a.destinations];
        if (m_first < 0 || m_last < m_first) refuse("an illegal memory access was encountered: offsets without sense");
        if (a.columns.data) useIndex(a.columns, m_last - a.columnFirst);
    }

    void useRows()
    {
        auto& a = m_arguments;
        const std::int64_t element = bytesOf(a.element), rows = sourceRows();
        const std::int64_t beyond = rows == 0 ? 0 : (rows - 1) * a.sourceStride + a.width;
        if (a.weight) a.weight = use(a.weight, (m_last - a.weightFirst) * a.heads * element, false);
        if (a.source) a.source = use(a.source, beyond * element, false);
        a.out = use(a.out, a.destinations * a.width * element, true);
        m_bytes += (m_last - m_first) * a.width * element;
    }

    // The CPU's kernel needs no pieces; the GPU's computes nonsense from others than these.
    void usePieces()
    {
        const auto& a = m_arguments;
        if (!a.pieces) return;
        std::vector<kernels::HubPiece> right = kernels::hubPieces(a.offsets, a.destinations);
        for (kernels::HubPiece& piece : right) piece.destination += a.pieceFirst;
        const auto bytes = static_cast<std::int64_t>(right.size() * sizeof(kernels::HubPiece));
        if (a.pieceCount != static_cast<std::int64_t>(right.size()) ||
            std::memcmp(use(a.pieces, bytes, false), right.data(), static_cast<std::size_t>(bytes)) != 0)
            refuse("the pieces of a kernel's hubs are not those of its offsets");
        use(a.partial, a.pieceCount * a.width * static_cast<std::int64_t>(sizeof(float)), true);
    }

    // As many rows of the source as the columns name; negative ones are as far away.
    [[nodiscard]] std::int64_t sourceRows() const
    {
        const auto& a = m_arguments;
        if (!a.columns.data) return m_last - a.columnFirst;
        std::int64_t rows = 0;
        for (std::int64_t p = m_first; p < m_last; ++p) {
            const std::int64_t row = a.columns[p - a.columnFirst];
            if (row < 0) refuse("an illegal memory access was encountered: a kernel's column is negative");
            rows = std::max(rows, row + 1);
        }
        return rows;
    }

    void useIndex(kernels::Index& index, std::int64_t count)
    {
        index.data = use(index.data, count * (index.wide ? 8 : 4), false);
    }

    // The pointer as the host may use it.
    char* use(const void* pointer, std::int64_t bytes, bool write)
    {
        Block& block = blockAt(pointer);
        const auto* const begin = static_cast<const char*>(pointer);
        if (begin + bytes > block.address + block.bytes)
            refuse("an illegal memory access was encountered: kernel beyond the end of a block");
        if (bytes > 0) touch(block, m_mark, write);
        return block.host(pointer);
    }

    kernels::SegmentArguments m_arguments;
    int m_lane;
    Mark m_mark;
    std::int64_t m_first = 0, m_last = 0;  // positions
    std::int64_t m_bytes = 0;
};

}  // namespace

int launchSegment(const kernels::SegmentArguments& arguments, void* stream)
{
    const Lock lock(mutex());
    if (state().deadCode) return state().deadCode;
    if (state().segment.fires()) {
        if (state().segmentCode >= illegalAccess) state().deadCode = state().segmentCode;
        return state().segmentCode;
    }
    return arguments.destinations == 0 || arguments.width == 0 ? 0 : Launch(arguments, stream).run();
}

}  // namespace hopscope::fake_device
