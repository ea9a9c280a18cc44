#include "pipeline/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hopscope::pipeline {

namespace {

constexpr const char* shardsWord = " shards";

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

// "pid 12 on host": what a lock file says.
std::string thisProcess() { return "pid " + std::to_string(getpid()) + " on " + hostName(); }

bool heldByOtherHost(const std::string& text)
{
    const std::size_t at = text.find(" on ");
    return at != std::string::npos && text.substr(at + 4) != hostName();
}

// Whether `descriptor` is still the file at `path`: its owner may have removed it while we were waiting.
bool sameFile(int descriptor, const std::string& path)
{
    struct stat opened {
    }, found{};
    return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &found) == 0 && opened.st_ino == found.st_ino &&
           opened.st_dev == found.st_dev;
}

base::Status say(int descriptor, const std::string& file, const std::string& text)
{
    if (ftruncate(descriptor, 0) == 0 &&
        pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
        return {};
    return base::fail(base::ErrorCode::Resources, file + ": cannot be written: " + std::strerror(errno),
                      "is the disk full?", file);
}

}  // namespace

base::Result<int> lockAlone(const std::string& folder, const std::string& file)
{
    for (int attempt = 0; attempt < 10; ++attempt) {
        const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (descriptor < 0)
            return base::fail(base::ErrorCode::Input, folder + ": cannot be written: " + std::strerror(errno),
                              "choose another folder", folder);
        const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) == 0, same = sameFile(descriptor, file);
        const std::string before = readLock(descriptor);
        if (taken && same && !heldByOtherHost(before)) {
            const base::Status said = say(descriptor, file, thisProcess());
            if (said) return descriptor;
            close(descriptor);
            return base::forward(said);
        }
        close(descriptor);
        if (taken && !same) continue;
        return base::fail(
            base::ErrorCode::Input, folder + ": locked by " + (before.empty() ? std::string("another run") : before),
            "wait for that run or choose another folder; if that machine no longer exists, remove " + file, folder);
    }
    return base::fail(base::ErrorCode::Input, folder + ": locked by another run", "choose another folder", folder);
}

LockAttempt tryToShare(const std::string& file, int shards)
{
    LockAttempt attempt;
    attempt.descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (attempt.descriptor < 0) return attempt;
    const bool alone = flock(attempt.descriptor, LOCK_EX | LOCK_NB) == 0;
    const bool shared = !alone && flock(attempt.descriptor, LOCK_SH | LOCK_NB) == 0;
    attempt.holder = readLock(attempt.descriptor);
    const bool same = sameFile(attempt.descriptor, file);
    if (alone && same && !heldByOtherHost(attempt.holder)) attempt.outcome = LockAttempt::Alone;
    else if (shared && same && attempt.holder == sharersOf(shards)) attempt.outcome = LockAttempt::Shared;
    else close(std::exchange(attempt.descriptor, -1));
    return attempt;
}

base::Result<bool> shareLock(int descriptor, const std::string& file, int shards)
{
    if (const base::Status said = say(descriptor, file, sharersOf(shards)); !said) return base::forward(said);
    if (flock(descriptor, LOCK_SH) == 0) return sameFile(descriptor, file);
    return base::fail(base::ErrorCode::Resources, file + ": cannot be shared: " + std::strerror(errno));
}

bool becomesAlone(int descriptor, const std::string& file)
{
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && sameFile(descriptor, file);
}

std::string sharersOf(int shards)
{
    return shards == 0 ? std::string("the workers of another run") : std::to_string(shards) + shardsWord;
}

bool heldByShards(const std::string& holder)
{
    const std::string word = shardsWord;
    return holder.size() > word.size() && holder.compare(holder.size() - word.size(), word.size(), word) == 0;
}

int tryToLock(const std::string& file, std::string& holder)
{
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return -1;
    holder = readLock(descriptor);
    if (becomesAlone(descriptor, file) && say(descriptor, file, thisProcess())) return descriptor;
    close(descriptor);
    return -1;
}

bool isLocked(const std::string& file)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    close(descriptor);
    return held;
}

}  // namespace hopscope::pipeline
