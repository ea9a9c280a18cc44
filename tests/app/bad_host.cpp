// LD_PRELOAD: a host whose disk fails and whose clock is set. It concerns files below BAD_HOST_FOLDER.
//
// BAD_HOST_FAULT=KIND:NTH:ERRNO: of the calls of a kind (write, sync, room, rename) the NTH fails, counted over all processes
// in the file BAD_HOST_COUNTS; with an ERRNO of 0 a write is cut short instead. With BAD_HOST_STAYS=1 every later call of any
// kind fails as well, as on a disk that stays full or a share that has gone. BAD_HOST_DELAY=WRITE:SYNC: a write and a sync
// take so many milliseconds. BAD_HOST_CLOCK=SECONDS: the time of day jumps so far back and forth. BAD_HOST_SYNCED=FOLDER gets
// what has reached the disk of each file, under the number of its inode.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>

namespace {

constexpr const char* kinds[] = {"write", "sync", "room", "rename"};
enum Kind { Write, Sync, Room, Rename };

// The last one is 1 once a call has failed.
using Counts = std::atomic<std::int64_t>[5];
constexpr int broken = 4;

const char* setting(const char* name)
{
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// Read and opened when the process starts, since a process that opens a model may not open files any more.
struct Host {
    std::string folder = setting("BAD_HOST_FOLDER"), synced = setting("BAD_HOST_SYNCED");
    int fault = -1, error = 0;
    bool stays = *setting("BAD_HOST_STAYS") != 0;
    std::int64_t nth = 0, clock = std::atoll(setting("BAD_HOST_CLOCK"));
    useconds_t delays[2] = {0, 0};
    Counts* counts = nullptr;

    Host()
    {
        char kind[16] = "";
        if (std::sscanf(setting("BAD_HOST_FAULT"), "%15[a-z]:%ld:%d", kind, &nth, &error) == 3)
            for (int i = 0; i < 4; ++i)
                if (std::strcmp(kinds[i], kind) == 0) fault = i;
        if (std::sscanf(setting("BAD_HOST_DELAY"), "%u:%u", &delays[Write], &delays[Sync]) != 2) delays[Write] = 0;
        const int file = ::open(setting("BAD_HOST_COUNTS"), O_RDWR | O_CLOEXEC);
        if (file < 0) return;
        void* const mapped = ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) counts = static_cast<Counts*>(mapped);
        ::close(file);
    }
};

const Host host;

bool concerns(const std::string& path)
{
    return !host.folder.empty() && path.compare(0, host.folder.size(), host.folder) == 0;
}

bool concerns(int file)
{
    const int before = errno;
    char path[4096];
    const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
    errno = before;
    return size > 0 && concerns(std::string(path, static_cast<std::size_t>(size)));
}

// Whether this call is the one that fails.
bool fails(Kind kind)
{
    if (host.counts == nullptr) return false;
    const std::int64_t number = ++(*host.counts)[kind];
    if (host.stays && (*host.counts)[broken] == 1) return true;
    const bool now = host.fault == kind && number == host.nth;
    if (now) (*host.counts)[broken] = 1;
    return now;
}

template <class Function>
Function next(const char* name, Function)
{
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Whatever a file holds before a sync is on the disk after it.
class Copied {
public:
    explicit Copied(int file)
    {
        struct stat facts {};
        if (host.synced.empty() || ::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return;
        m_path = host.synced + "/" + std::to_string(facts.st_ino);
        const std::filesystem::path from = "/proc/self/fd/" + std::to_string(file);
        std::filesystem::copy_file(from, m_path + ".new", std::filesystem::copy_options::overwrite_existing);
    }
    void keep() const
    {
        if (!m_path.empty()) std::filesystem::rename(m_path + ".new", m_path);
    }

private:
    std::string m_path;
};

// `act` writes as many bytes as its argument says.
template <class Act>
ssize_t written(int file, std::size_t bytes, const Act& act)
{
    if (!concerns(file)) return act(bytes);
    if (fails(Write)) {
        if (host.error == 0) return act(bytes / 2);
        errno = host.error;
        return -1;
    }
    ::usleep(host.delays[Write] * 1000);
    return act(bytes);
}

template <class Act>
int synced(int file, const Act& act)
{
    if (!concerns(file)) return act();
    ::usleep(host.delays[Sync] * 1000);
    if (fails(Sync)) {
        errno = host.error;
        return -1;
    }
    const Copied copied(file);
    const int done = act();
    if (done == 0) copied.keep();
    return done;
}

}  // namespace

extern "C" ssize_t write(int file, const void* from, std::size_t bytes)
{
    static const auto real = next("write", ::write);
    return written(file, bytes, [&](std::size_t count) { return real(file, from, count); });
}

extern "C" ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset)
{
    static const auto real = next("pwrite", ::pwrite);
    return written(file, bytes, [&](std::size_t count) { return real(file, from, count, offset); });
}

extern "C" int fsync(int file)
{
    static const auto real = next("fsync", ::fsync);
    return synced(file, [&] { return real(file); });
}

extern "C" int fdatasync(int file)
{
    static const auto real = next("fdatasync", ::fdatasync);
    return synced(file, [&] { return real(file); });
}

extern "C" int posix_fallocate(int file, off_t offset, off_t bytes)
{
    static const auto real = next("posix_fallocate", ::posix_fallocate);
    return concerns(file) && fails(Room) ? host.error : real(file, offset, bytes);
}

extern "C" int rename(const char* from, const char* to) noexcept
{
    static const auto real = next("rename", ::rename);
    if (!concerns(std::string(to)) || !fails(Rename)) return real(from, to);
    errno = host.error;
    return -1;
}

extern "C" int renameat(int source, const char* from, int target, const char* to) noexcept
{
    static const auto real = next("renameat", ::renameat);
    if (!concerns(target) || !fails(Rename)) return real(source, from, target, to);
    errno = host.error;
    return -1;
}

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept
{
    static const auto real = next("clock_gettime", ::clock_gettime);
    static std::atomic<std::int64_t> asked{0};
    const int done = real(clock, now);
    if (clock == CLOCK_REALTIME && host.clock != 0) now->tv_sec += ++asked % 2 == 0 ? host.clock : -host.clock;
    return done;
}
