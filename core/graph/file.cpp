#include "graph/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/folder.h"
#include "graph/given_files.h"

namespace hopscope::graph {

namespace {

using base::ErrorCode;
using base::fail;

// Closes a descriptor at the end of the scope.
struct Handle {
    int fd = -1;
    explicit Handle(int descriptor) : fd(descriptor) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle()
    {
        if (fd >= 0) ::close(fd);
    }
};

constexpr std::int64_t flushedAtOnce = 4 << 20;    // bytes
constexpr std::int64_t letGoAtOnce = 8 << 20;      // bytes
constexpr std::int64_t shortenedAtOnce = 8 << 20;  // bytes, half a millisecond
constexpr std::int64_t keptBehind = 32 << 20;      // bytes that may be on their way to the disk

std::string reason(int error) { return std::strerror(error); }

const char* specialKind(mode_t mode)
{
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a named pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

tl::unexpected<base::Error> cannotOpen(const std::string& path, int error)
{
    const std::string what = error == ENOENT ? "no such file: " + path : "cannot read " + path + ": " + reason(error);
    const bool exhausted = error == ENOMEM || error == EMFILE || error == ENFILE;
    return fail(exhausted ? ErrorCode::Resources : ErrorCode::Input, what, error == ENOENT ? "check the path" : "",
                path);
}

// A full disk is a resource; a folder that is missing or closed to us is a wrong argument.
tl::unexpected<base::Error> cannotWrite(const std::string& path, int error)
{
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    const bool elsewhere = full || error == EROFS;
    const bool argument = error == ENOENT || error == EACCES || error == ENOTDIR || error == EISDIR;
    return fail(argument ? ErrorCode::Usage : ErrorCode::Resources, "cannot write " + path + ": " + reason(error),
                elsewhere ? "free some space or choose a folder on another disk" : "", path);
}

base::Result<std::shared_ptr<std::byte>> mapWritable(int fd, std::int64_t size, const std::string& path)
{
    if (size == 0) return std::make_shared<std::byte>();
    const auto length = static_cast<std::size_t>(size);
    void* const memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) return cannotWrite(path, errno);
    return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), [length](std::byte* p) { ::munmap(p, length); });
}

// The process and a counter make it unique; O_EXCL makes sure.
std::string temporaryName(const std::string& path)
{
    static std::atomic<std::uint64_t> counter{0};
    return path + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".part";
}

int reserve(int fd, std::int64_t size) { return size > 0 ? ::posix_fallocate(fd, 0, size) : 0; }

int extend(int fd, std::int64_t size) { return ::ftruncate(fd, size) != 0 ? errno : 0; }

// For a file that is only written by system calls, which report a full disk. A file system in memory would allocate all
// pages at once, on one core, while every process waits for them: there it is enough to check that there is room now.
int makeRoom(int fd, std::int64_t size)
{
    struct statfs facts {};
    if (::fstatfs(fd, &facts) != 0 || facts.f_type != TMPFS_MAGIC) return reserve(fd, size);
    const auto pages = (size + facts.f_bsize - 1) / facts.f_bsize;
    if (facts.f_blocks > 0 && static_cast<std::int64_t>(facts.f_bavail) < pages) return ENOSPC;
    return extend(fd, size);
}

std::string folderOf(const std::string& path)
{
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// Another process may have written the file, or another user may have put a link there.
base::Result<int> openLasting(const std::string& file)
{
    const base::Result<base::Folder> folder = base::Folder::open(folderOf(file));
    if (!folder) return cannotWrite(file, ENOENT);
    return folder->openFile(file.substr(file.find_last_of('/') + 1), O_RDWR | O_CREAT);
}

}  // namespace

// The parts that have been written but are still in the page cache, in the order of writing.
class WrittenBehind {
public:
    using Part = std::pair<std::int64_t, std::int64_t>;  // offset, bytes

    // The part of the file that has been written longest ago, once enough has been written after it.
    std::optional<Part> add(std::int64_t offset, std::int64_t count)
    {
        const std::lock_guard lock(m_mutex);
        m_parts.emplace_back(offset, count);
        m_bytes += count;
        if (m_bytes < keptBehind + letGoAtOnce) return std::nullopt;
        Part oldest = m_parts.front();
        for (std::int64_t taken = 0; taken < letGoAtOnce; m_parts.pop_front()) {
            const auto [first, bytes] = m_parts.front();
            const std::int64_t end = std::max(oldest.first + oldest.second, first + bytes);
            oldest.first = std::min(oldest.first, first);
            oldest.second = end - oldest.first;
            taken += bytes;
            m_bytes -= bytes;
        }
        return oldest;
    }

private:
    std::mutex m_mutex;
    std::deque<Part> m_parts;
    std::int64_t m_bytes = 0;
};

void emptyFile(const std::string& path)
{
    const Handle emptied(
        ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));  // where it fails, it costs memory alone
}

base::Status syncFolder(const std::string& folder)
{
    const Handle handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems cannot flush a folder; the rename itself has been done by then.
    if (handle.fd < 0 || ::fsync(handle.fd) == 0 || errno == EINVAL) return {};
    return fail(ErrorCode::Resources, folder + ": cannot be written to the disk: " + reason(errno), {}, folder);
}

