#pragma once

// A cache of arrays that were computed from a graph, in a folder that later processes can read.

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

// Stores each entry in a file whose name is the digest of the inputs of its arrays. The file contains the digest of its
// content; a damaged file counts as missing. Several processes may share a folder, and files may be removed at any
// time, since readers keep their mapping. If room is lacking, new entries replace the least recently used ones.
// docs/reference/format-cache.md describes the format.
class ArrayCache {
public:
    using Bytes = std::span<const std::byte>;

    struct Entry {
        std::vector<Bytes> arrays;  // each begins at a multiple of 4096 bytes
        std::shared_ptr<const void> owner;

        // Returns the memory of an array, which is read-only.
        [[nodiscard]] std::shared_ptr<std::byte> shared(std::size_t array) const
        {
            return {std::const_pointer_cast<void>(owner), const_cast<std::byte*>(arrays[array].data())};
        }
    };

    // `most`: the largest total size of the files in bytes; by default half of the disk space available to them.
    ArrayCache(std::string folder, int threads, std::optional<std::int64_t> most = {})
        : m_folder(std::move(folder)),
          m_threads(threads),
          m_most(most)
    {}

    // Returns the arrays in mapped memory, after reading them once to check their digest; nullopt if there is no intact
    // entry.
    [[nodiscard]] std::optional<Entry> find(const Digest& name) const;
    // Adds an entry of at most four arrays. If these are larger than the cache may be, fails with Resources and leaves
    // the cache unchanged. Also fails as NewFile does.
    [[nodiscard]] base::Status keep(const Digest& name, std::span<const Bytes> arrays) const;

private:
    [[nodiscard]] std::string fileOf(const Digest& name) const;
    [[nodiscard]] base::Status makeRoom(std::int64_t bytes) const;

    std::string m_folder;
    int m_threads;
    std::optional<std::int64_t> m_most;
};

}  // namespace hopscope::graph
