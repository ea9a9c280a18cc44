#include "graph/recognise.h"

#include <algorithm>
#include <string_view>

namespace hopscope::graph {

namespace {

bool looksLikeText(std::string_view head)
{
    return std::all_of(head.begin(), head.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 ? byte != 0x7F : (byte >= '\t' && byte <= '\r');
    });
}

// The header's length is a small little-endian number, so that its upper bytes are zero.
bool looksLikeSafetensors(std::string_view head) { return head.size() > 8 && head[7] == '\0' && head[8] == '{'; }

// Protocols 2 to 5 open with their number.
bool looksLikePickle(std::string_view head)
{
    return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

}  // namespace

FileKind recognise(const MappedFile& file)
{
    const auto length = static_cast<std::size_t>(std::min<std::int64_t>(file.size, 512));
    const std::string_view head(reinterpret_cast<const char*>(file.data), length);
    if (head.empty()) return FileKind::Empty;
    if (head.starts_with("\x93NUMPY")) return FileKind::Npy;
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return FileKind::Zip;
    if (head.starts_with("\x89HDF\r\n\x1a\n")) return FileKind::Hdf5;
    if (head.starts_with("\x1f\x8b")) return FileKind::Gzip;
    if (head.starts_with("PAR1")) return FileKind::Parquet;
    if (looksLikeSafetensors(head)) return FileKind::Safetensors;
    if (looksLikePickle(head)) return FileKind::Pickle;
    if (looksLikeText(head)) return FileKind::Text;
    if (head.size() > 8 && head[8] == '{') return FileKind::Safetensors;
    return FileKind::Unknown;
}

Refusal refusalOf(FileKind kind)
{
    const std::string convert = "save the arrays with numpy.save or safetensors.numpy.save_file";
    switch (kind) {
    case FileKind::Text:
        return {"is a text file, not .npy or .safetensors", "load the numbers with numpy and " + convert};
    case FileKind::Zip:
        return {"is a zip archive, as .npz files and saved models are, not .npy or .safetensors", convert};
    case FileKind::Pickle: return {"is a Python pickle, which is never loaded", convert};
    case FileKind::Hdf5: return {"is an HDF5 file, not .npy or .safetensors", convert};
    case FileKind::Gzip: return {"is compressed with gzip", "decompress it first"};
    case FileKind::Parquet: return {"is a Parquet file, not .npy or .safetensors", convert};
    case FileKind::Empty: return {"is empty", "write the file again"};
    case FileKind::Npy:
    case FileKind::Safetensors:
    case FileKind::Unknown: break;
    }
    return {"is neither a .npy nor a .safetensors file", convert};
}

}  // namespace hopscope::graph
