#include "graph/array_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "base/parallel.h"
#include "base/units.h"
#include "graph/file.h"

namespace hopscope::graph {

namespace {

namespace fs = std::filesystem;

constexpr const char* suffix = ".hopscope-cache";
constexpr std::array<char, 8> magic{'H', 'S', 'C', 'A', 'C', 'H', 'E', '1'};
constexpr std::int64_t alignment = 4096;
constexpr std::int64_t writtenAtOnce = 4 << 20;
constexpr std::size_t mostArrays = 4;

// The first bytes of a file, in the order of the machine's bytes, as the arrays are.
struct Header {
    std::array<char, 8> magic{};
    std::array<std::uint8_t, 16> name{}, content{};
    std::array<std::int64_t, mostArrays> sizes{};  // in bytes; -1: no array
};

std::int64_t alignedUp(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

std::int64_t sizeOf(const Header& header)
{
    std::int64_t size = alignment;
    for (const std::int64_t bytes : header.sizes) size += alignedUp(std::max<std::int64_t>(bytes, 0));
    return size;
}

Digest contentOf(std::span<const ArrayCache::Bytes> arrays, int threads)
{
    std::vector<Digest> digests;
    for (const ArrayCache::Bytes array : arrays) digests.push_back(digestOf(array.data(), array.size(), threads));
    return digestOf(digests);
}

// nullopt: the file has the wrong beginning or the wrong size.
std::optional<Header> headerOf(const MappedFile& file, const Digest& name)
{
    Header header;
    if (file.size < alignment) return std::nullopt;
    std::memcpy(&header, file.data, sizeof header);
    // Larger ones could not be added up.
    const auto fits = [&](std::int64_t bytes) { return bytes >= -1 && bytes <= file.size; };
    if (header.magic != magic || header.name != name.bytes || !std::ranges::all_of(header.sizes, fits) ||
        sizeOf(header) != file.size)
        return std::nullopt;
    return header;
}

std::vector<ArrayCache::Bytes> arraysIn(const MappedFile& file, const Header& header)
{
    std::vector<ArrayCache::Bytes> arrays;
    std::int64_t begin = alignment;
    for (const std::int64_t bytes : header.sizes) {
        if (bytes < 0) continue;
        arrays.emplace_back(file.data + begin, static_cast<std::size_t>(bytes));
        begin += alignedUp(bytes);
    }
    return arrays;
}

base::Status write(const NewFile& file, std::int64_t offset, ArrayCache::Bytes bytes)
{
    for (std::size_t at = 0; at < bytes.size(); at += writtenAtOnce) {
        const std::size_t count = std::min<std::size_t>(writtenAtOnce, bytes.size() - at);
        if (auto done = file.write(offset + static_cast<std::int64_t>(at), bytes.data() + at, count); !done)
            return done;
    }
    return {};
}

struct Kept {
    fs::path file;
    fs::file_time_type used;
    std::int64_t bytes = 0;
};

// Files of the cache, the least recently used one first, without files that other processes remove meanwhile.
std::vector<Kept> keptIn(const std::string& folder)
{
    std::vector<Kept> found;
    std::error_code gone;
    for (fs::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone)) {
        std::error_code failed, unknown;
        const auto bytes = at->file_size(failed);
        const auto used = at->last_write_time(unknown);
        const bool own = fs::is_regular_file(at->symlink_status(failed));
        if (own && at->path().extension() == suffix && !failed && !unknown)
            found.push_back({at->path(), used, static_cast<std::int64_t>(bytes)});
    }
    std::ranges::sort(found, {}, &Kept::used);
    return found;
}

// Records that this file has just been used, for makeRoom(). Where that fails, the file seems older than it is.
void touch(const std::string& file) { (void)::utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW); }

}  // namespace

std::string ArrayCache::fileOf(const Digest& name) const { return m_folder + "/" + name.hex() + suffix; }

base::Status ArrayCache::makeRoom(std::int64_t bytes) const
{
    const std::vector<Kept> kept = keptIn(m_folder);
    std::int64_t taken = 0;
    for (const Kept& file : kept) taken += file.bytes;
    std::error_code unknown;
    const fs::space_info disk = fs::space(m_folder, unknown);
    if (!m_most && unknown) return {};  // the writer will find out why
    const std::int64_t most = m_most.value_or((static_cast<std::int64_t>(disk.available) + taken) / 2);
    if (bytes > most)
        return base::fail(base::ErrorCode::Resources,
                          m_folder + " has room for " + base::formatBytes(double(most)) + ", but " +
                              base::formatBytes(double(bytes)) + " are needed",
                          "name a folder on a larger disk");
    for (const Kept& file : kept) {
        if (taken + bytes <= most) break;
        std::error_code ignored;
        if (fs::remove(file.file, ignored)) taken -= file.bytes;
    }
    return {};
}

std::optional<ArrayCache::Entry> ArrayCache::find(const Digest& name) const
{
    const base::Result<MappedFile> file = mapFile(fileOf(name), Links::Refused);
    if (!file) return std::nullopt;
    const std::optional<Header> header = headerOf(*file, name);
    if (!header) return std::nullopt;
    Entry entry{.arrays = arraysIn(*file, *header), .owner = file->owner};
    if (contentOf(entry.arrays, m_threads).bytes != header->content) return std::nullopt;
    touch(fileOf(name));
    return entry;
}

base::Status ArrayCache::keep(const Digest& name, std::span<const Bytes> arrays) const
{
    Header header{.magic = magic, .name = name.bytes};
    header.sizes.fill(-1);
    std::ranges::transform(arrays, header.sizes.begin(), [](Bytes array) { return std::ssize(array); });
    if (base::Status room = makeRoom(sizeOf(header)); !room) return room;
    header.content = contentOf(arrays, m_threads).bytes;  // gigabytes are read for it
    base::Result<NewFile> file = NewFile::create(fileOf(name), sizeOf(header));
    if (!file) return base::forward(file);
    base::Status done = write(*file, 0, std::as_bytes(std::span(&header, 1)));
    std::int64_t offset = alignment;
    for (const Bytes array : arrays) {
        if (done) done = write(*file, offset, array);
        offset += alignedUp(std::ssize(array));
    }
    // A file that reached the disk only in part before a loss of power is detected by its digest.
    return done ? file->publish(Flush::No) : done;
}

}  // namespace hopscope::graph
