#pragma once

// Copies bytes that are mapped from a file by reading the file, which takes neither page faults nor page tables.

#include <cstddef>
#include <cstdint>

namespace hopscope::graph {

class MappedSource {
public:
    // The bytes at an address: of a file that was mapped with mapFile(), or of any other memory.
    explicit MappedSource(const void* address);
    ~MappedSource();
    MappedSource(const MappedSource&) = delete;
    MappedSource& operator=(const MappedSource&) = delete;

    // Returns whether bytes are read from the file. If it cannot be opened or has changed since it was mapped, they are
    // copied from memory.
    [[nodiscard]] bool reads() const { return m_handle >= 0; }
    // Copies the `count` bytes at `offset` after the address to `to`. For any number of threads. Bytes that cannot be
    // read are copied from memory: if the file was truncated, that raises SIGBUS (explainCutFiles() in given_files.h).
    void copy(std::int64_t offset, std::int64_t count, std::byte* to) const;

private:
    const std::byte* m_address;
    int m_handle = -1;
    std::int64_t m_offset = 0;  // of the address in the file
};

}  // namespace hopscope::graph
