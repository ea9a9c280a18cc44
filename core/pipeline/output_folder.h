#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/result.h"
#include "executor/journal.h"
#include "pipeline/folder_lock.h"

namespace hopscope::pipeline {

// How to treat an unfinished run with a journal (run_journal.h) in a folder.
enum class Unfinished : std::uint8_t { Refuse, Continue };

// The folder of a run. While it runs, everything is under DIR/.hopscope-journal (locked against a second run); finished
// files appear under their final names in one go at the end. A failure before that leaves nothing behind, not even the
// folder if it was created here, unless a journal is kept. No link below the folder is followed: another user may have
// planted it.
class OutputFolder {
public:
    // Input: a file is in the way, the folder cannot be made or written, another run holds it ("locked by pid 12 on host"),
    // it has an unfinished run with a journal, or the journal contains links instead of files. The lock of a process
    // that has ended is taken over, and its files are removed, except for a journal. If it was killed while it renamed
    // its results, this is completed now.
    static base::Result<OutputFolder> open(const std::string& path, Unfinished unfinished = Unfinished::Refuse);
    // Opens the folder for one of several processes that compute a run together; index 0 takes the first shard that has
    // not been taken yet. Waits while another process publishes the results of the run. Also fails with Input if a run
    // without shards or with a different number of them holds the folder, or if this shard is already running.
    static base::Result<OutputFolder> openShared(const std::string& path, const executor::Share& share,
                                                 const std::stop_token& stop);
    OutputFolder(OutputFolder&& other) noexcept;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();

    // Does the work of the destructor in advance.
    void abandon();
    // From now on a thread shows processes on other machines that the run holding the folder alone is alive. A run has
    // to start it within the time after which they would take the folder over (folder_lock.h).
    void showLife();
    // The folder in which the destructor removes folders that were made here.
    [[nodiscard]] std::string around() const;

    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::string journal() const;
    // The share of this process in a shared folder, and the file that shard `index` locks while it runs.
    [[nodiscard]] const std::optional<executor::Share>& share() const { return m_share; }
    [[nodiscard]] static std::string shardLock(const std::string& index);
    // The folder itself; inJournal() gives the names of journal files relative to it.
    [[nodiscard]] const base::Folder& root() const { return *m_root; }
    [[nodiscard]] static std::string inJournal(const std::string& name);
    // Waits until no other shard uses the folder, and keeps others out until the end of this object. False if another one
    // does so. Cancelled.
    base::Result<bool> isolate(const std::stop_token& stop);
    // Makes publish() rename `file`, which is in the journal, to `name` in the folder.
    void add(const std::string& file, const std::string& name);
    // Renames in the order of add() and removes the journal. Once the list of files is on the disk, the next open()
    // completes the renames if this process does not.
    base::Status publish();
    // From now on the journal is kept if nothing is published.
    void keepJournal() { m_keep = true; }
    [[nodiscard]] bool keepsJournal() const { return m_keep; }
    // Whether open() has made the results of an earlier process appear.
    [[nodiscard]] bool completed() const { return m_completed; }

private:
    struct Move {
        std::string file, name;
    };
    explicit OutputFolder(std::string path) : m_path(std::move(path)) {}
    base::Status createFolders();
    int makeFolders();
    base::Status openRoot();
    // What can be resumed: nothing, a run, or a run in shards.
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
    std::vector<std::string> m_created;  // folders made here, outermost first
    std::vector<Move> m_moves;
    std::optional<executor::Share> m_share;
    int m_lock = -1, m_shardLock = -1, m_publishLock = -1;
    std::optional<LockHeartbeat> m_beat;  // ends before the lock is given back
    bool m_published = false, m_keep = false, m_completed = false;
};

// The file of the records in the journal (run_journal.h); that of shard 2 is "chunks-2".
inline constexpr const char* chunksName = "chunks";

// "out" -> "out", "out.user/x" -> "out.user%2Fx": the name of an output as a file name without extension.
std::string outputFileName(const std::string& output);

}  // namespace hopscope::pipeline
