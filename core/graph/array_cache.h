#pragma once

// Arrays that were computed from a graph, kept in a folder for later processes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/digest.h"

namespace hopscope::graph {

// Each entry is a file whose name is the digest of the inputs of its arrays. It holds the digest of its content: a
// damaged file counts as missing. Several processes may share a folder, and files may be removed at any time: readers
// keep their mapping. New entries replace the least recently used ones. Format: docs/reference/format-cache.md.
class ArrayCache {
public:
    using Bytes = std::span<const std::byte>;

    struct Entry {
        std::vector<Bytes> arrays;  // each begins at a multiple of 4096 bytes
        std::shared_ptr<const void> owner;

        // The memory of an array, which must not be written to.
        [[nodiscard]] std::shared_ptr<std::byte> shared(std::size_t array) const
        {
            return {std::const_pointer_cast<void>(owner), const_cast<std::byte*>(arrays[array].data())};
        }
    };

    // `most`: bytes that files of the cache may take; by default half of the disk space available to them.
    ArrayCache(std::string folder, int threads, std::optional<std::int64_t> most = {})
        : m_folder(std::move(folder)),
          m_threads(threads),
          m_most(most)
    {}

    // The arrays in mapped memory, read once; nullopt: there are none.
    [[nodiscard]] std::optional<Entry> find(const Digest& name) const;
    // Fails like NewFile, and with Resources if there is not enough room; the cache is then unchanged.
    [[nodiscard]] base::Status keep(const Digest& name, std::span<const Bytes> arrays) const;

private:
    [[nodiscard]] std::string fileOf(const Digest& name) const;
    [[nodiscard]] base::Status makeRoom(std::int64_t bytes) const;

    std::string m_folder;
    int m_threads;
    std::optional<std::int64_t> m_most;
};

}  // namespace hopscope::graph
