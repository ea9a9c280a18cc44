#include "pipeline/files/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/folder.h"

namespace hopscope::pipeline {

namespace fs = std::filesystem;

namespace {

constexpr const char* prefix = "hopscope-engine-";
constexpr int mostAttempts = 16;

bool isOwn(const std::string& folder)
{
    struct stat found {};
    return lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid();
}

// Returns -1 where another process holds the lock, or there is none.
int takeLock(const std::string& folder, int flags)
{
    const int lock = open((folder + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
    close(lock);
    return -1;
}

// Another engine may have taken a lock that was not held yet, and removed its folder.
bool isThere(int lock)
{
    struct stat found {};
    return fstat(lock, &found) == 0 && found.st_nlink > 0;
}

void removeLeftovers(const fs::path& parent)
{
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, problem)) {
        const std::string path = entry.path().string();
        if (!entry.path().filename().string().starts_with(prefix) || !isOwn(path)) continue;
        const int lock = takeLock(path, 0);
        if (lock < 0) continue;
        base::removeFolder(path);
        close(lock);
    }
}

}  // namespace

base::Result<EngineHome> EngineHome::make()
{
    std::error_code problem;
    const fs::path parent = fs::temp_directory_path(problem);
    removeLeftovers(parent);
    for (int attempt = 0; attempt < mostAttempts; ++attempt) {
        std::string path = (parent / (std::string(prefix) + "XXXXXX")).string();
        if (mkdtemp(path.data()) == nullptr) break;
        const int lock = takeLock(path, O_CREAT);
        if (lock >= 0 && isThere(lock)) return EngineHome(path, lock);
        if (lock >= 0) close(lock);
    }
    return base::fail(base::ErrorCode::Resources,
                      parent.string() + ": cannot create a folder there: " + std::strerror(errno),
                      "set TMPDIR to a writable folder with free space");
}

EngineHome::EngineHome(std::string path, int lock)
    : m_path(std::move(path)),
      m_lock(lock),
      m_removal(std::make_unique<base::BeforeEnding>([folder = m_path] { base::removeFolder(folder); }))
{}

EngineHome::EngineHome(EngineHome&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_lock(std::exchange(other.m_lock, -1)),
      m_removal(std::move(other.m_removal))
{}

EngineHome::~EngineHome()
{
    if (m_lock < 0) return;
    base::removeFolder(m_path);
    close(m_lock);
}

}  // namespace hopscope::pipeline
