#pragma once

// Detects changes of the user's files while a run reads them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "base/result.h"

namespace hopscope::graph {

// The identity and size of the file at a path, and the time of its last change.
struct FileStamp {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, modified = 0;  // nanoseconds

    static FileStamp of(const struct stat& facts);
    static std::optional<FileStamp> of(const std::string& path);
    bool operator==(const FileStamp&) const = default;
};

// Record the address of a mapped file, and forget it. Called by mapFile(). Thread-safe.
void noteMapping(const void* begin, std::int64_t size, const std::string& path, const FileStamp& stamp);
void forgetMapping(const void* begin);

// A mapped file in the state in which it was mapped, and the offset of an address in it.
struct MappedPlace {
    std::string path;
    std::int64_t offset = 0;
    FileStamp stamp;
};

// Returns where the byte at an address lies in a file that was mapped with mapFile(); nullopt if it lies in none.
std::optional<MappedPlace> mappedPlace(const void* address);

class GivenFiles {
public:
    // Adds a file. Call it before reading the file. Missing files are ignored.
    void add(const std::string& path);
    // Adds the file that is mapped at this address, if there is one, in the state in which it was mapped.
    void addMapped(const void* address);
    // Fails with Input if a file has changed or was removed, ignoring the files in `but`.
    [[nodiscard]] base::Status unchanged(const std::vector<std::string>& but = {}) const;

private:
    struct Given {
        std::string path;
        FileStamp stamp;
    };
    std::vector<Given> m_files;
};

// From now on, the process does not die of SIGBUS if a mapped file is truncated while it is read, or its disk cannot be
// read: it prints a line and ends with the exit code of Input. The line names the file, unless 256 others were mapped
// when mapFile() was called.
void explainCutFiles();

}  // namespace hopscope::graph
