#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/result.h"
#include "executor/journal.h"
#include "pipeline/files/folder_lock.h"

namespace hopscope::pipeline {

// How to handle an unfinished run with a journal (run_journal.h) in a folder.
enum class Unfinished : std::uint8_t { Refuse, Continue };

// The output folder of a run. While it runs, all files are in DIR/.hopscope-journal, which is locked against a second
// run. At the end, all files get their final names together. A failure before that leaves no files, and no folder that
// was created here, unless a journal is kept. Links below the folder are not followed, since they may be another
// user's.
class OutputFolder {
public:
    // Opens the folder and locks it. Takes over the lock of a process that has ended, and removes its files except for
    // a journal. If that process was killed while it renamed its results, completes the renames. Fails with Input if
    // the path is a file, or the folder cannot be created or written to. Also fails with Input if another run holds the
    // folder ("locked by pid 12 on host"), or if the journal contains links. A journal of an unfinished run is refused
    // as well, unless `unfinished` is Continue and the run has no shards.
    static base::Result<OutputFolder> open(const std::string& path, Unfinished unfinished = Unfinished::Refuse);
    // Opens the folder for one of several processes that compute a run together; index 0 stands for the first index
    // that no process of the run has used yet. Waits while another process publishes the results. Fails with Cancelled,
    // and as open() does. Also fails with Input if a run without shards or with a different number of them holds the
    // folder, or if this shard is already running.
    static base::Result<OutputFolder> openShared(const std::string& path, const executor::Share& share,
                                                 const std::stop_token& stop);
    OutputFolder(OutputFolder&& other) noexcept;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();

    // Unlocks the folder, and removes unfinished files unless a journal is kept. In a shared folder, only the last
    // process removes them, unless there are records to resume from. The destructor does the same.
    void abandon();
    // Starts a thread with the heartbeat of a run that holds the folder alone, for processes on other machines. Without
    // the heartbeat, these processes take the folder over after some time (folder_lock.h).
    void showLife();
    // Returns the parent of the outermost folder that was created here, or of path() if none was.
    [[nodiscard]] std::string around() const;

    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::string journal() const;
    // Returns the share of this process in a shared folder.
    [[nodiscard]] const std::optional<executor::Share>& share() const { return m_share; }
    // Returns the name, relative to root(), of the file that shard `index` locks while it runs.
    [[nodiscard]] static std::string shardLock(const std::string& index);
    [[nodiscard]] const base::Folder& root() const { return *m_root; }
    // Returns the name of a file of the journal relative to root().
    [[nodiscard]] static std::string inJournal(const std::string& name);
    // Waits until no other shard uses the folder, and excludes others while this object exists. Returns false if
    // another shard has done so first. Fails with Cancelled.
    base::Result<bool> isolate(const std::stop_token& stop);
    // Adds a file of the journal, which publish() renames to `name` in the folder.
    void add(const std::string& file, const std::string& name);
    // Renames the files in the order of add() and removes the journal. If this process is killed once the list of files
    // is on disk, the next process that opens the folder completes the renames. Fails with Input if another process has
    // taken over the folder.
    base::Status publish();
    // Keeps the journal if nothing is published.
    void keepJournal() { m_keep = true; }
    [[nodiscard]] bool keepsJournal() const { return m_keep; }
    // Whether opening the folder has completed the renames of an earlier process.
    [[nodiscard]] bool completed() const { return m_completed; }

private:
    struct Move {
        std::string file, name;
    };
    explicit OutputFolder(std::string path) : m_path(std::move(path)) {}
    base::Status createFolders();
    int makeFolders();
    base::Status openRoot();
    // The kind of run that can be resumed, if any.
    enum class Left : std::uint8_t { Nothing, Run, Shards };
    base::Status lock();
    base::Result<bool> letOthersIn(const std::string& file);
    base::Status lockTogether(const std::stop_token& stop);
    base::Status takePlace();
    bool take(int index, std::string& holder);
    [[nodiscard]] base::Status noteCreation() const;
    [[nodiscard]] Left whatIsLeft() const;
    bool joinAgain();
    void leaveOthers();
    base::Status clear(Unfinished unfinished);
    base::Status rename(const std::vector<Move>& moves);
    [[nodiscard]] base::Result<std::vector<Move>> listedMoves() const;
    [[nodiscard]] base::Status onlyOwnFiles() const;
    base::Status finishMoves();
    void removeLeavings();
    void removeJournal();
    void leave();

    std::string m_path;
    std::optional<base::Folder> m_root;
    std::vector<std::string> m_created;  // folders created here, outermost first
    std::vector<Move> m_moves;
    std::optional<executor::Share> m_share;
    int m_lock = -1, m_shardLock = -1, m_publishLock = -1;
    std::optional<LockHeartbeat> m_beat;  // ends before the lock is released
    bool m_published = false, m_keep = false, m_completed = false;
};

// The name of the file of records in the journal (run_journal.h); that of shard 2 is "chunks-2".
inline constexpr const char* chunksName = "chunks";

// Converts the name of an output to a file name without extension: "out" to "out", "out.user/x" to "out.user%2Fx".
std::string outputFileName(const std::string& output);

}  // namespace hopscope::pipeline
