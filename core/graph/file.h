#pragma once

// Maps files into memory: inputs read-only; outputs reserved at full size under a temporary name, and renamed when
// done. Allocates scratch memory, empties files and flushes folders.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace hopscope::graph {

// A regular file in a private, read-only mapping. Its pages remain file-backed: if another process truncates the file,
// reading the lost part ends this process (explainCutFiles() in graph/given_files.h).
struct MappedFile {
    const std::byte* data = nullptr;  // from mapFile() never null, even if the file is empty
    std::int64_t size = 0;
    std::shared_ptr<const void> owner;  // owns the mapping
};

// Whether symbolic links to a file are followed. They must be refused in folders that others can write to.
enum class Links : std::uint8_t { Followed, Refused };

// Maps a file. Fails with Input if it is missing, unreadable or not a regular file, and with Resources if there is no
// memory or too many files are open. Does not wait for the writer of a pipe.
base::Result<MappedFile> mapFile(const std::string& path, Links links = Links::Followed);

// Truncates a file to zero bytes. Its pages are freed at once, even if it is mapped; reading the mapping then raises
// SIGBUS. A file that cannot be truncated remains unchanged.
void emptyFile(const std::string& path);

// Flushes the entries of a folder to disk, if its file system supports that. Fails with Resources.
base::Status syncFolder(const std::string& folder);

// What happens to an unpublished file when its object is destroyed.
enum class Lasting : std::uint8_t {
    No,      // it is removed
    Yes,     // it remains, and a later process resumes writing it
    Shared,  // it remains, and other processes write to it at the same time
};

// Whether a file must be on disk before it gets its final name.
enum class Flush : std::uint8_t { Yes, No };

class WrittenBehind;

// A new file of a fixed size. create() detects a full disk, since it reserves the blocks of the file, or checks that
// there is room for them. Until publish(), the file has a temporary name next to `path`; the destructor removes it,
// except for a lasting one.
class NewFile {
public:
    // Unless `lasting` is No, the temporary name is always `path` with ".part", and an existing file of this size keeps
    // its content, even under its final name. With Lasting::Yes, only one process may have the file open at a time.
    // With Lasting::Shared, several may: one of them reserves the blocks while the others wait. Fails with Usage if the
    // folder is missing or not writable, and with Resources.
    static base::Result<NewFile> create(const std::string& path, std::int64_t size, Lasting lasting = Lasting::No);
    // Does the same, but turns `spare`, a reusable() file, into the new one if it is long enough and `lasting` is No.
    // Its pages, blocks and content remain, which saves allocating new ones. shorten() or publish() cuts off the
    // surplus.
    static base::Result<NewFile> reuse(std::optional<NewFile> spare, const std::string& path, std::int64_t size,
                                       Lasting lasting = Lasting::No);
    NewFile(NewFile&& other) noexcept;
    NewFile& operator=(NewFile&& other) noexcept;
    ~NewFile();

    // Returns a shared, writable mapping of the whole file, which is made at the first call. It outlives this object.
    base::Result<std::shared_ptr<std::byte>> map();
    // Writes bytes without mapping the file. Several threads may write disjoint ranges at once.
    [[nodiscard]] base::Status write(std::int64_t offset, const void* bytes, std::size_t count) const;
    // Makes write() send bytes to the disk every few megabytes, so that publish() has little to wait for. Meant for
    // files that are written roughly from front to end; other parts wait for publish().
    void flushBehind() { m_behind = true; }
    // Does the same for a file that does not fit into memory: its pages leave the page cache soon after they are
    // written, and writers wait if the disk falls behind. Meant for rows that are written roughly in the order of the
    // file.
    void letGoBehind();
    // Counts bytes that were written through the mapping as write() counts its own, for flushBehind().
    void wrote(std::size_t count) const;
    // Gives the file its final name, replacing any other file of that name. With Flush::Yes, flushes the file before,
    // and its folder after that. Fails with Resources.
    base::Status publish(Flush flush = Flush::Yes);
    // Flushes all bytes written so far, including those written through the mapping. Thread-safe.
    [[nodiscard]] base::Status sync() const;
    // Makes writes by processes on other machines visible in the mapping, as far as the file system supports that.
    void refresh() const;
    // Whether the file has kept the content that another process wrote.
    [[nodiscard]] bool continued() const { return m_continued; }
    // Cuts off the surplus of a reused file, in steps, so that others can write in between. Must not be called during
    // publish().
    void shorten();
    // Whether the file can be reused: its pages remain in memory, and no other process knows of it.
    [[nodiscard]] bool reusable() const { return m_lasting == Lasting::No && !m_written && !m_temporary.empty(); }
    // The number of bytes that the file has room for.
    [[nodiscard]] std::int64_t room() const { return m_room; }
    // Removes an unpublished file at once, even a lasting one. Its blocks are freed when this object and its mapping
    // are destroyed.
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
    mutable std::int64_t m_behindBytes = 0;    // bytes written since flushBehind(); counted by several threads
    std::unique_ptr<WrittenBehind> m_written;  // after letGoBehind()
    std::shared_ptr<std::byte> m_mapping;
};

// Makes the pages of writable memory present, so that writing them takes no page faults; their content remains. False
// if the system cannot. Several threads may write to the memory at the same time.
bool makePresent(std::byte* first, std::int64_t bytes);

// Limits the bytes of anonymous scratch memory in the whole process, initially to 0. Releases kept memory; memory in
// use is not affected.
void allowAnonymousScratch(std::int64_t bytes);
std::int64_t anonymousScratchAllowed();
// Returns the bytes of anonymous scratch memory, in use or kept for later calls.
std::int64_t anonymousScratch();

enum class Fill : std::uint8_t {
    Zeros,  // all bytes are 0
    Any,    // bytes may have any value, since they are written before they are read
};

// Allocates scratch memory: anonymous, in huge pages, as far as that is allowed, otherwise by mapScratchFile(). Freed
// anonymous memory is kept for later calls, since fresh pages are expensive. dropScratch() releases kept memory, and
// memory in use as soon as it is freed.
base::Result<std::shared_ptr<std::byte>> mapScratch(const std::string& folder, std::int64_t size, Fill fill);
void dropScratch();

// Returns anonymous scratch memory with all pages present: kept memory, or memory allocated on `threads` threads.
// Returns null for size 0, if anonymous memory is not allowed, or if a file is faster: where a host must provide the
// pages (base::freeMemoryIsTaken), or, until dropScratch() is called, once pages have come slowly.
std::shared_ptr<std::byte> readyScratch(std::int64_t size, int threads);
// Assumes from now on that pages are provided fast on any machine. For tests.
void assumeFastPages();

// A scope at whose end kept scratch memory is returned to the system. With `inFiles`, new scratch memory is in files
// during the scope, for memory limits that count all anonymous memory. Scopes can be nested; use one thread at a time.
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

// Maps an unlinked file in `folder` ("scratch.*", for Fill::Any "spill.*"), shared and writable. Its blocks are
// reserved, and its bytes are zero. Fails with Usage if the folder is missing or not writable, and with Resources.
base::Result<std::shared_ptr<std::byte>> mapScratchFile(const std::string& folder, std::int64_t size, Fill fill);

}  // namespace hopscope::graph
