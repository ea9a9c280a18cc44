#include "graph/formats.h"

#include <algorithm>

#include "graph/npy.h"
#include "graph/safetensors.h"

namespace hopscope::graph {

namespace {

constexpr const char* convert = "save the arrays with numpy.save or safetensors.numpy.save_file";

// A kind of file that is no input.
struct Foreign {
    std::string_view signature;
    const char* what;
    bool ofData = true;  // it may contain the data in another format
    const char* hint = convert;
};

constexpr auto foreignKinds =
    std::to_array<Foreign>({{"PK\x03\x04", "is a zip archive, as .npz files and saved models are"},
                            {"PK\x05\x06", "is a zip archive, as .npz files and saved models are"},
                            {"\x89HDF\r\n\x1a\n", "is an HDF5 file"},
                            {"PAR1", "is a Parquet file"},
                            {"\x1f\x8b", "is compressed with gzip", false, "decompress it first"}});
constexpr Foreign pickle{"", "is a Python pickle, which is never loaded", false};
constexpr Foreign text{
    "", "is a text file", true,
    "load the numbers with numpy and save the arrays with numpy.save or safetensors.numpy.save_file"};

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

std::string_view headOf(const MappedFile& file)
{
    const auto length = static_cast<std::size_t>(std::min<std::int64_t>(file.size, 512));
    return {reinterpret_cast<const char*>(file.data), length};
}

const Foreign* foreignOf(std::string_view head)
{
    for (const Foreign& kind : foreignKinds)
        if (head.starts_with(kind.signature)) return &kind;
    if (looksLikeSafetensors(head)) return nullptr;
    if (looksLikePickle(head)) return &pickle;
    return looksLikeText(head) ? &text : nullptr;
}

}  // namespace

base::Result<base::TensorMap> readNpy(const std::string& path)
{
    base::Result<base::TensorView> view = mapNpy(path);
    if (!view) return base::forward(view);
    return base::TensorMap{{"", std::move(*view)}};
}

base::Result<base::TensorMap> readSafetensors(const std::string& path) { return mapSafetensors(path); }

const Format* formatOf(const MappedFile& file)
{
    const std::string_view head = headOf(file);
    for (const Format& format : formats)
        if (!format.signature.empty() && head.starts_with(format.signature)) return &format;
    const bool safetensors = head.size() > 8 && head[8] == '{' && !foreignOf(head);
    return safetensors ? formatNamed(".safetensors") : nullptr;
}

const Format* formatNamed(std::string_view file)
{
    const auto found = std::ranges::find_if(
        formats, [&](const Format& format) { return file.ends_with(std::string(".") + format.suffix); });
    return found == formats.end() ? nullptr : &*found;
}

Refusal refusalOf(const MappedFile& file)
{
    const std::string_view head = headOf(file);
    if (head.empty()) return {"is empty", "write the file again"};
    const Foreign* const kind = foreignOf(head);
    if (!kind) return {"is neither a " + listSuffixes({}, " nor a ") + " file", convert};
    return {kind->what + (kind->ofData ? ", not " + listSuffixes() : ""), kind->hint};
}

std::string listSuffixes(std::optional<Holds> holds, const std::string& separator, const std::string& before)
{
    std::string list;
    for (const Format& format : formats)
        if (!holds || format.holds == *holds) list += (list.empty() ? "" : separator) + before + format.suffix;
    return list;
}

std::string dataForms()
{
    return "a " + listSuffixes(Holds::Tensors) + " file, a folder of " + listSuffixes(Holds::Array) + " files, or " +
           listSuffixes(Holds::Array, " or ", "NAME=FILE.");
}

std::string formatsTable()
{
    std::string table = "| file | contents | argument | written by |\n|---|---|---|---|\n";
    for (const Format& format : formats) {
        const std::string suffix = std::string(".") + format.suffix;
        const bool array = format.holds == Holds::Array;
        table += "| `" + suffix + "` | " + (array ? "an array" : "arrays with the names of arguments") + " | " +
                 (array ? "`NAME=FILE" + suffix + "`, or a folder of such files, each named after an argument"
                        : "`FILE" + suffix + "`") +
                 " | `" + format.writer + "` |\n";
    }
    return table;
}

}  // namespace hopscope::graph
