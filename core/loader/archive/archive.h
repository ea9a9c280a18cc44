#pragma once

// A TorchScript file as a zip archive, read without LibTorch: everything that a hostile or damaged file can get wrong in
// the zip layer is refused here, before any code of LibTorch sees the file.

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

struct Archive {
    std::string root;             // the one folder that holds everything, without the slash
    std::vector<Record> records;  // in the order of the central directory

    [[nodiscard]] const Record* find(std::string_view nameInRoot) const;
};

struct ArchiveLimits {
    std::uint64_t records = 65536;
    std::uint64_t bytes = std::uint64_t{1} << 40;  // uncompressed, all records together
    std::uint64_t ratio = 100;                     // uncompressed to compressed, per deflated record...
    std::uint64_t ratioFreeBytes = 64 * 1024;      // ...larger than this
};

// Reads and checks the directory: magic (other formats are recognised and named), sizes and offsets within the file, no
// overlaps, one root folder, no "..", absolute, empty, NUL or duplicate names, local headers equal to the directory, and
// the records that make it TorchScript. Linear in the directory; contents are not read. Fails with Input and the offset,
// or with Unsupported for formats that are models but not TorchScript (.pt2, FlatBuffer).
base::Result<Archive> scanArchive(std::span<const std::byte> file, const std::string& name,
                                  const ArchiveLimits& limits = {});

// One record's bytes, inflated, its checksum compared.
base::Result<std::string> readRecord(std::span<const std::byte> file, const Record& record);

// Compares the checksum of every record, stored or deflated: LibTorch loads damaged weights, and dies of damaged source
// tables. Linear in the file.
base::Status checkContents(std::span<const std::byte> file, const Archive& archive, const std::string& name);

// Operators outside aten and prim that the code calls, "torch_scatter::scatter_max", sorted: what needs a library.
base::Result<std::vector<std::string>> listCustomOps(std::span<const std::byte> file, const Archive& archive);

struct StoredRecord {
    std::string name;
    std::string_view bytes;
};

// A zip file without compression. Fails with Input above 4 GiB and if the file cannot be written.
base::Status writeArchive(const std::string& path, const std::vector<StoredRecord>& records);

// A file mapped read-only.
class MappedFile {
public:
    static base::Result<MappedFile> open(const std::string& path);
    [[nodiscard]] std::span<const std::byte> bytes() const { return {m_data.get(), m_size}; }

private:
    std::shared_ptr<const std::byte> m_data;
    std::size_t m_size = 0;
};

}  // namespace hopscope::loader
