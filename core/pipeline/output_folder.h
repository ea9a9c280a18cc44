#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::pipeline {

// The folder of a run. While it runs, everything is under DIR/.hopscope-journal (locked against a second run); finished
// files appear under their final names in one go at the end. Whatever happens before that leaves nothing behind, the
// folder itself included if it was made here.
class OutputFolder {
public:
    // Input: a file is in the way, or the folder cannot be made or written, or another run holds it ("locked by pid 12
    // on host"). The lock of a process that is gone is taken over and its leavings are removed.
    static base::Result<OutputFolder> open(const std::string& path);
    OutputFolder(OutputFolder&& other) noexcept;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();

    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::string journal() const;
    // To be renamed to `name` in the folder by publish(). `file` is in the journal.
    void add(const std::string& file, const std::string& name);
    // Renames in the order of add() and removes the journal.
    base::Status publish();

private:
    struct Move {
        std::string file, name;
    };
    explicit OutputFolder(std::string path) : m_path(std::move(path)) {}
    base::Status createFolders();
    base::Status lock();
    void removeJournal();

    std::string m_path;
    std::vector<std::string> m_created;  // folders made here, outermost first
    std::vector<Move> m_moves;
    int m_lock = -1;
    bool m_published = false;
};

// "out" -> "out", "out.user/x" -> "out.user%2Fx": the name of an output as a file name without extension.
std::string outputFileName(const std::string& output);

}  // namespace hopscope::pipeline
