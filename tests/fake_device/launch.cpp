#include "fake_device/launch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_device/guard.h"
#include "fake_device/memory.h"
#include "fake_device/pinned.h"
#include "fake_device/strip_bits.h"
#include "kernels/host_cuda/segment_on_host.h"
#include "kernels/host_cuda/strip_on_host.h"
#include "kernels/strip_launch.h"

namespace hopscope::fake_device {

namespace {

constexpr int illegalAccess = 700;  // this and greater codes end the context

std::int64_t bytesOf(kernels::Element element) { return element == kernels::Element::Float32 ? 4 : 2; }

// A launch as the device sees it: pointers and a stream, nothing else.
class Launch {
protected:
    explicit Launch(void* stream)
        : m_lane(stream ? static_cast<int>(reinterpret_cast<std::intptr_t>(stream)) : laneOf(currentDevice(), 0))
    {}

    // Empty: the device accepts the launch.
    [[nodiscard]] std::string wrongDevice(const std::vector<const void*>& pointers) const
    {
        const int device = currentDevice();
        if (deviceOf(m_lane) != device)
            return laneName(m_lane) + " used while cuda:" + std::to_string(device) + " is current";
        DeviceMemory& memory = memoryOf(device);
        for (const void* p : pointers)
            if (p && !memory.find(p) &&
                !memory.find(static_cast<const char*>(p) - 1))  // nothing may follow the last number
                return "memory that is not of cuda:" + std::to_string(device);
        return {};
    }

    static int die(const std::string& complaint)
    {
        state().findings.push_back("an illegal memory access was encountered: kernel with " + complaint);
        return state().deadCode = illegalAccess;
    }

    // Kernels read host memory only where it is pinned.
    [[nodiscard]] static std::string wrongHost(const kernels::HostRows& host)
    {
        if (!host.places || pinned().holds(host.data)) return {};
        return "host memory that is not pinned";
    }

    void begin() { m_mark = clocks().launch(m_lane); }

    void finish() const
    {
        ++state().counts.operators;
        ++state().counts.segments;
        state().counts.hostReads += m_work.hostReads;
        clocks().charge(m_lane, m_work);
        for (const auto& [begin, bytes] : m_hosts) pinned().protect(begin, bytes, Direction::Up, m_mark);
    }

    // Rows on the device and on the host; `reads`: how often the kernel reads the row of each column. Until the kernel has
    // passed, the host may not write there.
    void useDivided(const void*& table, kernels::HostRows& host, const kernels::Index& columns, std::int64_t first,
                    std::int64_t stride, std::int64_t width, std::int64_t reads)
    {
        const std::int64_t rows = rowsNamed(columns, first);
        const auto bytes = [&](std::int64_t count) { return count == 0 ? 0 : (count - 1) * stride + width; };
        host.places = reinterpret_cast<const std::int32_t*>(use(host.places, rows * 4, false));
        if (host.cached > 0) table = use(table, bytes(host.cached), false);
        std::int64_t last = -1;
        for (std::int64_t p = m_first; p < m_last; ++p) {
            const std::int64_t row = columns[p - first];
            if (host.places[row] < host.cached) continue;
            m_work.hostReads += reads * width;
            last = std::max(last, row);
        }
        if (last < 0) return;
        const auto* const begin = static_cast<const char*>(host.data);
        const auto size = static_cast<std::size_t>(bytes(last + 1));
        if (!pinned().holds(begin + size - 1)) refuse("an illegal memory access was encountered: beyond pinned memory");
        pinned().checkCopy(begin, size, Direction::Up, m_lane);
        m_reaches.push_back(std::make_unique<Pinned::Reach>(begin, size, Direction::Up));
        m_hosts.emplace_back(begin, size);
    }

    // Of the rows that positions [begin, end) name, those on the device.
    static std::int64_t countHere(const kernels::HostRows& host, const kernels::Index& columns, std::int64_t first,
                                  std::int64_t begin, std::int64_t end)
    {
        if (!host.places) return end - begin;
        std::int64_t here = 0;
        for (std::int64_t p = begin; p < end; ++p) here += host.places[columns[p - first]] < host.cached ? 1 : 0;
        return here;
    }

    void useOffsets(kernels::Index& offsets, std::int64_t destinations)
    {
        useIndex(offsets, destinations + 1);
        m_first = offsets[0];
        m_last = offsets[destinations];
        if (m_first < 0 || m_last < m_first) refuse("an illegal memory access was encountered: offsets without sense");
    }

    // The GPU computes nonsense from other pieces than these.
    void usePieces(const kernels::Index& offsets, std::int64_t destinations, const kernels::HubPiece*& pieces,
                   std::int64_t count, std::int64_t first)
    {
        std::vector<kernels::HubPiece> right = kernels::hubPieces(offsets, destinations);
        for (kernels::HubPiece& piece : right) piece.destination += first;
        const auto bytes = static_cast<std::int64_t>(right.size() * sizeof(kernels::HubPiece));
        const char* const given = pieces ? use(pieces, bytes, false) : nullptr;
        if (count != static_cast<std::int64_t>(right.size()) ||
            (given && std::memcmp(given, right.data(), static_cast<std::size_t>(bytes)) != 0))
            refuse("the pieces of a kernel's hubs are not those of its offsets");
        pieces = reinterpret_cast<const kernels::HubPiece*>(given);
    }

