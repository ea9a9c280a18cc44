#include "graph/mapped_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "graph/given_files.h"

namespace hopscope::graph {

namespace {

// -1: it cannot be opened, or another file has its name.
int opened(const MappedPlace& place)
{
    const int handle = ::open(place.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts {};
    if (handle < 0 || (::fstat(handle, &facts) == 0 && FileStamp::of(facts) == place.stamp)) return handle;
    ::close(handle);
    return -1;
}

}  // namespace

MappedSource::MappedSource(const void* address) : m_address(static_cast<const std::byte*>(address))
{
    const auto place = mappedPlace(address);
    if (!place) return;
    m_handle = opened(*place);
    m_offset = place->offset;
}

MappedSource::~MappedSource()
{
    if (m_handle >= 0) ::close(m_handle);
}

void MappedSource::copy(std::int64_t offset, std::int64_t count, std::byte* to) const
{
    std::int64_t done = 0;
    while (reads() && done < count) {
        const ssize_t got =
            ::pread(m_handle, to + done, static_cast<std::size_t>(count - done), m_offset + offset + done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += got;
    }
    if (done < count) std::memcpy(to + done, m_address + offset + done, static_cast<std::size_t>(count - done));
}

}  // namespace hopscope::graph
