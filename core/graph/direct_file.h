#pragma once

// Files that do not fit into memory: read past the page cache, in large pieces, in file order.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace hopscope::graph {

// The file of a mapping, and the mapping's offset in it.
struct FilePlace {
    std::string path;
    std::int64_t offset = 0;
};

// The file that is mapped at an address of this process; nullopt: there is none, it has no name, or its file system is
// in memory anyway. Reads /proc/self/maps.
std::optional<FilePlace> fileBehind(const void* address);

// Lets the page cache drop a part of a mapping that is only read. Reading it again reads the file.
void letGoOf(const void* address, std::int64_t bytes);

// Memory of whole pages, for reading past the page cache; large pages if the system has them. The content is undefined.
class PageMemory {
public:
    // Resources if there is none.
    static base::Result<PageMemory> allocate(std::int64_t bytes);
    [[nodiscard]] std::byte* data() const { return m_memory.get(); }
    [[nodiscard]] std::int64_t size() const { return m_size; }
    [[nodiscard]] const std::shared_ptr<std::byte>& owner() const { return m_memory; }
    // Whole pages of these bytes take no memory until they are written again.
    void empty(std::int64_t from, std::int64_t end) const;

private:
    std::shared_ptr<std::byte> m_memory;
    std::int64_t m_size = 0;
};

// A file that is only read, by any number of threads. If the file system cannot read past the page cache, bytes leave
// it as soon as they have been read.
class DirectFile {
public:
    // Bytes by which a buffer must be larger than the part of the file read into it.
    static constexpr std::int64_t slack = 2 * 4096;

    // Input if it cannot be opened.
    static base::Result<DirectFile> open(const std::string& path);
    DirectFile(DirectFile&& other) noexcept;
    DirectFile& operator=(DirectFile&& other) noexcept;
    ~DirectFile();

    // Reads `count` bytes from `offset` on into `buffer`, which begins at a page and has room for them and `slack`.
    // Returns the address of the first one, which has the same offset in its page as in the file. Input if the file is
    // shorter or cannot be read.
    [[nodiscard]] base::Result<std::byte*> read(std::int64_t offset, std::int64_t count, std::byte* buffer) const;

private:
    DirectFile(std::string path, int handle, bool direct);
    std::string m_path;
    int m_handle = -1;
    bool m_direct = false;
};

}  // namespace hopscope::graph