    // As many rows as the columns name; negative ones are as far away.
    [[nodiscard]] std::int64_t rowsNamed(const kernels::Index& columns, std::int64_t columnFirst) const
    {
        std::int64_t rows = 0;
        for (std::int64_t p = m_first; p < m_last; ++p) {
            const std::int64_t row = columns[p - columnFirst];
            if (row < 0) refuse("an illegal memory access was encountered: a kernel's column is negative");
            rows = std::max(rows, row + 1);
        }
        return rows;
    }

    void useIndex(kernels::Index& index, std::int64_t count)
    {
        index.data = use(index.data, count * (index.wide ? 8 : 4), false);
        m_work.bytes += count * (index.wide ? 8 : 4);
    }

    // The pointer as the host may use it; where nothing is used, it may be that of any block.
    char* use(const void* pointer, std::int64_t bytes, bool write)
    {
        if (bytes == 0) return static_cast<char*>(const_cast<void*>(pointer));
        Block& block = blockAt(pointer);
        const auto* const begin = static_cast<const char*>(pointer);
        if (begin + bytes > block.address + block.bytes)
            refuse("an illegal memory access was encountered: kernel beyond the end of a block");
        touch(block, m_mark, write);
        return block.host(pointer);
    }

    int m_lane;
    Mark m_mark;
    std::int64_t m_first = 0, m_last = 0;  // positions
    Work m_work;

private:
    std::vector<std::pair<const char*, std::size_t>> m_hosts;  // of pinned memory
    std::vector<std::unique_ptr<Pinned::Reach>> m_reaches;
};

class SegmentLaunch : Launch {
public:
    SegmentLaunch(const kernels::SegmentArguments& arguments, void* stream) : Launch(stream), m_arguments(arguments) {}

    int run()
    {
        auto& a = m_arguments;
        const std::string complaint = wrongDevice({a.offsets.data, a.columns.data, a.weight, a.source, a.out, a.pieces,
                                                   a.partial, a.host.places}) +
                                      wrongHost(a.host);
        if (!complaint.empty()) return die(complaint);
        begin();
        useOffsets(a.offsets, a.destinations);
        if (a.columns.data) useIndex(a.columns, m_last - a.columnFirst);
        useRows();
        if (a.pieces) {  // the CPU's kernel needs none
            usePieces(a.offsets, a.destinations, a.pieces, a.pieceCount, a.pieceFirst);
            a.partial = reinterpret_cast<float*>(
                use(a.partial, a.pieceCount * a.width * static_cast<std::int64_t>(sizeof(float)), true));
        }
        const bool divided = a.host.places != nullptr;  // which the CPU's kernel does not take
        const int code = divided ? kernels::segmentOnHost(a, nullptr) : 0;
        if (!divided) kernels::segmentCpu(a, 0, a.destinations);
        finish();
        return code;
    }

private:
    void useRows()
    {
        auto& a = m_arguments;
        const std::int64_t element = bytesOf(a.element);
        const std::int64_t rows = a.columns.data ? rowsNamed(a.columns, a.columnFirst) : m_last - a.columnFirst;
        const std::int64_t beyond = rows == 0 ? 0 : (rows - 1) * a.sourceStride + a.width;
        if (a.weight) a.weight = use(a.weight, (m_last - a.weightFirst) * a.heads * element, false);
        if (a.weight) m_work.bytes += (m_last - m_first) * a.heads * element;
        if (a.host.places)
            useDivided(a.source, a.host, a.columns, a.columnFirst, a.sourceStride * element, a.width * element, 1);
        else if (a.source) a.source = use(a.source, beyond * element, false);
        a.out = use(a.out, a.destinations * a.width * element, true);
        m_work.gathered += countHere(a.host, a.columns, a.columnFirst, m_first, m_last) * a.width * element;
        m_work.bytes += a.destinations * a.width * element;
    }

    kernels::SegmentArguments m_arguments;
};

class StripsLaunch : Launch {
public:
    StripsLaunch(const kernels::StripProgram& program, const kernels::StripArguments& arguments, void* stream)
        : Launch(stream),
          m_program(program),
          m_arguments(arguments)
    {}

