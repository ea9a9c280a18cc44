#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "loader/archive/archive.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

base::Result<std::string> inflateRecord(std::string_view packed, const Record& record)
{
    std::string out(record.size, '\0');
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return fail(ErrorCode::Internal, "cannot initialise zlib");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int rc = inflate(&stream, Z_FINISH);
    const bool whole = rc == Z_STREAM_END && stream.total_out == record.size;
    inflateEnd(&stream);
    if (!whole)
        return fail(ErrorCode::Input, "entry " + record.name + " cannot be unpacked",
                    "the file is damaged: copy or export it again");
    return out;
}

std::uint32_t checksum(std::string_view bytes)
{
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void put(std::string& out, std::uint64_t value, int count)
{
    for (int i = 0; i < count; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

// The part that local headers and directory entries share: version to extra length.
void putCommon(std::string& out, const StoredRecord& record, std::uint32_t crc)
{
    constexpr int kVersion = 20, kTime = 0, kDate = 0x21;
    put(out, kVersion, 2);
    put(out, 0, 4);  // flags, stored
    put(out, kTime, 2);
    put(out, kDate, 2);
    put(out, crc, 4);
    put(out, record.bytes.size(), 4);
    put(out, record.bytes.size(), 4);
    put(out, record.name.size(), 2);
    put(out, 0, 2);
}

std::string localHeader(const StoredRecord& record, std::uint32_t crc)
{
    std::string out = "PK\x03\x04";
    putCommon(out, record, crc);
    return out + record.name;
}

std::string directoryEntry(const StoredRecord& record, std::uint32_t crc, std::uint64_t offset)
{
    std::string out = "PK\x01\x02";
    put(out, 20, 2);
    putCommon(out, record, crc);
    put(out, 0, 4);  // comment length, disk
    put(out, 0, 2);  // internal attributes
    put(out, 0, 4);  // external attributes
    put(out, offset, 4);
    return out + record.name;
}

std::string directoryEnd(std::size_t records, std::size_t size, std::uint64_t offset)
{
    std::string out = "PK\x05\x06";
    put(out, 0, 4);
    put(out, records, 2);
    put(out, records, 2);
    put(out, size, 4);
    put(out, offset, 4);
    put(out, 0, 2);
    return out;
}

}  // namespace

base::Result<std::string> readRecord(std::span<const std::byte> file, const Record& record)
{
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 31;
    if (record.data > file.size() || record.compressed > file.size() - record.data)
        return fail(ErrorCode::Input, "entry " + record.name + " reaches outside the file");
    const std::string_view packed(reinterpret_cast<const char*>(file.data() + record.data), record.compressed);
    if (record.deflated && (record.size > kLongest || record.compressed > kLongest))
        return fail(ErrorCode::Input, "entry " + record.name + " is too large to unpack");
    auto bytes = record.deflated ? inflateRecord(packed, record) : base::Result<std::string>(std::string(packed));
    if (bytes && checksum(*bytes) != record.crc)
        return fail(ErrorCode::Input, "entry " + record.name + " has a wrong checksum",
                    "the file is damaged: copy or export it again");
    return bytes;
}

base::Status checkContents(std::span<const std::byte> file, const Archive& archive, const std::string& name)
{
    for (const Record& record : archive.records) {
        const std::string_view bytes(reinterpret_cast<const char*>(file.data() + record.data), record.compressed);
        if (!record.deflated && checksum(bytes) == record.crc) continue;
        const auto unpacked = readRecord(file, record);
        if (unpacked) continue;
        const std::string at = std::to_string(record.data);
        return fail(ErrorCode::Input, name + ": at byte " + at + ": " + unpacked.error().message,
                    "the file is damaged: copy or export it again", name + ":" + at);
    }
    return {};
}

base::Status writeArchive(const std::string& path, const std::vector<StoredRecord>& records)
{
    std::uint64_t total = 0;
    for (const StoredRecord& r : records) total += r.bytes.size() + 2 * r.name.size() + 128;
    if (total >= 0xFFFFFFFF || records.size() >= 0xFFFF)
        return fail(ErrorCode::Input, "the archive is too large to be repaired", "save a traced model instead");
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    std::string directory;
    std::uint64_t offset = 0;
    for (const StoredRecord& r : records) {
        const std::uint32_t crc = checksum(r.bytes);
        const std::string header = localHeader(r, crc);
        out << header << r.bytes;
        directory += directoryEntry(r, crc, offset);
        offset += header.size() + r.bytes.size();
    }
    out << directory << directoryEnd(records.size(), directory.size(), offset);
    out.close();
    if (!out) return fail(ErrorCode::Resources, "cannot write the repaired archive " + path, "free some disk space");
    return {};
}

bool isExported(const std::string& path)
{
    const base::Result<MappedFile> file = MappedFile::open(path);
    if (!file) return false;
    const base::Result<Archive> archive = scanArchive(file->bytes(), path);
    return archive && archive->kind == ArchiveKind::Exported;
}

base::Result<MappedFile> MappedFile::open(const std::string& path)
{
    const auto bad = [&](const std::string& why) {
        return fail(ErrorCode::Input, "cannot read " + path + ": " + why, "check the path", path);
    };
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return bad(std::strerror(errno));
    struct stat info {};
    const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const auto size = regular ? static_cast<std::size_t>(info.st_size) : 0;
    void* data = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
    ::close(fd);
    if (!regular) return bad(S_ISDIR(info.st_mode) ? "it is a folder" : "not a regular file");
    if (data == MAP_FAILED) return bad(std::strerror(errno));
    MappedFile file;
    file.m_size = size;
    file.m_data = {static_cast<const std::byte*>(data), [size](const std::byte* p) {
                       if (p) ::munmap(const_cast<std::byte*>(p), size);
                   }};
    return file;
}

}  // namespace hopscope::loader
