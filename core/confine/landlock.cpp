#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "confine/confine.h"

namespace hopscope::confine {

namespace fs = std::filesystem;

namespace {

// The interface of Linux 6.12 (include/uapi/linux/landlock.h). Debian 12's headers end with its second version.
using Rights = std::uint64_t;
constexpr Rights execute = 1U << 0, writeFile = 1U << 1, readFile = 1U << 2, readFolder = 1U << 3,
                 removeFolder = 1U << 4, removeFile = 1U << 5, makeFolder = 1U << 7, makeFile = 1U << 8,
                 makeLink = 1U << 12, refer = 1U << 13, truncateFile = 1U << 14, controlDevice = 1U << 15;
constexpr Rights first = (1U << 13) - 1;   // that the first version knows
constexpr Rights network = 3, scopes = 3;  // TCP; signals and sockets without a file

struct RulesetAttributes {
    Rights files = 0, network = 0, scopes = 0;
};

struct __attribute__((packed)) BelowAttributes {
    Rights rights = 0;
    std::int32_t folder = -1;
};

constexpr unsigned tellVersion = 1;
constexpr int ofFiles = 1;  // kind of a rule
constexpr int needed = 2;   // the first version that lets files move between folders

constexpr Rights ofAFile = execute | writeFile | readFile | truncateFile | controlDevice;
constexpr Rights reading = readFile | readFolder;
constexpr Rights writing =
    reading | writeFile | removeFolder | removeFile | makeFolder | makeFile | makeLink | refer | truncateFile;
constexpr Rights rearranging = removeFolder | makeFolder;
constexpr Rights device = readFile | writeFile | controlDevice;

RulesetAttributes guardedBy(long version)
{
    RulesetAttributes all{.files = first | refer};
    if (version >= 3) all.files |= truncateFile;
    if (version >= 4) all.network = network;
    if (version >= 5) all.files |= controlDevice;
    if (version >= 6) all.scopes = scopes;
    return all;
}

class Ruleset {
public:
    explicit Ruleset(const RulesetAttributes& guarded)
        : m_files(guarded.files),
          m_handle(static_cast<int>(syscall(SYS_landlock_create_ruleset, &guarded, sizeof guarded, 0)))
    {}
    Ruleset(const Ruleset&) = delete;
    Ruleset& operator=(const Ruleset&) = delete;
    ~Ruleset()
    {
        if (m_handle >= 0) close(m_handle);
    }

    [[nodiscard]] bool valid() const { return m_handle >= 0; }
    // A missing file stays out of reach.
    void allow(const std::string& path, Rights rights) const
    {
        if (const int handle = add(path, rights); handle >= 0) close(handle);
    }
    // The same for files of /proc. The process keeps them open: once memory has become short, the kernel makes a new inode
    // for a name that no process has open, and a rule holds for one inode.
    void allowProc(const std::string& path, Rights rights) const { (void)add(path, rights); }
    [[nodiscard]] bool restrict() const { return syscall(SYS_landlock_restrict_self, m_handle, 0) == 0; }

private:
    // Returns a handle of the file, or -1.
    [[nodiscard]] int add(const std::string& path, Rights rights) const
    {
        BelowAttributes rule{.rights = rights & m_files, .folder = open(path.c_str(), O_PATH | O_CLOEXEC)};
        if (rule.folder < 0) return -1;
        struct stat facts {};
        if (fstat(rule.folder, &facts) == 0 && !S_ISDIR(facts.st_mode)) rule.rights &= ofAFile;
        if (rule.rights != 0) syscall(SYS_landlock_add_rule, m_handle, ofFiles, &rule, 0);
        return rule.folder;
    }

    Rights m_files;
    int m_handle;
};

// The folders of the program and of its libraries. A library in a Python package may load others from neighbouring packages.
std::set<std::string> programFolders()
{
    std::set<std::string> folders;
    const auto add = [](dl_phdr_info* library, std::size_t, void* into) {
        std::string folder = fs::path(library->dlpi_name).parent_path().string();
        for (const char* const packages : {"/site-packages/", "/dist-packages/"})
            if (const std::size_t at = folder.find(packages); at != std::string::npos)
                folder = folder.substr(0, at + std::strlen(packages));
        if (!folder.empty()) static_cast<std::set<std::string>*>(into)->insert(folder);
        return 0;
    };
    dl_iterate_phdr(add, &folders);
    std::error_code unknown;
    folders.insert(fs::read_symlink("/proc/self/exe", unknown).parent_path().string());
    return folders;
}

// Of /proc only the machine and this process: other processes' environment would be readable.
void allowSystem(const Ruleset& rules)
{
    for (const char* const path :
         {"/usr", "/lib", "/lib64", "/sys", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom"})
        rules.allow(path, reading);
    for (const char* const name : {"self", "meminfo", "cpuinfo", "stat", "version", "loadavg", "devices", "modules",
                                   "filesystems", "driver", "sys/kernel", "sys/vm"})
        rules.allowProc(std::string("/proc/") + name, reading);
    for (const std::string& folder : programFolders()) rules.allow(folder, reading);
    // The user's own folders of libraries.
    std::istringstream folders(std::getenv("LD_LIBRARY_PATH") != nullptr ? std::getenv("LD_LIBRARY_PATH") : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (!folder.empty()) rules.allow(folder, reading);
    rules.allow("/dev/null", readFile | writeFile);
}

// NVIDIA's driver is reached through devices. It names its threads, and fails if it cannot.
void allowGpus(const Ruleset& rules)
{
    rules.allowProc("/proc/self/task", reading | writeFile | truncateFile);
    for (const char* const path : {"/dev/dri", "/dev/dxg"}) rules.allow(path, device | readFolder);
    std::error_code none;
    for (fs::directory_iterator at("/dev", none), end; !none && at != end; at.increment(none))
        if (at->path().filename().string().starts_with("nvidia")) rules.allow(at->path().string(), device | readFolder);
}

// A folder of data may hold links to files elsewhere.
void allowReading(const Ruleset& rules, const std::string& path)
{
    rules.allow(path, reading);
    std::error_code none;
    for (fs::directory_iterator at(path, none), end; !none && at != end; at.increment(none))
        if (std::error_code unknown; at->is_symlink(unknown) && at->is_regular_file(unknown))
            rules.allow(at->path().string(), reading);
}

}  // namespace

std::string guardFiles(const Access& access)
{
    const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, tellVersion);
    if (version < 0) return "this kernel has no Landlock";
    if (version < needed)
        return "this kernel's Landlock is too old (version " + std::to_string(version) + ", but 2 is needed)";
    const Ruleset rules(guardedBy(version));
    if (!rules.valid()) return std::string("Landlock: ") + std::strerror(errno);
    allowSystem(rules);
    allowGpus(rules);
    for (const std::string& path : access.read) allowReading(rules, path);
    for (const std::string& folder : access.write) rules.allow(folder, writing);
    for (const std::string& folder : access.rearrange) rules.allow(folder, rearranging);
    return rules.restrict() ? std::string() : std::string("Landlock: ") + std::strerror(errno);
}

}  // namespace hopscope::confine
