#include "pipeline/files/folder_lock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

namespace hopscope::pipeline {

namespace {

constexpr std::chrono::seconds beat(5);
constexpr int mostAttempts = 10;  // at a lock: processes that a killed run had started hold it until they end as well
constexpr std::chrono::milliseconds pause(50);
constexpr std::int64_t leaseSeconds = 60;  // without a sign of life, which a busy file server may delay
// File systems that belong to one machine, with its containers, and so know of every lock. linux/magic.h lacks two.
constexpr std::array<std::int64_t, 9> localSystems{EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,       BTRFS_SUPER_MAGIC,
                                                   TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                                   RAMFS_MAGIC,      ECRYPTFS_SUPER_MAGIC,  0x2fc12fc1 /* ZFS */};

std::atomic<bool> doubted = false;

std::string hostName()
{
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string readLock(int descriptor)
{
    std::array<char, 512> text{};
    const ssize_t size = pread(descriptor, text.data(), text.size() - 1, 0);
    return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// "pid 12 on host": the text of a lock file.
std::string thisProcess() { return "pid " + std::to_string(getpid()) + " on " + hostName(); }

bool heldByOtherHost(const std::string& text)
{
    const std::size_t at = text.find(" on ");
    return at != std::string::npos && text.substr(at + 4) != hostName();
}

bool knowsAllLocks(int descriptor)
{
    struct statfs facts {};
    return !doubted && ::fstatfs(descriptor, &facts) == 0 &&
           std::ranges::find(localSystems, static_cast<std::int64_t>(facts.f_type)) != localSystems.end();
}

// Seconds since the last sign of life, by the clock of the file system: that of this machine may be another one.
std::int64_t secondsOfSilence(int descriptor, const base::Folder& folder, const std::string& name)
{
    struct stat before {
    }, now{};
    const std::string probe = name + "-clock-" + std::to_string(getpid());
    const base::Result<int> clock = folder.openFile(probe, O_RDWR | O_CREAT);
    const bool known = clock && futimens(*clock, nullptr) == 0 && fstat(*clock, &now) == 0;
    if (clock) close(*clock);
    folder.remove(probe);
    return known && fstat(descriptor, &before) == 0 ? now.st_mtim.tv_sec - before.st_mtim.tv_sec : 0;
}

// For a file that this process has locked as far as this machine knows: why it must not use it, or empty.
std::string otherHolder(int descriptor, const base::Folder& folder, const std::string& name)
{
    const std::string text = readLock(descriptor);
    if (!heldByOtherHost(text) || knowsAllLocks(descriptor)) return {};
    const std::int64_t silence = secondsOfSilence(descriptor, folder, name);
    if (silence >= leaseSeconds) return {};
    return text + ", which was last known to be alive " + std::to_string(std::max<std::int64_t>(silence, 0)) + " s ago";
}

// Whether `descriptor` is still the file of this name: its owner may have removed it while we were waiting.
bool sameFile(int descriptor, const base::Folder& folder, const std::string& name)
{
    struct stat opened {
    }, found{};
    const base::Result<int> file = folder.openFile(name, O_RDONLY);
    if (!file) return false;
    const bool known = fstat(descriptor, &opened) == 0 && fstat(*file, &found) == 0;
    close(*file);
    return known && opened.st_ino == found.st_ino && opened.st_dev == found.st_dev;
}

base::Status say(int descriptor, const std::string& file, const std::string& text)
{
    if (ftruncate(descriptor, 0) == 0 &&
        pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
        return {};
    return base::fail(base::ErrorCode::Resources, file + ": cannot be written: " + std::strerror(errno),
                      "is the disk full?", file);
}

// `leased`: to a process of another machine, as far as this one knows.
tl::unexpected<base::Error> refused(const base::Folder& folder, const std::string& holder, bool leased)
{
    return base::fail(base::ErrorCode::Input,
                      folder.path() + ": locked by " + (holder.empty() ? std::string("another run") : holder),
                      leased ? "wait for that run; if its machine is gone, the same command takes over after " +
                                   std::to_string(leaseSeconds) + " s"
                             : "wait for that run or choose another folder",
                      folder.path());
}

}  // namespace

base::Result<int> lockAlone(const base::Folder& folder, const std::string& name)
{
    for (int attempt = 1;; ++attempt) {
        const base::Result<int> file = folder.openFile(name, O_RDWR | O_CREAT);
        if (!file) return file;
        const int descriptor = *file;
        const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) == 0, same = sameFile(descriptor, folder, name);
        const std::string holder = taken && same ? otherHolder(descriptor, folder, name) : readLock(descriptor);
        if (taken && same && holder.empty()) {
            const base::Status said = say(descriptor, folder.path(name), thisProcess());
            if (said) return descriptor;
            close(descriptor);
            return base::forward(said);
        }
        close(descriptor);
        if ((taken && same) || attempt == mostAttempts) return refused(folder, holder, taken && same);
        if (!taken) std::this_thread::sleep_for(pause);
    }
}

LockAttempt tryToShare(const base::Folder& folder, const std::string& name, int shards)
{
    LockAttempt attempt;
    const base::Result<int> file = folder.openFile(name, O_RDWR | O_CREAT);
    if (!file && file.error().code == base::ErrorCode::Input) attempt.problem = file.error();
    if (!file) return attempt;
    attempt.descriptor = *file;
    const bool alone = flock(attempt.descriptor, LOCK_EX | LOCK_NB) == 0;
    const bool shared = !alone && flock(attempt.descriptor, LOCK_SH | LOCK_NB) == 0;
    attempt.holder = readLock(attempt.descriptor);
    const bool same = sameFile(attempt.descriptor, folder, name);
    if (alone && same && otherHolder(attempt.descriptor, folder, name).empty()) attempt.outcome = LockAttempt::Alone;
    else if (shared && same && attempt.holder == sharersOf(shards)) attempt.outcome = LockAttempt::Shared;
    else close(std::exchange(attempt.descriptor, -1));
    return attempt;
}

base::Result<bool> shareLock(int descriptor, const base::Folder& folder, const std::string& name, int shards)
{
    const std::string file = folder.path(name);
    if (const base::Status said = say(descriptor, file, sharersOf(shards)); !said) return base::forward(said);
    if (flock(descriptor, LOCK_SH) == 0) return sameFile(descriptor, folder, name);
    return base::fail(base::ErrorCode::Resources, file + ": cannot be shared: " + std::strerror(errno));
}

bool becomesAlone(int descriptor, const base::Folder& folder, const std::string& name)
{
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && sameFile(descriptor, folder, name);
}

bool saysThisProcess(int descriptor) { return readLock(descriptor) == thisProcess(); }

std::string sharersOf(int shards)
{
    if (shards == 0) return "the workers of another run";
    return std::to_string(shards) + (shards == 1 ? " shard" : " shards");
}

bool heldByShards(const std::string& holder) { return holder.ends_with(" shard") || holder.ends_with(" shards"); }

int tryToLock(const base::Folder& folder, const std::string& name, std::string& holder)
{
    const base::Result<int> file = folder.openFile(name, O_RDWR | O_CREAT);
    if (!file) return -1;
    holder = readLock(*file);
    if (becomesAlone(*file, folder, name) && say(*file, folder.path(name), thisProcess())) return *file;
    close(*file);
    return -1;
}

bool isLocked(const base::Folder& folder, const std::string& name)
{
    const base::Result<int> file = folder.openFile(name, O_RDONLY);
    if (!file) return false;
    const bool held = flock(*file, LOCK_SH | LOCK_NB) != 0;
    close(*file);
    return held;
}

LockHeartbeat::LockHeartbeat(int descriptor)
    : m_thread([descriptor](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any end;
          std::unique_lock lock(mutex);
          while (!end.wait_for(lock, stop, beat, [&] { return stop.stop_requested(); })) futimens(descriptor, nullptr);
      })
{}

void doubtLocks(bool doubt) { doubted = doubt; }

}  // namespace hopscope::pipeline
