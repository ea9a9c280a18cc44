#pragma once

// Files of the user that a run reads while others may write to them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "base/result.h"

namespace hopscope::graph {

// The identity of the file that a path names, and the time of its last change. Another file under the same path has
// another stamp.
struct FileStamp {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, modified = 0;  // nanoseconds

    static FileStamp of(const struct stat& facts);
    static std::optional<FileStamp> of(const std::string& path);
    bool operator==(const FileStamp&) const = default;
};

// Used by mapFile(): the addresses of mapped files. Thread-safe.
void noteMapping(const void* begin, std::int64_t size, const std::string& path, const FileStamp& stamp);
void forgetMapping(const void* begin);

class GivenFiles {
public:
    // To be called before the file is read. Missing files are ignored.
    void add(const std::string& path);
    // Adds the file that is mapped at this address, as it was when it was mapped, if there is one.
    void addMapped(const void* address);
    // Input: one of them, other than `but`, has changed.
    [[nodiscard]] base::Status unchanged(const std::vector<std::string>& but = {}) const;

private:
    struct Given {
        std::string path;
        FileStamp stamp;
    };
    std::vector<Given> m_files;
};

// From now on, if a mapped file is cut short while it is read, the process ends with the exit code of Input and a line
// that names the file, instead of by SIGBUS.
void explainCutFiles();

}  // namespace hopscope::graph