    int run()
    {
        auto& a = m_arguments;
        std::vector<const void*> pointers{a.offsets.data, a.pieces, a.work};
        std::string complaint;
        for (const kernels::StripTable& t : a.tables) {
            pointers.insert(pointers.end(), {t.data, t.columns.data, t.host.places});
            complaint += wrongHost(t.host);
        }
        pointers.insert(pointers.end(), a.out.begin(), a.out.end());
        complaint += wrongDevice(pointers);
        if (!complaint.empty()) return die(complaint);
        begin();
        useOffsets(a.offsets, a.destinations);
        for (std::size_t t = 0; t < a.tables.size(); ++t) useTable(a.tables[t], t);
        for (std::size_t b = 0; b < a.out.size(); ++b) {
            if (!a.out[b]) continue;
            a.out[b] = use(a.out[b], a.destinations * m_program.destinations[b] * item(), true);
            m_work.bytes += a.destinations * m_program.destinations[b] * item();
        }
        usePieces(a.offsets, a.destinations, a.pieces, a.pieceCount, a.pieceFirst);
        const std::int64_t work = kernels::stripWorkBytes(m_program, a.pieceCount, a.edges);
        if (a.work) a.work = reinterpret_cast<std::byte*>(use(a.work, work, true));
        if (a.edges != 0 && a.edges != m_last - m_first) refuse("a kernel has a wrong number of edges");
        ++(kernels::shapeOf(m_program, a) == kernels::kNoShape ? state().counts.read : state().counts.shaped);
        const StripBits bits(m_program, a);
        const int code = kernels::stripOnHost(m_program, a, nullptr);
        if (const std::string other = code == 0 ? bits.difference() : ""; !other.empty()) refuse(other);
        finish();
        return code;
    }

private:
    [[nodiscard]] std::int64_t item() const { return itemBytes(m_program.element); }

    [[nodiscard]] std::int64_t timesRead(std::size_t table) const
    {
        std::int64_t times = 0;
        for (const kernels::StripStep& s : m_program.steps)
            for (const kernels::StripOperand& o : {s.a, s.b})
                times +=
                    o.from == kernels::StripOperand::From::Table && static_cast<std::size_t>(o.at) == table ? 1 : 0;
        return times;
    }

    void useTable(kernels::StripTable& t, std::size_t at)
    {
        const std::int64_t width = m_program.tableWidths[at];
        std::int64_t rows = 1;
        switch (m_program.tables[at]) {
        case kernels::StripRows::Edges: rows = m_last - t.first; break;
        case kernels::StripRows::Destinations: rows = m_arguments.destinations - t.first; break;
        case kernels::StripRows::Single: break;
        case kernels::StripRows::Gathered:
            if (t.columns.data) useIndex(t.columns, m_last - t.first);
            rows = rowsNamed(t.columns, t.first);
        }
        if (t.host.places)
            useDivided(t.data, t.host, t.columns, t.first, t.stride * item(), width * item(), timesRead(at));
        else if (t.data) t.data = use(t.data, rows == 0 ? 0 : ((rows - 1) * t.stride + width) * item(), false);
        count(at, width * item());
    }

    // Rows along edges are read once, or, where those of a destination do not fit into a strip, in each phase whose steps
    // need them.
    void count(std::size_t table, std::int64_t rowBytes)
    {
        switch (m_program.tables[table]) {
        case kernels::StripRows::Single: return;
        case kernels::StripRows::Destinations: m_work.bytes += m_arguments.destinations * rowBytes; return;
        case kernels::StripRows::Edges:
        case kernels::StripRows::Gathered: break;
        }
        const kernels::StripTable& t = m_arguments.tables[table];
        const kernels::StripLaunch launch = kernels::stripLaunch(m_program, m_arguments);
        std::uint32_t phases = 0;
        for (int s = 0; s < launch.stepCount; ++s)
            for (const kernels::LaunchOperand* o : {&launch.steps[s].a, &launch.steps[s].b})
                if (o->from == kernels::StripOperand::From::Table && o->at == table) phases |= launch.steps[s].phases;
        for (std::int64_t d = 0; d < m_arguments.destinations; ++d) {
            const std::int64_t begin = m_arguments.offsets[d], end = m_arguments.offsets[d + 1];
            const std::int64_t here = countHere(t.host, t.columns, t.first, begin, end);
            m_work.gathered += (end - begin <= launch.rows ? 1 : std::popcount(phases)) * here * rowBytes;
        }
    }

    const kernels::StripProgram& m_program;
    kernels::StripArguments m_arguments;
};

// The code of the device, or of a fault that a test has asked for; 0: the launch may go on.
int faultOf()
{
    if (state().deadCode) return state().deadCode;
    if (!state().segment.fires()) return 0;
    if (state().segmentCode >= illegalAccess) state().deadCode = state().segmentCode;
    return state().segmentCode;
}

}  // namespace

int launchSegment(const kernels::SegmentArguments& arguments, void* stream)
{
    const Lock lock(mutex());
    if (const int fault = faultOf()) return fault;
    return arguments.destinations == 0 || arguments.width == 0 ? 0 : SegmentLaunch(arguments, stream).run();
}

int launchStrips(const kernels::StripProgram& program, const kernels::StripArguments& arguments, void* stream)
{
    const Lock lock(mutex());
    if (const int fault = faultOf()) return fault;
    return arguments.destinations == 0 ? 0 : StripsLaunch(program, arguments, stream).run();
}

}  // namespace hopscope::fake_device
