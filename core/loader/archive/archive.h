#pragma once

// Reads and checks a TorchScript file or an exported program as a zip archive, without LibTorch, so that malicious and
// damaged archives are refused before LibTorch reads them. Also writes archives.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hopscope::loader {

struct Record {
    std::string name;          // with the root folder: "model/code/__torch__.py"
    std::uint64_t offset = 0;  // of the local header
    std::uint64_t data = 0;    // of the (compressed) bytes
    std::uint64_t compressed = 0;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    bool deflated = false;
};

enum class ArchiveKind : std::uint8_t { TorchScript, Exported };  // by its members, not by the name of the file

struct Archive {
    ArchiveKind kind = ArchiveKind::TorchScript;
    std::string root;             // the folder that contains all records, without a slash
    std::vector<Record> records;  // in the order of the central directory

    [[nodiscard]] const Record* find(std::string_view nameInRoot) const;
};

struct ArchiveLimits {
    std::uint64_t records = 65536;
    std::uint64_t bytes = std::uint64_t{1} << 40;  // uncompressed, all records together
    std::uint64_t ratio = 100;                     // of the uncompressed to the compressed size of a deflated record
    std::uint64_t ratioFreeBytes = 64 * 1024;      // records up to this uncompressed size may exceed `ratio`
};

// Reads and checks the directory of a zip archive; other formats are recognised and named. Sizes and offsets must be
// inside the file, and records must not overlap. There must be a single root folder. Names must be neither empty nor
// absolute, must differ, and must contain no "." or ".." as a part, no "//", backslash, colon or NUL. Local headers
// must agree with the directory, except for sizes and checksums that follow the data. A TorchScript file must have
// constants.pkl, data.pkl and a version, and an exported program models/NAME.json. Does not read contents. Fails with
// Input, naming the offset if the archive is damaged, or with Unsupported for models in other formats (FlatBuffer,
// AOTInductor, TorchScript with model.json).
base::Result<Archive> scanArchive(std::span<const std::byte> file, const std::string& name,
                                  const ArchiveLimits& limits = {});

// True if the file is a sound archive of an exported program. Does not read contents.
bool isExported(const std::string& path);

// Returns the uncompressed contents of a record. Fails with Input if the record is outside the file, if the checksum is
// wrong, if the record cannot be unpacked, or if it is deflated and larger than 2 GiB.
base::Result<std::string> readRecord(std::span<const std::byte> file, const Record& record);

// Checks the checksums of all records, because LibTorch loads damaged weights without an error and crashes on damaged
// source tables. Fails with Input.
base::Status checkContents(std::span<const std::byte> file, const Archive& archive, const std::string& name);

// Returns the custom operators in the code, that is, all outside aten and prim ("torch_scatter::scatter_max"), sorted.
base::Result<std::vector<std::string>> listCustomOps(std::span<const std::byte> file, const Archive& archive);

struct StoredRecord {
    std::string name;
    std::string_view bytes;
};

// Writes an uncompressed zip file. Fails with Input if it would exceed 4 GiB or 65,534 records, and with Resources if it
// cannot be written.
base::Status writeArchive(const std::string& path, const std::vector<StoredRecord>& records);

// A file mapped into memory, read-only.
class MappedFile {
public:
    static base::Result<MappedFile> open(const std::string& path);
    [[nodiscard]] std::span<const std::byte> bytes() const { return {m_data.get(), m_size}; }

private:
    std::shared_ptr<const std::byte> m_data;
    std::size_t m_size = 0;
};

}  // namespace hopscope::loader
