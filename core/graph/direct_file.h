#pragma once

// Reads files past the page cache, for data that do not fit into memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace hopscope::graph {

// A file, and an offset in it.
struct FilePlace {
    std::string path;
    std::int64_t offset = 0;
};

// Returns the file that is mapped at an address of this process; nullopt if there is none, its name is gone or belongs
// to another file, or its file system is in memory. Reads /proc/self/maps.
std::optional<FilePlace> fileBehind(const void* address);

// Allows the page cache to drop a part of a read-only mapping. Later reads of this part read the file again.
void letGoOf(const void* address, std::int64_t bytes);

// Memory of whole pages, huge ones if the system has them, for reading past the page cache. Its content is undefined.
class PageMemory {
public:
    // Fails with Resources if there is not enough memory.
    static base::Result<PageMemory> allocate(std::int64_t bytes);
    [[nodiscard]] std::byte* data() const { return m_memory.get(); }
    [[nodiscard]] std::int64_t size() const { return m_size; }
    [[nodiscard]] const std::shared_ptr<std::byte>& owner() const { return m_memory; }
    // Releases the whole pages of these bytes: they take no memory until they are written again.
    void empty(std::int64_t from, std::int64_t end) const;

private:
    std::shared_ptr<std::byte> m_memory;
    std::int64_t m_size = 0;
};

// A read-only file, for any number of threads. If the file system does not support reads past the page cache, bytes
// leave the cache as soon as they have been read.
class DirectFile {
public:
    // The number of bytes by which a buffer must exceed the part of the file that is read into it.
    static constexpr std::int64_t slack = 2 * 4096;

    // Fails with Input if the file cannot be opened.
    static base::Result<DirectFile> open(const std::string& path);
    DirectFile(DirectFile&& other) noexcept;
    DirectFile& operator=(DirectFile&& other) noexcept;
    ~DirectFile();

    // Reads `count` bytes at `offset` into `buffer`, which is page-aligned and has room for `count` + `slack` bytes.
    // Returns the address of the first byte, which has the same offset in its page as in the file. Fails with Input if
    // the file is too short or cannot be read.
    [[nodiscard]] base::Result<std::byte*> read(std::int64_t offset, std::int64_t count, std::byte* buffer) const;

private:
    DirectFile(std::string path, int handle, bool direct);
    std::string m_path;
    int m_handle = -1;
    bool m_direct = false;
};

}  // namespace hopscope::graph
