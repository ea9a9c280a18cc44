#include "fake_device/mappings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include <c10/util/Exception.h>

namespace hopscope::fake_device {

namespace {

constexpr std::size_t keptBytes = std::size_t{256} << 20;

struct Kept {
    std::multimap<std::size_t, Mapping> bySize;
    std::size_t bytes = 0;
};

Kept& kept()
{
    static Kept& k = *new Kept;
    return k;
}

char* view(int file, std::size_t bytes, int rights)
{
    void* const data = mmap(nullptr, bytes, rights, MAP_SHARED, file, 0);
    TORCH_CHECK(data != MAP_FAILED, "mmap failed");
    return static_cast<char*>(data);
}

Mapping makeMapping(std::size_t bytes)
{
    const int file = memfd_create("fake device", MFD_CLOEXEC);
    TORCH_CHECK(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0, "no memory for the fake device");
    const Mapping made{view(file, bytes, PROT_NONE), view(file, bytes, PROT_READ | PROT_WRITE), bytes};
    close(file);
    return made;
}

}  // namespace

Mapping takeMapping(std::size_t bytes)
{
    const auto found = kept().bySize.find(bytes);
    if (found == kept().bySize.end()) return makeMapping(bytes);
    const Mapping mapping = found->second;
    kept().bySize.erase(found);
    kept().bytes -= bytes;
    return mapping;
}

void giveMapping(const Mapping& mapping)
{
    if (kept().bytes + mapping.bytes > keptBytes) {
        munmap(mapping.device, mapping.bytes);
        munmap(mapping.host, mapping.bytes);
        return;
    }
    kept().bySize.emplace(mapping.bytes, mapping);
    kept().bytes += mapping.bytes;
}

}  // namespace hopscope::fake_device
