#include "pipeline/files/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

#include "graph/file.h"
#include "pipeline/files/text_file.h"

namespace hopscope::pipeline {

namespace fs = std::filesystem;

namespace {

constexpr const char* journalName = ".hopscope-journal";
constexpr const char* lockName = "lock";
constexpr const char* madeName = "made";        // the folder was made for this run in shards
constexpr const char* publishName = "publish";  // locked by the shard that makes the results appear
constexpr std::chrono::milliseconds pause(50);
constexpr int mostWorkers = 100'000;        // one after the other
constexpr int mostAttempts = 40;            // at a lock that another process may just be writing
constexpr const char* movesName = "moves";  // files that are about to appear: "FILE NAME" in each line

tl::unexpected<base::Error> refuse(const std::string& path, const std::string& what, const std::string& hint)
{
    return base::fail(base::ErrorCode::Input, path + ": " + what, hint, path);
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

base::Result<OutputFolder> OutputFolder::openShared(const std::string& path, const executor::Share& share,
                                                    const std::stop_token& stop)
{
    OutputFolder folder(fs::absolute(path).lexically_normal().string());
    folder.m_share = share;
    if (const base::Status locked = folder.lockTogether(stop); !locked) return base::forward(locked);
    if (const base::Status noted = folder.noteCreation(); !noted) return base::forward(noted);
    if (const base::Status placed = folder.takePlace(); !placed) return base::forward(placed);
    return folder;
}

bool OutputFolder::take(int index, std::string& holder)
{
    m_shardLock = tryToLock(*m_root, shardLock(std::to_string(index)), holder);
    if (m_shardLock >= 0) m_share->index = index;
    return m_shardLock >= 0;
}

base::Status OutputFolder::takePlace()
{
    const executor::Share share = *m_share;
    std::string holder;
    if (share.index == 0) {
        std::error_code problem;
        for (int index = 1; index <= mostWorkers; ++index)  // records of others stay theirs
            if (!fs::exists(journal() + "/" + chunksName + "-" + std::to_string(index), problem) && take(index, holder))
                return {};
        return refuse(m_path, "was used by " + std::to_string(mostWorkers) + " workers",
                      "--shard 1/1 finishes the run");
    }
    for (int attempt = 0; attempt < 10;
         ++attempt, std::this_thread::sleep_for(pause))  // others look whether it is locked
        if (take(share.index, holder)) return {};
    return refuse(m_path,
                  "shard " + std::to_string(share.index) + " of " + std::to_string(share.count) +
                      " is running already" + (holder.empty() ? "" : ": " + holder),
                  "each shard may run only once at a time");
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_root(std::move(other.m_root)),
      m_created(std::move(other.m_created)),
      m_moves(std::move(other.m_moves)),
      m_share(other.m_share),
      m_lock(std::exchange(other.m_lock, -1)),
      m_shardLock(std::exchange(other.m_shardLock, -1)),
      m_publishLock(std::exchange(other.m_publishLock, -1)),
      m_beat(std::move(other.m_beat)),
      m_published(other.m_published),
      m_keep(other.m_keep),
      m_completed(other.m_completed)
{
    other.m_created.clear();
}

std::string OutputFolder::around() const
{
    return fs::path(m_created.empty() ? m_path : m_created.front()).parent_path().string();
}

OutputFolder::~OutputFolder() { abandon(); }

void OutputFolder::abandon()
{
    if (m_share) leaveOthers();
    else if (m_lock >= 0 && m_keep) leave();
    else if (m_lock >= 0) removeJournal();
    if (m_published) return;
    // rmdir() removes empty folders only: files that others have put there in the meantime stay.
    for (auto folder = m_created.rbegin(); folder != m_created.rend(); ++folder) rmdir(folder->c_str());
    m_created.clear();
}

std::string OutputFolder::journal() const { return (fs::path(m_path) / journalName).string(); }

std::string OutputFolder::inJournal(const std::string& name) { return std::string(journalName) + "/" + name; }

base::Status OutputFolder::createFolders()
{
    std::error_code problem;
    const fs::file_status there = fs::status(m_path, problem);  // once: the last shard to leave may be removing it
    if (fs::exists(there) && !fs::is_directory(there))
        return refuse(m_path, "is a file, not a folder", "choose another folder");
    int failure = ENOENT;  // also where the last shard to leave removes a folder under this one
    for (int attempt = 0; failure == ENOENT && attempt < mostAttempts; ++attempt) {
        failure = makeFolders();
        if (failure != 0) continue;
        base::Status opened = openRoot();
        if (opened || opened.error().code == base::ErrorCode::Input) return opened;
        failure = ENOENT;
    }
    return refuse(m_path, std::string("cannot be created or written: ") + std::strerror(failure),
                  "choose another folder");
}

// 0, or the errno of the folder that cannot be made.
int OutputFolder::makeFolders()
{
    fs::path folder;
    std::error_code problem;
    for (const fs::path& part : fs::path(journal())) {
        folder /= part;
        if (fs::is_directory(folder, problem)) continue;
        if (mkdir(folder.c_str(), 0777) == 0) m_created.push_back(folder.string());
        else if (errno != EEXIST) return errno;
    }
    return 0;
}

// Opens the folder, which exists. Input: the journal is not a folder itself, but a link or a file.
base::Status OutputFolder::openRoot()
{
    base::Result<base::Folder> root = base::Folder::open(m_path);
    if (!root) return base::fail(base::ErrorCode::Resources, root.error().message);
    m_root = std::move(*root);
    const base::Result<base::Folder> journal = m_root->below(journalName);
    return journal ? base::Status() : base::Status(base::forward(journal));
}

base::Status OutputFolder::lock()
{
    const base::Result<int> descriptor = lockAlone(*m_root, inJournal(lockName));
    if (!descriptor) return base::forward(descriptor);
    m_lock = *descriptor;
    return {};
}

void OutputFolder::showLife()
{
    if (m_lock >= 0 && !m_share && !m_beat) m_beat.emplace(m_lock);
}

std::string OutputFolder::shardLock(const std::string& index) { return inJournal(std::string(lockName) + "-" + index); }

// The first shard puts the folder in order. False if another one has removed the lock meanwhile. A shard that leaves
// may have recorded that the folder was made for this run; the record is then written again.
base::Result<bool> OutputFolder::letOthersIn(const std::string& file)
{
    std::error_code problem;
    if (fs::exists(journal() + "/" + madeName, problem)) m_created.insert(m_created.begin(), m_path);
    if (const base::Status cleared = clear(Unfinished::Continue); !cleared) return base::forward(cleared);
    return shareLock(m_lock, *m_root, file, m_share->count);
}

// The process that makes the results appear holds the lock alone until they have appeared.
base::Status OutputFolder::lockTogether(const std::stop_token& stop)
{
    const int shards = m_share->count;
    for (int attempt = 0; !stop.stop_requested(); std::this_thread::sleep_for(pause)) {
        if (const base::Status made = createFolders(); !made) return made;
        const std::string file = inJournal(lockName);
        LockAttempt tried = tryToShare(*m_root, file, shards);
        if (tried.problem) return tl::unexpected(*tried.problem);
        m_lock = tried.descriptor;
        if (tried.outcome == LockAttempt::Shared) return {};
        if (tried.outcome == LockAttempt::Alone) {
            const base::Result<bool> shared = letOthersIn(file);
            if (!shared) return base::forward(shared);
            if (*shared) return {};
            close(std::exchange(m_lock, -1));
            continue;
        }
        const bool same = tried.holder == sharersOf(shards);
        if (!same && ++attempt > mostAttempts)
            return refuse(m_path, "locked by " + (tried.holder.empty() ? std::string("another run") : tried.holder),
                          heldByShards(tried.holder)
                              ? "use the same N in --shard I/N for all shards of a run, or choose another folder"
                              : "wait for that run or choose another folder");
    }
    return base::fail(base::ErrorCode::Cancelled, "cancelled");
}

// Records that the run made the folder, for the last process to leave: its maker need not be the first to lock it.
base::Status OutputFolder::noteCreation() const
{
    if (std::ranges::find(m_created, m_path) == m_created.end()) return {};
    return writeTextFile("", journal() + "/" + madeName);
}

base::Status OutputFolder::clear(Unfinished unfinished)
{
    std::error_code problem;
    m_keep = true;  // an error here must not delete results
    if (fs::exists(journal() + "/" + movesName, problem))
        if (const base::Status finished = finishMoves(); !finished) return finished;
    const Left left = whatIsLeft();
    if (left != Left::Nothing)
        if (const base::Status own = onlyOwnFiles(); !own) return own;
    if (m_share ? left == Left::Run
                : left != Left::Nothing && (left == Left::Shards || unfinished == Unfinished::Refuse))
        return refuse(m_path,
                      left == Left::Shards ? "holds a run in shards that was not finished"
                                           : "holds a run that was not finished",
                      std::string(left == Left::Shards ? "--shard, or hopscope-scale," : "--resume") +
                          " continues it; to start over, remove " + journal());
    m_keep = false;
    if (left == Left::Nothing) removeLeavings();
    return {};
}

OutputFolder::Left OutputFolder::whatIsLeft() const
{
    Left left = Left::Nothing;
    std::error_code problem;
    if (fs::exists(journal() + "/" + movesName, problem)) return Left::Run;
    for (const fs::directory_entry& entry : fs::directory_iterator(journal(), problem)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(chunksName) || fs::file_size(entry.path(), problem) == 0 || problem) continue;
        left = name == chunksName ? Left::Run : Left::Shards;
    }
    return left;
}

base::Result<bool> OutputFolder::isolate(const std::stop_token& stop)
{
    std::string holder;
    m_publishLock = tryToLock(*m_root, inJournal(publishName), holder);
    if (m_publishLock < 0) return false;
    while (flock(m_lock, LOCK_EX | LOCK_NB) != 0) {
        if (stop.stop_requested()) return base::fail(base::ErrorCode::Cancelled, "cancelled");
        std::this_thread::sleep_for(pause);
    }
    return true;
}

// Checks that names in the journal, which another user may have written, lead to no files elsewhere.
base::Status OutputFolder::onlyOwnFiles() const
{
    const base::Result<base::Folder> journal = m_root->below(journalName);
    return journal ? journal->onlyOwnFiles() : base::Status(base::forward(journal));
}

// Files that have not appeared under their final names yet are still in the journal.
base::Result<std::vector<OutputFolder::Move>> OutputFolder::listedMoves() const
{
    const base::Result<std::string> text = readText(journal() + "/" + movesName);
    if (!text) return base::forward(text);
    std::vector<Move> moves;
    std::istringstream lines(*text);
    for (std::string file, name; lines >> file >> name;) {
        if (!base::isPlainName(file) || !base::isPlainName(name))
            return refuse(m_path, "the list of results to publish names a file outside of the folder",
                          "to start over, remove " + journal());
        if (fs::exists(journal() + "/" + file)) moves.push_back({file, name});
    }
    return moves;
}

base::Status OutputFolder::finishMoves()
{
    if (const base::Status own = onlyOwnFiles(); !own) return own;
    const base::Result<std::vector<Move>> moves = listedMoves();
    if (!moves) return base::forward(moves);
    if (const base::Status renamed = rename(*moves); !renamed) return renamed;
    removeLeavings();
    m_completed = true;
    return {};
}

void OutputFolder::add(const std::string& file, const std::string& name)
{
    m_moves.push_back({fs::path(file).filename().string(), name});
}

base::Status OutputFolder::publish()
{
    std::string list;
    for (const Move& move : m_moves) list += move.file + " " + move.name + "\n";
    if (!m_share && !saysThisProcess(m_lock))
        return refuse(m_path, "another process has taken over this run",
                      "its results appear when that process has finished");
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
    for (const Move& move : moves)
        if (const base::Status done = m_root->rename(inJournal(move.file), move.name); !done) return done;
    return graph::syncFolder(m_path);
}

// The run may be resumed on another machine.
void OutputFolder::leave()
{
    m_beat.reset();
    if (ftruncate(m_lock, 0) != 0) errno = 0;  // then this machine has to
    close(std::exchange(m_lock, -1));
}

// Another shard has started in the folder before it could be removed: that shard has to remove it.
bool OutputFolder::joinAgain()
{
    std::error_code problem;
    for (int attempt = 0; attempt < mostAttempts && fs::exists(journal(), problem); ++attempt) {
        if (openRoot()) m_lock = tryToShare(*m_root, inJournal(lockName), m_share->count).descriptor;
        if (m_lock >= 0) return writeTextFile("", journal() + "/" + madeName).has_value();
        std::this_thread::sleep_for(pause);
    }
    return false;
}

// The last process to leave removes a journal that cannot be resumed.
void OutputFolder::leaveOthers()
{
    const bool last = m_lock >= 0 && !m_published && becomesAlone(m_lock, *m_root, inJournal(lockName));
    if (last && whatIsLeft() == Left::Nothing) {
        std::error_code problem;
        const bool made = fs::exists(journal() + "/" + madeName, problem);
        removeJournal();
        for (int attempt = 0; made && attempt < 5 && rmdir(m_path.c_str()) != 0 && errno != ENOENT; ++attempt)
            if (joinAgain()) return leaveOthers();
    }
    for (int* const descriptor : {&m_shardLock, &m_publishLock, &m_lock})
        if (*descriptor >= 0) close(std::exchange(*descriptor, -1));
}

// The list of moves goes last: a process that is killed here has its results, and the next one removes the rest.
void OutputFolder::removeLeavings()
{
    const base::Result<base::Folder> journal = m_root->below(journalName);
    if (!journal) return;
    for (const std::string& name : journal->names())
        if (name != lockName && name != movesName) journal->remove(name);
    journal->remove(movesName);
}

// The lock goes last, so that a second run never meets the leavings of this one.
void OutputFolder::removeJournal()
{
    if (m_lock < 0) return;
    removeLeavings();
    m_root->remove(inJournal(lockName));
    rmdir(journal().c_str());
    m_beat.reset();
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
