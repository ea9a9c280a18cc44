#include "pipeline/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "graph/file.h"
#include "pipeline/text_file.h"

namespace hopscope::pipeline {

namespace fs = std::filesystem;

namespace {

constexpr const char* journalName = ".hopscope-journal";
constexpr const char* lockName = "lock";
constexpr const char* movesName = "moves";  // files that are about to appear: "FILE NAME" in each line

tl::unexpected<base::Error> refuse(const std::string& path, const std::string& what, const std::string& hint)
{
    return base::fail(base::ErrorCode::Input, path + ": " + what, hint, path);
}

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
std::string holder() { return "pid " + std::to_string(getpid()) + " on " + hostName(); }

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

base::Result<int> takeLock(const std::string& folder, const std::string& file)
{
    for (int attempt = 0; attempt < 10; ++attempt) {
        const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (descriptor < 0)
            return refuse(folder, std::string("cannot be written: ") + std::strerror(errno), "choose another folder");
        const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
        const std::string before = readLock(descriptor);
        if (taken && sameFile(descriptor, file) && !heldByOtherHost(before)) return descriptor;
        const bool lost = taken && !sameFile(descriptor, file);
        close(descriptor);
        if (!lost)
            return refuse(folder, "locked by " + (before.empty() ? std::string("another run") : before),
                          "wait for that run or choose another folder; if that machine no longer exists, remove " +
                              file);
    }
    return refuse(folder, "locked by another run", "choose another folder");
}

bool unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::strchr("-_.~", c) != nullptr;
}

}  // namespace

base::Result<OutputFolder> OutputFolder::open(const std::string& path, Unfinished unfinished)
{
    OutputFolder folder(fs::absolute(path).lexically_normal().string());
    if (const base::Status made = folder.createFolders(); !made) return base::forward(made);
    if (const base::Status locked = folder.lock(); !locked) return base::forward(locked);
    if (const base::Status cleared = folder.clear(unfinished); !cleared) return base::forward(cleared);
    return folder;
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_created(std::move(other.m_created)),
      m_moves(std::move(other.m_moves)),
      m_lock(std::exchange(other.m_lock, -1)),
      m_published(other.m_published),
      m_keep(other.m_keep),
      m_completed(other.m_completed)
{
    other.m_created.clear();
}

OutputFolder::~OutputFolder()
{
    if (m_lock >= 0 && m_keep) leave();
    else if (m_lock >= 0) removeJournal();
    if (m_published) return;
    // Only where empty: what somebody else put there meanwhile stays.
    for (auto folder = m_created.rbegin(); folder != m_created.rend(); ++folder) rmdir(folder->c_str());
}

std::string OutputFolder::journal() const { return (fs::path(m_path) / journalName).string(); }

base::Status OutputFolder::createFolders()
{
    std::error_code problem;
    if (fs::exists(m_path, problem) && !fs::is_directory(m_path, problem))
        return refuse(m_path, "is a file, not a folder", "choose another folder with -o");
    fs::path folder;
    for (const fs::path& part : fs::path(journal())) {
        folder /= part;
        if (fs::is_directory(folder, problem)) continue;
        if (mkdir(folder.c_str(), 0777) == 0) m_created.push_back(folder.string());
        else if (errno != EEXIST)
            return refuse(m_path, std::string("cannot be created or written: ") + std::strerror(errno),
                          "choose another folder with -o");
    }
    return {};
}

base::Status OutputFolder::lock()
{
    const base::Result<int> descriptor = takeLock(m_path, journal() + "/" + lockName);
    if (!descriptor) return base::forward(descriptor);
    m_lock = *descriptor;
    const std::string text = holder();
    const bool written =
        ftruncate(m_lock, 0) == 0 && pwrite(m_lock, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
    if (!written) return refuse(m_path, std::string("cannot be written: ") + std::strerror(errno), "is the disk full?");
    return {};
}

base::Status OutputFolder::clear(Unfinished unfinished)
{
    std::error_code problem;
    m_keep = true;  // what goes wrong here must not cost anybody his results
    if (fs::exists(journal() + "/" + movesName, problem))
        if (const base::Status finished = finishMoves(); !finished) return finished;
    const auto size = fs::file_size(journal() + "/" + chunksName, problem);
    const bool left = !problem && size > 0;
    if (left && unfinished == Unfinished::Refuse)
        return refuse(m_path, "holds a run that was not finished",
                      "--resume goes on with it; to begin anew, remove " + journal());
    m_keep = false;
    if (!left) removeLeavings();
    return {};
}

// What has not appeared yet is still in the journal.
base::Status OutputFolder::finishMoves()
{
    const base::Result<std::string> text = readText(journal() + "/" + movesName);
    if (!text) return base::forward(text);
    std::vector<Move> moves;
    std::istringstream lines(*text);
    for (std::string file, name; lines >> file >> name;) {
        const std::string source = journal() + "/" + file;
        if (fs::exists(source)) moves.push_back({source, name});
    }
    if (const base::Status renamed = rename(moves); !renamed) return renamed;
    removeLeavings();
    m_completed = true;
    return {};
}

void OutputFolder::add(const std::string& file, const std::string& name) { m_moves.push_back({file, name}); }

base::Status OutputFolder::publish()
{
    std::string list;
    for (const Move& move : m_moves) list += fs::path(move.file).filename().string() + " " + move.name + "\n";
    if (const base::Status listed = writeTextFile(list, journal() + "/" + movesName); !listed) return listed;
    if (const base::Status synced = graph::syncFolder(journal()); !synced) return synced;
    if (const base::Status renamed = rename(m_moves); !renamed) {
        fs::remove(journal() + "/" + movesName);
        return renamed;
    }
    m_published = true;
    removeJournal();
    return {};
}

base::Status OutputFolder::rename(const std::vector<Move>& moves)
{
    for (const Move& move : moves) {
        const std::string target = (fs::path(m_path) / move.name).string();
        if (std::rename(move.file.c_str(), target.c_str()) != 0)
            return base::fail(base::ErrorCode::Resources, target + ": cannot be written: " + std::strerror(errno),
                              "does something else with this name exist?", target);
    }
    return graph::syncFolder(m_path);
}

// Whoever goes on may do that on another machine.
void OutputFolder::leave()
{
    if (ftruncate(m_lock, 0) != 0) errno = 0;  // then this machine has to
    close(std::exchange(m_lock, -1));
}

void OutputFolder::removeLeavings()
{
    std::error_code problem;
    for (const fs::directory_entry& left : fs::directory_iterator(journal(), problem))
        if (left.path().filename() != lockName) fs::remove_all(left.path(), problem);
}

// The lock goes last, so that a second run never meets the leavings of this one.
void OutputFolder::removeJournal()
{
    if (m_lock < 0) return;
    removeLeavings();
    std::error_code problem;
    fs::remove(fs::path(journal()) / lockName, problem);
    fs::remove(journal(), problem);
    close(std::exchange(m_lock, -1));
}

std::string outputFileName(const std::string& output)
{
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string name;
    for (const char c : output) {
        const auto byte = static_cast<unsigned char>(c);
        if (unreserved(c)) name += c;
        else (name += '%').append({digits[byte >> 4], digits[byte & 15]});
    }
    return name;
}

}  // namespace hopscope::pipeline
