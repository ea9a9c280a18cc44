#include "faults/mutations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace hopscope::faults {

namespace {

std::size_t below(Random& random, std::size_t bound) { return bound ? static_cast<std::size_t>(random() % bound) : 0; }

// Half of the positions fall into the first or last kilobyte, where headers and directories are.
std::size_t position(const Bytes& file, Random& random)
{
    const std::size_t edge = std::min<std::size_t>(file.size(), 1024);
    switch (random() % 4) {
    case 0: return below(random, edge);
    case 1: return file.size() - 1 - below(random, edge);
    default: return below(random, file.size());
    }
}

std::string flipBits(Bytes& file, const Bytes&, Random& random)
{
    const std::size_t count = 1 + below(random, 16);
    for (std::size_t i = 0; i < count; ++i)
        file[position(file, random)] ^= static_cast<unsigned char>(1u << (random() % 8));
    return "flip " + std::to_string(count) + " bits";
}

std::string writeNumber(Bytes& file, const Bytes&, Random& random)
{
    static constexpr std::array<std::uint64_t, 10> numbers{
        0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
    const std::uint64_t number = numbers[below(random, numbers.size())];
    const std::size_t at = position(file, random),
                      width = std::min<std::size_t>(1ull << (random() % 4), file.size() - at);
    std::memcpy(file.data() + at, &number, width);
    return "write a number of " + std::to_string(width) + " bytes at " + std::to_string(at);
}

std::string truncate(Bytes& file, const Bytes&, Random& random)
{
    file.resize(position(file, random));
    return "truncate to " + std::to_string(file.size());
}

std::string append(Bytes& file, const Bytes&, Random& random)
{
    const std::size_t count = 1 + below(random, 64);
    for (std::size_t i = 0; i < count; ++i) file.push_back(static_cast<unsigned char>(random()));
    return "append " + std::to_string(count) + " bytes";
}

std::string splice(Bytes& file, const Bytes& other, Random& random)
{
    const std::size_t from = below(random, other.size()), at = position(file, random);
    const std::size_t count = std::min({1 + below(random, 256), other.size() - from, file.size() - at});
    std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), count,
                file.begin() + static_cast<std::ptrdiff_t>(at));
    return "splice " + std::to_string(count) + " bytes at " + std::to_string(at);
}

std::string removeChunk(Bytes& file, const Bytes&, Random& random)
{
    const auto at = static_cast<std::ptrdiff_t>(position(file, random));
    const auto count =
        static_cast<std::ptrdiff_t>(std::min(1 + below(random, 64), file.size() - static_cast<std::size_t>(at)));
    file.erase(file.begin() + at, file.begin() + at + count);
    return "remove " + std::to_string(count) + " bytes at " + std::to_string(at);
}

std::string repeatChunk(Bytes& file, const Bytes&, Random& random)
{
    const auto at = static_cast<std::ptrdiff_t>(position(file, random));
    const std::size_t count = std::min(1 + below(random, 64), file.size() - static_cast<std::size_t>(at));
    const Bytes chunk(file.begin() + at, file.begin() + at + static_cast<std::ptrdiff_t>(count));
    file.insert(file.begin() + at, chunk.begin(), chunk.end());
    return "repeat " + std::to_string(count) + " bytes at " + std::to_string(at);
}

// Numbers and names in headers and code are text: change a digit, a letter or a bracket near a random place.
std::string editText(Bytes& file, const Bytes&, Random& random)
{
    static const std::string replacements = "0123456789-.eE\"'[]{}(),:<>bfFiOuV \n\\";
    std::size_t at = position(file, random);
    for (int step = 0; step < 64 && !std::isgraph(file[at]); ++step) at = (at + 1) % file.size();
    file[at] = static_cast<unsigned char>(replacements[below(random, replacements.size())]);
    return "edit a character at " + std::to_string(at);
}

using Mutation = std::string (*)(Bytes&, const Bytes&, Random&);

constexpr std::array<Mutation, 8> all{flipBits, writeNumber, truncate,    append,
                                      splice,   removeChunk, repeatChunk, editText};
constexpr std::array<Mutation, 4> sizeKeeping{flipBits, writeNumber, splice, editText};

std::uint32_t crc32(const unsigned char* data, std::size_t size)
{
    std::uint32_t crc = 0xffffffffu;
    for (std::size_t i = 0; i < size; ++i) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    return ~crc;
}

template <class T>
T read(const Bytes& file, std::size_t at)
{
    T value{};
    if (at + sizeof value <= file.size()) std::memcpy(&value, file.data() + at, sizeof value);
    return value;
}

struct StoredEntry {
    std::size_t directory = 0, local = 0, content = 0, size = 0;
};

// Entries of the central directory that are not compressed and not empty.
std::vector<StoredEntry> storedEntries(const Bytes& archive)
{
    std::vector<StoredEntry> entries;
    for (std::size_t at = 0; at + 46 <= archive.size(); ++at) {
        if (read<std::uint32_t>(archive, at) != 0x02014b50u || read<std::uint16_t>(archive, at + 10) != 0) continue;
        StoredEntry entry{at, read<std::uint32_t>(archive, at + 42), 0, read<std::uint32_t>(archive, at + 20)};
        entry.content = entry.local + 30 + read<std::uint16_t>(archive, entry.local + 26) +
                        read<std::uint16_t>(archive, entry.local + 28);
        if (entry.size > 0 && entry.content + entry.size <= archive.size()) entries.push_back(entry);
    }
    return entries;
}

void correctChecksum(Bytes& archive, const StoredEntry& entry)
{
    const std::uint32_t crc = crc32(archive.data() + entry.content, entry.size);
    std::memcpy(archive.data() + entry.directory + 16, &crc, sizeof crc);
    std::memcpy(archive.data() + entry.local + 14, &crc, sizeof crc);
}

}  // namespace

std::string mutate(Bytes& file, const Bytes& other, Random& random)
{
    std::string story;
    const std::size_t count = 1 + below(random, 3);
    for (std::size_t i = 0; i < count && !file.empty(); ++i)
        story += (i ? "; " : "") + all[below(random, all.size())](file, other, random);
    return story;
}

std::string mutateEntry(Bytes& archive, const Bytes& other, Random& random)
{
    const std::vector<StoredEntry> entries = storedEntries(archive);
    if (entries.empty()) return mutate(archive, other, random);
    const StoredEntry entry = entries[below(random, entries.size())];
    const auto begin = archive.begin() + static_cast<std::ptrdiff_t>(entry.content);
    Bytes content(begin, begin + static_cast<std::ptrdiff_t>(entry.size));
    std::string story = "in the entry at " + std::to_string(entry.local) + ": ";
    const std::size_t count = 1 + below(random, 3);
    for (std::size_t i = 0; i < count; ++i)
        story += (i ? "; " : "") + sizeKeeping[below(random, sizeKeeping.size())](content, other, random);
    std::copy(content.begin(), content.end(), begin);
    correctChecksum(archive, entry);
    return story;
}

}  // namespace hopscope::faults
