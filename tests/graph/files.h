#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "graph/strided.h"
#include "support/temporary_folder.h"

namespace hopscope::graph::testing {

// A temporary folder with files that tests write.
class TempFolder {
public:
    [[nodiscard]] std::string file(const std::string& name) const { return m_folder.file(name); }
    [[nodiscard]] const std::string& path() const { return m_folder.path; }
    [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const
    {
        std::ofstream(file(name), std::ios::binary) << bytes;
        return file(name);
    }
    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> result;
        for (const auto& entry : std::filesystem::directory_iterator(m_folder.path))
            result.push_back(entry.path().filename());
        std::sort(result.begin(), result.end());
        return result;
    }

private:
    test::TemporaryFolder m_folder;
};

inline std::string readAll(const std::string& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

template <class T>
std::string bytesOf(const std::vector<T>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string packed(const base::TensorView& view)
{
    std::string bytes(static_cast<std::size_t>(view.bytes()), '\0');
    if (!bytes.empty()) copyElements(view, 0, view.elements(), reinterpret_cast<std::byte*>(bytes.data()));
    return bytes;
}

// A .npy file by hand: `dictionary` is written as it is, `elements` follow.
inline std::string npyBytes(const std::string& dictionary, const std::string& elements, int major = 1)
{
    std::string bytes("\x93NUMPY", 6);
    bytes += {static_cast<char>(major), '\0'};
    std::uint64_t size = dictionary.size();
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i, size >>= 8U) bytes += static_cast<char>(size & 0xFFU);
    return bytes + dictionary + elements;
}

// A .safetensors file by hand.
inline std::string safetensorsBytes(const std::string& header, const std::string& data)
{
    const std::uint64_t size = header.size();
    return std::string(reinterpret_cast<const char*>(&size), 8) + header + data;
}

struct Malformed {
    std::string bytes, expected;  // the file, and a part of its refusal
};

// Checks that each file is refused with its sentence; gives their paths and errors.
template <class Map>
std::vector<std::pair<std::string, base::Error>> refusals(const std::string& name, const std::vector<Malformed>& rows,
                                                          const Map& map)
{
    const TempFolder folder;
    std::vector<std::pair<std::string, base::Error>> errors;
    for (const Malformed& row : rows) {
        const std::string path = folder.write(name, row.bytes);
        const auto mapped = map(path);
        CAPTURE(row.expected);
        REQUIRE(!mapped);
        CAPTURE(mapped.error().message);
        CHECK(mapped.error().code == base::ErrorCode::Input);
        CHECK(mapped.error().message.find(row.expected) != std::string::npos);
        errors.emplace_back(path, mapped.error());
    }
    return errors;
}

}  // namespace hopscope::graph::testing
