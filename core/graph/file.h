#pragma once

// Files as memory: inputs mapped read-only, outputs reserved at full size under a temporary name and renamed when done.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace hopscope::graph {

// A regular file mapped read-only and private. Pages stay file-backed; a file that is cut short while it is mapped ends
// the process (explainCutFiles() in graph/given_files.h).
struct MappedFile {
    const std::byte* data = nullptr;  // never null, even if the file is empty
    std::int64_t size = 0;
    std::shared_ptr<const void> owner;  // keeps the mapping
};

// Whether a file may be named by a link: not in folders that others can write.
enum class Links : std::uint8_t { Followed, Refused };

// Fails with Input: a file that is missing, unreadable, or no regular file (folder, pipe, device). Never blocks.
base::Result<MappedFile> mapFile(const std::string& path, Links links = Links::Followed);

// Truncates a file to no bytes. Its pages are free at once, even if it is mapped; reading the mapping then raises
// SIGBUS. A file that cannot be emptied stays as it is.
void emptyFile(const std::string& path);

// Flushes the names in a folder to the disk, if its file system supports that. Resources on failure.
base::Status syncFolder(const std::string& folder);

// The fate of a file that has not been published when its object ends.
enum class Lasting : std::uint8_t {
    No,      // it is removed
    Yes,     // it remains, and a later process resumes writing it
    Shared,  // likewise, and other processes write to it at the same time
};

// Whether a file has to be on the disk before it takes its final name.
enum class Flush : std::uint8_t { Yes, No };

class WrittenBehind;

// A new file of a fixed size. Blocks are reserved by create(), which therefore detects a full disk. Until publish() it
// has a temporary name next to `path`, which the destructor removes.
class NewFile {
public:
    // With Lasting::Yes the temporary name is always `path` with ".part"; an existing file of this size, even under its
    // final name, keeps its content. Only one process may do that at a time. With Lasting::Shared several may: one of
    // them reserves the blocks while the others wait.
    static base::Result<NewFile> create(const std::string& path, std::int64_t size, Lasting lasting = Lasting::No);
    // The same from a reusable() file, if it is long enough: the file keeps its pages, its blocks and its content,
    // which saves allocating new ones. shorten() or publish() cuts off its surplus.
    static base::Result<NewFile> reuse(std::optional<NewFile> spare, const std::string& path, std::int64_t size,
                                       Lasting lasting = Lasting::No);
    NewFile(NewFile&& other) noexcept;
    NewFile& operator=(NewFile&& other) noexcept;
    ~NewFile();

    // The whole file, shared and writable; mapped at the first call. Outlives this object.
    base::Result<std::shared_ptr<std::byte>> map();
    // Writes without mapping; several threads may write disjoint ranges at once.
    [[nodiscard]] base::Status write(std::int64_t offset, const void* bytes, std::size_t count) const;
    // From now on, written bytes are sent to the disk at once, so that publish() waits for little.
    // Meant for files that are written roughly from front to end. Other parts wait for publish().
    void flushBehind() { m_behind = true; }
    // The same for a file that does not fit into memory: its pages leave the page cache as soon as they are on the
    // disk, and writers wait for the disk if it falls behind. Meant for rows written roughly in the order of the file.
    void letGoBehind();
    // Flushes file and folder and takes the final name, replacing any file of that name. Resources on failure.
    base::Status publish(Flush flush = Flush::Yes);
    // Flushes all bytes written so far, also through the mapping. Thread-safe.
    [[nodiscard]] base::Status sync() const;
    // Makes writes of processes on other machines visible in the mapping, as far as the file system supports that.
    void refresh() const;
    // Whether the content of an earlier process was kept.
    [[nodiscard]] bool continued() const { return m_continued; }
    // Cuts off the surplus of a reused file, in steps between which others can write. Not while it is published.
    void shorten();
    // Whether the file may be reused: its pages stay in memory, and no other process knows it.
    [[nodiscard]] bool reusable() const { return m_lasting == Lasting::No && !m_written && !m_temporary.empty(); }
    // Bytes that the file has room for.
    [[nodiscard]] std::int64_t room() const { return m_room; }
    // Removes the file at once, even a lasting one; its bytes are freed when this object and its mapping end.
    void forget();
    [[nodiscard]] std::int64_t size() const { return m_size; }

private:
    NewFile(std::string path, std::string temporary, int handle, std::int64_t size);
    static base::Result<NewFile> resume(const std::string& path, std::int64_t size);
    static base::Result<NewFile> share(const std::string& path, std::int64_t size);
    [[nodiscard]] int flushAll() const;
    void startFlush(std::size_t written) const;
    void letGo(std::int64_t offset, std::int64_t count) const;
    void discard();

    std::string m_path, m_temporary;
    int m_handle = -1;
    std::int64_t m_size = 0, m_room = 0;
    Lasting m_lasting = Lasting::No;
    bool m_continued = false, m_behind = false;
    mutable std::int64_t m_behindBytes = 0;    // written since flushBehind(); several threads count
    std::unique_ptr<WrittenBehind> m_written;  // if pages leave the cache once written
    std::shared_ptr<std::byte> m_mapping;
};

// The bytes of scratch memory that may be anonymous, in the whole process: 0 at first. Does not affect existing memory.
void allowAnonymousScratch(std::int64_t bytes);
std::int64_t anonymousScratchAllowed();
// Bytes of scratch memory that is anonymous now.
std::int64_t anonymousScratch();

enum class Fill : std::uint8_t {
    Zeros,  // structure
    Any,    // values, which are written first
};

// Scratch memory: anonymous, in huge pages, as far as that is allowed; else as mapScratchFile(). Anonymous memory that is
// freed is kept for the next call, since fresh pages are expensive; dropScratch() releases it, now or once it is freed.
base::Result<std::shared_ptr<std::byte>> mapScratch(const std::string& folder, std::int64_t size, Fill fill);
void dropScratch();

// Anonymous scratch memory with all pages present: kept from an earlier use, or allocated on this number of threads.
// null: it is not allowed, or a file is faster, because a host has to provide the pages (base::freeMemoryIsTaken) or
// because they are provided slowly; the next attempt is then after dropScratch().
std::shared_ptr<std::byte> readyScratch(std::int64_t size, int threads);
// From now on all pages are assumed to be provided fast, regardless of the machine: for tests.
void assumeFastPages();

// The scratch memory of a piece of work: kept memory is returned to the system at its end. `inFiles`: until then, new
// scratch memory lies in files, because a memory limit counts all anonymous memory. Scopes nest; one thread at a time.
class ScratchScope {
public:
    explicit ScratchScope(bool inFiles)
    {
        if (inFiles) allowAnonymousScratch(0);
    }
    ~ScratchScope()
    {
        allowAnonymousScratch(m_before);
        dropScratch();
    }
    ScratchScope(const ScratchScope&) = delete;
    ScratchScope& operator=(const ScratchScope&) = delete;

private:
    std::int64_t m_before = anonymousScratchAllowed();
};

// An unlinked file in `folder`, "scratch.*" or for values "spill.*", mapped shared and writable, blocks reserved, filled
// with zeros. Resources if the disk is full.
base::Result<std::shared_ptr<std::byte>> mapScratchFile(const std::string& folder, std::int64_t size, Fill fill);

}  // namespace hopscope::graph
