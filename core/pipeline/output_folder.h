#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::pipeline {

// What to do about a run with a journal (run_journal.h) that has not been finished in a folder.
enum class Unfinished : std::uint8_t { Refuse, Continue };

// The folder of a run. While it runs, everything is under DIR/.hopscope-journal (locked against a second run); finished
// files appear under their final names in one go at the end. Whatever happens before that leaves nothing behind, the
// folder itself included if it was made here, unless a journal is kept.
class OutputFolder {
public:
    // Input: a file is in the way, or the folder cannot be made or written, or another run holds it ("locked by pid 12
    // on host"), or it has an unfinished run with a journal. The lock of a process that is gone is taken over and its
    // leavings are removed, except for a journal. If it was killed while its results were appearing, they are made to
    // appear now.
    static base::Result<OutputFolder> open(const std::string& path, Unfinished unfinished = Unfinished::Refuse);
    OutputFolder(OutputFolder&& other) noexcept;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();

    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::string journal() const;
    // To be renamed to `name` in the folder by publish(). `file` is in the journal.
    void add(const std::string& file, const std::string& name);
    // Renames in the order of add() and removes the journal. From the moment at which the list of files is on the disk,
    // the next open() finishes what this process may not.
    base::Status publish();
    // From now on the journal stays if nothing is published.
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
    base::Status lock();
    base::Status clear(Unfinished unfinished);
    base::Status rename(const std::vector<Move>& moves);
    base::Status finishMoves();
    void removeLeavings();
    void removeJournal();
    void leave();

    std::string m_path;
    std::vector<std::string> m_created;  // folders made here, outermost first
    std::vector<Move> m_moves;
    int m_lock = -1;
    bool m_published = false, m_keep = false, m_completed = false;
};

// In the journal: its records (run_journal.h).
inline constexpr const char* chunksName = "chunks";

// "out" -> "out", "out.user/x" -> "out.user%2Fx": the name of an output as a file name without extension.
std::string outputFileName(const std::string& output);

}  // namespace hopscope::pipeline
