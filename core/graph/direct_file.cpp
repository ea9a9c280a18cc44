#include "graph/direct_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace hopscope::graph {

namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t page = DirectFile::slack / 2;

// A line of /proc/self/maps: "BEGIN-END RIGHTS OFFSET DEVICE INODE      PATH".
struct Mapping {
    std::uintptr_t begin = 0, end = 0;
    std::int64_t offset = 0;
    ino_t inode = 0;
    std::string path;
};

std::optional<Mapping> parse(const std::string& line)
{
    Mapping m;
    std::istringstream in(line);
    std::string rights, device;
    char dash = 0;
    in >> std::hex >> m.begin >> dash >> m.end >> rights >> m.offset >> device >> std::dec >> m.inode >> std::ws;
    if (!in || m.inode == 0) return std::nullopt;
    std::getline(in, m.path);
    return m;
}

// Another file may have the name by now.
bool isOnDisk(const Mapping& m)
{
    struct stat facts {};
    struct statfs system {};
    return ::stat(m.path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_ino == m.inode &&
           ::statfs(m.path.c_str(), &system) == 0 && system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC;
}

tl::unexpected<base::Error> cannotRead(const std::string& path, const std::string& reason)
{
    return fail(ErrorCode::Input, "cannot read " + path + ": " + reason, {}, path);
}

}  // namespace

std::optional<FilePlace> fileBehind(const void* address)
{
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const std::optional<Mapping> m = parse(line);
        if (!m || wanted < m->begin || wanted >= m->end) continue;
        if (!isOnDisk(*m)) return std::nullopt;
        return FilePlace{m->path, m->offset + static_cast<std::int64_t>(wanted - m->begin)};
    }
    return std::nullopt;
}

// The kernel keeps mapped pages in the page cache.
void letGoOf(const void* address, std::int64_t bytes)
{
    const auto place = fileBehind(address);
    const int handle = place ? ::open(place->path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (handle < 0) return;
    const auto behind = reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(page);
    auto* const first = static_cast<std::byte*>(const_cast<void*>(address)) - behind;
    ::madvise(first, static_cast<std::size_t>(bytes) + behind, MADV_DONTNEED);
    ::posix_fadvise(handle, place->offset, bytes, POSIX_FADV_DONTNEED);
    ::close(handle);
}

base::Result<PageMemory> PageMemory::allocate(std::int64_t bytes)
{
    PageMemory made;
    made.m_size = bytes > 0 ? bytes : 1;
    const auto size = static_cast<std::size_t>(made.m_size);
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return fail(ErrorCode::Resources, "no memory for rows of tables", "raise the limit of the process's memory");
    ::madvise(memory, size, MADV_HUGEPAGE);
    made.m_memory = {static_cast<std::byte*>(memory), [size](std::byte* p) { ::munmap(p, size); }};
    return made;
}

void PageMemory::empty(std::int64_t from, std::int64_t end) const
{
    const std::int64_t first = (from + page - 1) / page * page;
    const std::int64_t last = end < m_size ? end / page * page : m_size;
    if (first < last) ::madvise(data() + first, static_cast<std::size_t>(last - first), MADV_DONTNEED);
}

base::Result<DirectFile> DirectFile::open(const std::string& path)
{
    int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
    const bool direct = handle >= 0;
    if (!direct && errno == EINVAL) handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) return cannotRead(path, std::strerror(errno));
    return DirectFile(path, handle, direct);
}

DirectFile::DirectFile(std::string path, int handle, bool direct)
    : m_path(std::move(path)),
      m_handle(handle),
      m_direct(direct)
{}

DirectFile::DirectFile(DirectFile&& other) noexcept { *this = std::move(other); }

DirectFile& DirectFile::operator=(DirectFile&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_handle, other.m_handle);
    std::swap(m_direct, other.m_direct);
    return *this;
}

DirectFile::~DirectFile()
{
    if (m_handle >= 0) ::close(m_handle);
}

base::Result<std::byte*> DirectFile::read(std::int64_t offset, std::int64_t count, std::byte* buffer) const
{
    const std::int64_t before = offset % page, from = offset - before;
    const std::int64_t wanted = before + count, whole = (wanted + page - 1) / page * page;
    for (std::int64_t done = 0; done < wanted;) {
        const ssize_t got = ::pread(m_handle, buffer + done, static_cast<std::size_t>(whole - done), from + done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannotRead(m_path, std::strerror(errno));
        if (got == 0) return cannotRead(m_path, "it is shorter than it was");
        // A read that ends within a page has reached the end of the file.
        if (m_direct && got % page != 0 && done + got < wanted) return cannotRead(m_path, "it is shorter than it was");
        done += got;
    }
    if (!m_direct) ::posix_fadvise(m_handle, from, whole, POSIX_FADV_DONTNEED);
    return buffer + before;
}

}  // namespace hopscope::graph