base::Result<MappedFile> mapFile(const std::string& path, Links links)
{
    if (path.find('\0') != std::string::npos) return fail(ErrorCode::Input, "a file name contains a zero byte");
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    const int followed = links == Links::Refused ? O_NOFOLLOW : 0;
    const Handle handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | followed));
    if (handle.fd < 0) return cannotOpen(path, errno);
    struct stat facts {};
    if (::fstat(handle.fd, &facts) != 0) return cannotOpen(path, errno);
    if (!S_ISREG(facts.st_mode))
        return fail(ErrorCode::Input, path + " is " + specialKind(facts.st_mode) + ", not a regular file",
                    "give a regular file; write data from a pipe to one first", path);
    static constexpr std::byte nothing{};
    if (facts.st_size == 0) return MappedFile{.data = &nothing, .size = 0, .owner = {}};
    const auto length = static_cast<std::size_t>(facts.st_size);
    void* const memory = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, handle.fd, 0);
    if (memory == MAP_FAILED) return cannotOpen(path, errno);
    noteMapping(memory, facts.st_size, path, FileStamp::of(facts));
    std::shared_ptr<const void> owner(memory, [length](void* p) {
        forgetMapping(p);
        ::munmap(p, length);
    });
    return MappedFile{.data = static_cast<const std::byte*>(memory), .size = facts.st_size, .owner = std::move(owner)};
}

bool makePresent(std::byte* first, std::int64_t bytes)
{
    constexpr std::uintptr_t page = 4096;
    const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(first) % page;
    return ::madvise(first - before, static_cast<std::size_t>(bytes) + before, MADV_POPULATE_WRITE) == 0;
}

base::Result<NewFile> NewFile::create(const std::string& path, std::int64_t size, Lasting lasting)
{
    if (lasting == Lasting::Yes) return resume(path, size);
    if (lasting == Lasting::Shared) return share(path, size);
    const std::string temporary = temporaryName(path);
    const int fd = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return cannotWrite(path, errno);
    NewFile file(path, temporary, fd, size);
    const int error = reserve(fd, size);
    if (error != 0) return cannotWrite(path, error);
    return file;
}

base::Result<NewFile> NewFile::reuse(std::optional<NewFile> found, const std::string& path, std::int64_t size,
                                     Lasting lasting)
{
    if (!found || found->m_room < size || lasting != Lasting::No) return create(path, size, lasting);
    NewFile spare = std::move(*found);
    std::string temporary = temporaryName(path);
    if (::rename(spare.m_temporary.c_str(), temporary.c_str()) != 0) return cannotWrite(path, errno);
    spare.m_path = path;
    spare.m_temporary = std::move(temporary);
    spare.m_size = size;
    spare.m_behind = false;
    spare.m_behindBytes = 0;
    return spare;
}

void NewFile::shorten()
{
    while (m_room > m_size) {
        const std::int64_t less = std::max(m_size, m_room - shortenedAtOnce);
        if (::ftruncate(m_handle, less) != 0) return;  // publish() says so
        m_room = less;
    }
}

