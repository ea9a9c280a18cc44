#include "graph/given_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <map>
#include <mutex>
#include <string_view>

namespace hopscope::graph {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;

struct Mapping {
    std::uintptr_t end = 0;
    std::string path;
    FileStamp stamp;
};

// Mapped files by the address of their first byte. Never destroyed: files are unmapped late.
struct Mappings {
    std::mutex mutex;
    std::map<std::uintptr_t, Mapping> all;
};

Mappings& mappings()
{
    static auto* const made = new Mappings;
    return *made;
}

// The same for a signal handler, which may not wait for others: the first so many.
struct Slot {
    std::atomic<std::uintptr_t> begin = 0, end = 0;
    std::array<char, 1024> path{};
};
std::array<Slot, 256> slots;

std::uintptr_t numberOf(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

void fill(std::uintptr_t begin, std::uintptr_t end, const std::string& path)
{
    const auto free = std::ranges::find_if(slots, [](const Slot& slot) { return slot.begin == 0; });
    if (free == slots.end()) return;
    free->path.fill('\0');
    const std::string shown = base::makeError(base::ErrorCode::Input, path).message;  // one line
    shown.copy(free->path.data(), free->path.size() - 1);
    free->end = end;
    free->begin = begin;
}

void say(std::string_view text) { (void)!::write(STDERR_FILENO, text.data(), text.size()); }

void onBusError(int number, siginfo_t* info, void* /*context*/)
{
    if (info->si_code != BUS_ADRERR) {
        std::signal(number, SIG_DFL);
        return;  // and comes again
    }
    const std::uintptr_t at = numberOf(info->si_addr);
    say("error: ");
    const auto found = std::ranges::find_if(slots, [at](const Slot& slot) {
        const std::uintptr_t begin = slot.begin;
        return begin != 0 && begin <= at && at < slot.end;
    });
    say(found != slots.end() ? std::string_view(found->path.data()) : "a file that is mapped");
    say(" was cut short while it was read, or its disk cannot be read; write it again, but never to the name of a file "
        "that a run is reading\n");
    ::_exit(static_cast<int>(base::ErrorCode::Input));
}

}  // namespace

FileStamp FileStamp::of(const struct stat& facts)
{
    return {.device = facts.st_dev,
            .inode = facts.st_ino,
            .size = facts.st_size,
            .modified = facts.st_mtim.tv_sec * nanoseconds + facts.st_mtim.tv_nsec};
}

std::optional<FileStamp> FileStamp::of(const std::string& path)
{
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? std::optional(of(facts)) : std::nullopt;
}

void noteMapping(const void* begin, std::int64_t size, const std::string& path, const FileStamp& stamp)
{
    const std::uintptr_t first = numberOf(begin), end = first + static_cast<std::uintptr_t>(size);
    const std::lock_guard lock(mappings().mutex);
    mappings().all[first] = {.end = end, .path = path, .stamp = stamp};
    fill(first, end, path);
}

void forgetMapping(const void* begin)
{
    const std::lock_guard lock(mappings().mutex);
    mappings().all.erase(numberOf(begin));
    for (Slot& slot : slots)
        if (slot.begin == numberOf(begin)) slot.begin = 0;
}

std::optional<MappedPlace> mappedPlace(const void* address)
{
    const std::lock_guard lock(mappings().mutex);
    const auto after = mappings().all.upper_bound(numberOf(address));
    if (after == mappings().all.begin()) return std::nullopt;
    const auto& [begin, mapping] = *std::prev(after);
    if (numberOf(address) >= mapping.end) return std::nullopt;
    return MappedPlace{mapping.path, static_cast<std::int64_t>(numberOf(address) - begin), mapping.stamp};
}

void GivenFiles::add(const std::string& path)
{
    if (const std::optional<FileStamp> stamp = FileStamp::of(path)) m_files.push_back({path, *stamp});
}

void GivenFiles::addMapped(const void* address)
{
    const std::optional<MappedPlace> place = mappedPlace(address);
    const auto same = [&](const Given& given) { return given.path == place->path; };
    if (place && std::ranges::none_of(m_files, same)) m_files.push_back({place->path, place->stamp});
}

base::Status GivenFiles::unchanged(const std::vector<std::string>& but) const
{
    for (const auto& [path, stamp] : m_files) {
        if (std::ranges::find(but, path) != but.end()) continue;
        const std::optional<FileStamp> now = FileStamp::of(path);
        if (now == stamp) continue;
        return base::fail(base::ErrorCode::Input,
                          path + (now ? " changed while the run read it" : " was removed while the run read it"),
                          "run again; write changed inputs to files with other names", path);
    }
    return {};
}

void explainCutFiles()
{
    struct sigaction action {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace hopscope::graph