base::Result<NewFile> NewFile::resume(const std::string& path, std::int64_t size)
{
    const std::string temporary = path + ".part";
    struct stat facts {};
    if (::lstat(temporary.c_str(), &facts) != 0) ::rename(path.c_str(), temporary.c_str());
    const bool there = ::lstat(temporary.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == size;
    const base::Result<int> opened = openLasting(temporary);
    if (!opened) return base::forward(opened);
    const int fd = *opened;
    NewFile file(path, temporary, fd, size);
    if (there) file.m_lasting = Lasting::Yes;
    const int emptied = there ? 0 : extend(fd, 0), error = emptied != 0 ? emptied : reserve(fd, size);
    if (error != 0) return cannotWrite(path, error);
    file.m_lasting = Lasting::Yes;
    file.m_continued = there;
    return file;
}

// Where a file system cannot reserve blocks, the C library writes into each of them: no rows may be written meanwhile.
base::Result<NewFile> NewFile::share(const std::string& path, std::int64_t size)
{
    const std::string temporary = path + ".part";
    struct stat facts {};
    if (::lstat(temporary.c_str(), &facts) != 0) ::rename(path.c_str(), temporary.c_str());
    const base::Result<int> opened = openLasting(temporary);
    if (!opened) return base::forward(opened);
    const int fd = *opened;
    NewFile file(path, temporary, fd, size);
    file.m_lasting = Lasting::Shared;
    while (::flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) return cannotWrite(path, errno);
    file.m_continued = ::fstat(fd, &facts) == 0 && facts.st_size == size;
    int error = file.m_continued ? 0 : extend(fd, 0);
    if (!file.m_continued && error == 0) error = makeRoom(fd, size);
    ::flock(fd, LOCK_UN);
    if (error != 0) return cannotWrite(path, error);
    return file;
}

NewFile::NewFile(std::string path, std::string temporary, int handle, std::int64_t size)
    : m_path(std::move(path)),
      m_temporary(std::move(temporary)),
      m_handle(handle),
      m_size(size),
      m_room(size)
{}

NewFile::NewFile(NewFile&& other) noexcept { *this = std::move(other); }

NewFile& NewFile::operator=(NewFile&& other) noexcept
{
    if (this == &other) return *this;
    discard();
    m_path = std::move(other.m_path);
    m_temporary = std::exchange(other.m_temporary, {});
    m_handle = std::exchange(other.m_handle, -1);
    m_size = other.m_size;
    m_room = other.m_room;
    m_lasting = other.m_lasting;
    m_continued = other.m_continued;
    m_behind = other.m_behind;
    m_behindBytes = other.m_behindBytes;
    m_written = std::move(other.m_written);
    m_mapping = std::move(other.m_mapping);
    return *this;
}

NewFile::~NewFile() { discard(); }

void NewFile::discard()
{
    if (m_handle >= 0) ::close(m_handle);
    if (!m_temporary.empty() && m_lasting == Lasting::No) ::unlink(m_temporary.c_str());
    m_handle = -1;
    m_temporary.clear();
}

void NewFile::forget()
{
    if (!m_temporary.empty()) ::unlink(m_temporary.c_str());
    m_temporary.clear();
}

base::Result<std::shared_ptr<std::byte>> NewFile::map()
{
    if (m_mapping != nullptr) return m_mapping;
    auto mapped = mapWritable(m_handle, m_size, m_path);
    if (mapped) m_mapping = *mapped;
    return mapped;
}

base::Status NewFile::write(std::int64_t offset, const void* bytes, std::size_t count) const
{
    const auto* at = static_cast<const std::byte*>(bytes);
    for (std::size_t left = count; left > 0;) {
        const ssize_t done = ::pwrite(m_handle, at, left, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return cannotWrite(m_path, done < 0 ? errno : ENOSPC);
        at += done;
        offset += done;
        left -= static_cast<std::size_t>(done);
    }
    wrote(count);
    if (m_written) letGo(offset - static_cast<std::int64_t>(count), static_cast<std::int64_t>(count));
    return {};
}

void NewFile::wrote(std::size_t count) const
{
    if (m_behind) startFlush(count);
}

void NewFile::letGoBehind()
{
    flushBehind();
    if (!m_written) m_written = std::make_unique<WrittenBehind>();
}

void NewFile::letGo(std::int64_t offset, std::int64_t count) const
{
    const auto part = m_written->add(offset, count);
    if (!part) return;
    constexpr unsigned wait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    ::sync_file_range(m_handle, part->first, part->second, wait);
    ::posix_fadvise(m_handle, part->first, part->second, POSIX_FADV_DONTNEED);
}

// Errors here occur again when the file is published, and are reported then.
void NewFile::startFlush(std::size_t written) const
{
    const auto count = static_cast<std::int64_t>(written);
    const std::int64_t before = std::atomic_ref(m_behindBytes).fetch_add(count), now = before + count;
    if (before / flushedAtOnce == now / flushedAtOnce) return;
    ::sync_file_range(m_handle, 0, now, SYNC_FILE_RANGE_WRITE);
}

base::Status NewFile::sync() const
{
    if (::fdatasync(m_handle) == 0) return {};
    return fail(ErrorCode::Resources, "cannot write " + m_path + " to the disk: " + reason(errno), {}, m_path);
}

// Network file systems look for changes when a file is opened and mapped.
void NewFile::refresh() const { (void)mapFile(m_temporary, Links::Refused); }

// An error number, or 0.
int NewFile::flushAll() const
{
    const auto size = static_cast<std::size_t>(m_size);
    if (m_mapping != nullptr && m_size > 0 && ::msync(m_mapping.get(), size, MS_SYNC) != 0) return errno;
    return ::fsync(m_handle) != 0 ? errno : 0;
}

base::Status NewFile::publish(Flush flush)
{
    const auto failed = [&](int error) {
        return fail(ErrorCode::Resources, "cannot finish writing " + m_path + ": " + reason(error), {}, m_path);
    };
    shorten();
    if (m_room > m_size) return failed(errno);
    if (flush == Flush::Yes)
        if (const int error = flushAll(); error != 0) return failed(error);
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) return failed(errno);
    m_temporary.clear();
    if (flush == Flush::No) return {};
    return syncFolder(folderOf(m_path));
}

base::Result<std::shared_ptr<std::byte>> mapScratchFile(const std::string& folder, std::int64_t size, Fill fill)
{
    std::string name = folder + (fill == Fill::Zeros ? "/scratch.XXXXXX" : "/spill.XXXXXX");
    const Handle handle(::mkostemp(name.data(), O_CLOEXEC));
    if (handle.fd < 0) return cannotWrite(folder, errno);
    ::unlink(name.c_str());
    const int error = reserve(handle.fd, size);
    if (error != 0) return cannotWrite(folder, error);
    return mapWritable(handle.fd, size, folder);
}

}  // namespace hopscope::graph
