#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "attempts.h"
#include "base/folder.h"
#include "base/wait.h"
#include "confine/confine.h"
#include "support/temporary_folder.h"

using namespace hopscope;
namespace fs = std::filesystem;

namespace {

// A folder of the user's beside one that the process may write to and one with inputs.
struct World {
    test::TemporaryFolder holder;
    std::string victim = holder.path + "/victim", own = holder.path + "/own", inputs = holder.path + "/inputs";

    World()
    {
        for (const std::string& folder : {victim + "/folder", victim + "/empty", own, inputs})
            fs::create_directories(folder);
        for (const std::string& file : {victim + "/file", own + "/file", inputs + "/file", inputs + "/other"})
            std::ofstream(file) << "precious";
    }
    [[nodiscard]] confine::Access access() const
    {
        return {.read = {inputs + "/file"}, .write = {own}, .rearrange = {}};
    }
    [[nodiscard]] bool untouched() const
    {
        int found = 0;
        for (const fs::directory_entry& entry : fs::directory_iterator(victim)) found += entry.exists() ? 1 : 0;
        return found == 3 && fs::file_size(victim + "/file") == 8;
    }
};

// The text that a confined child returns; the reason where it cannot be confined.
std::string inConfinement(const World& world, const confine::Access& access, const std::function<std::string()>& act)
{
    const std::string said = world.holder.path + "/said";
    const int out = ::open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const pid_t child = fork();
    if (child == 0) {
        const std::string state = confine::enter(access);
        const std::string text = state == "confined" ? act() : state;
        _exit(::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(out);
    CHECK(base::waitForEnd(child) == 0);
    std::ifstream file(said);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string errorText(int error) { return std::to_string(error); }

}  // namespace

TEST_CASE("a confined process cannot reach beyond its files")
{
    const World world;
    const std::string done = inConfinement(world, world.access(), [&] {
        std::string succeeded;
        for (const test::Attempt& attempt : test::attempts(world.victim, world.own, getppid()))
            if (attempt.error == 0) succeeded += attempt.name + "; ";
        return succeeded;
    });
    CHECK(done == "");
    CHECK(world.untouched());
}

TEST_CASE("the same attempts succeed in a process that is not confined")
{
    const World world;
    // Some of them: the others need root, or end this process.
    const pid_t child = fork();
    if (child == 0) {
        const pid_t victim = getppid();
        int failed = 0;
        for (const int error :
             {test::opening(world.victim + "/file", O_RDONLY), test::opening(world.victim, O_RDONLY | O_DIRECTORY),
              test::opening(world.victim + "/new", O_WRONLY | O_CREAT), test::connecting(AF_INET, SOCK_STREAM),
              test::connecting(AF_UNIX, SOCK_STREAM), test::connecting(AF_UNIX, SOCK_DGRAM), test::reachingAService(),
              test::DriverSocket().listen(world.own + "/service"), test::errorOf(::kill(victim, 0)),
              test::errorOf(::truncate((world.victim + "/file").c_str(), 0)),
              test::opening("/proc/" + std::to_string(victim) + "/environ", O_RDONLY)})
            failed += error != 0 ? 1 : 0;
        _exit(failed);
    }
    CHECK(base::waitForEnd(child) == 0);
}

TEST_CASE("a confined process reaches the files that it was given")
{
    const World world;
    fs::create_symlink(world.inputs + "/file", world.holder.path + "/link");
    fs::create_directories(world.holder.path + "/data");
    fs::create_symlink(world.inputs + "/other", world.holder.path + "/data/x.npy");
    confine::Access access = world.access();
    access.read = {world.holder.path + "/link", world.holder.path + "/data", world.holder.path + "/missing"};
    const std::string failures = inConfinement(world, access, [&] {
        const std::string& own = world.own;
        std::string failed;
        const auto works = [&](const char* what, int error) {
            if (error != 0) failed += std::string(what) + ": " + errorText(error) + "; ";
        };
        works("read through a link", test::opening(world.holder.path + "/link", O_RDONLY));
        works("read through a link in a folder", test::opening(world.holder.path + "/data/x.npy", O_RDONLY));
        works("make", test::opening(own + "/made", O_RDWR | O_CREAT | O_EXCL));
        works("cut", test::errorOf(::truncate((own + "/made").c_str(), 3)) == EPERM ? 0 : 1);
        works("empty", test::opening(own + "/made", O_WRONLY | O_TRUNC));
        works("make a folder", test::errorOf(::mkdir((own + "/below").c_str(), 0700)));
        works("move", test::errorOf(::rename((own + "/made").c_str(), (own + "/below/moved").c_str())));
        works("remove", test::errorOf(::unlink((own + "/below/moved").c_str())));
        works("remove a folder", test::errorOf(::rmdir((own + "/below").c_str())));
        works("know memory", test::opening("/proc/meminfo", O_RDONLY));
        works("know itself", test::opening("/proc/self/maps", O_RDONLY));
        works("know processors", test::opening("/sys/devices/system/cpu/possible", O_RDONLY));
        works("read nothing", test::opening("/dev/null", O_RDWR));
        int ends[2];
        works("a pair of sockets", test::errorOf(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)));
        std::thread thread([&] { works("read on a thread", test::opening(world.holder.path + "/link", O_RDONLY)); });
        thread.join();
        const pid_t child = fork();
        if (child == 0) _exit(test::opening(world.victim + "/file", O_RDONLY) == EACCES ? 0 : 1);
        works("confine a child", base::waitForEnd(child));
        return failed;
    });
    CHECK(failures == "");
    CHECK(world.untouched());
}

namespace {

// What NVIDIA's driver does when it starts, besides opening its devices: it reads facts about the machine and itself, names
// threads, makes memory that others can map, and listens on a socket.
std::string startDriver()
{
    std::string failed;
    const auto works = [&](const char* what, int error) {
        if (error != 0) failed += std::string(what) + ": " + errorText(error) + "; ";
    };
    for (const char* const file : {"/proc/self/maps", "/proc/self/status", "/proc/devices", "/proc/meminfo",
                                   "/proc/cpuinfo", "/proc/sys/vm/mmap_min_addr"})
        works(file, test::opening(file, O_RDONLY));
    std::thread thread([&] {
        const std::string name = "/proc/self/task/" + std::to_string(::gettid()) + "/comm";
        works("name a thread", test::opening(name, O_RDWR | O_TRUNC));
        works("know itself on a thread", test::opening("/proc/thread-self/status", O_RDONLY));
    });
    thread.join();
    works("memory without a name", test::errorOf(::memfd_create("driver", MFD_CLOEXEC)));
    works("listen", test::DriverSocket().listen(std::string(1, '\0') + "driver-" + std::to_string(::getpid())));
    return failed;
}

// A process beside the confined one that makes the kernel forget names and inodes that are not in use, as it does when memory
// becomes short, and returns whether it may.
bool forgetNames()
{
    const int handle = ::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
    const bool done = handle >= 0 && ::write(handle, "2", 1) == 1;
    ::close(handle);
    return done;
}

}  // namespace

TEST_CASE("a confined process can start NVIDIA's driver")
{
    const World world;
    CHECK(inConfinement(world, world.access(), startDriver) == "");
}

TEST_CASE("a confined process keeps its rights when memory becomes short")
{
    const World world;
    int wish[2], granted[2];
    REQUIRE((::pipe2(wish, O_CLOEXEC) == 0 && ::pipe2(granted, O_CLOEXEC) == 0));
    std::thread beside([&] {
        char byte = 0;
        if (::read(wish[0], &byte, 1) != 1) return;
        byte = forgetNames() ? 1 : 0;
        if (byte == 0) std::printf("skipped: only root can make the kernel forget\n");
        CHECK(::write(granted[1], &byte, 1) == 1);
    });
    CHECK(inConfinement(world, world.access(), [&] {
              char byte = 0;
              if (::write(wish[1], &byte, 1) != 1 || ::read(granted[0], &byte, 1) != 1) return std::string("no answer");
              return startDriver() + (test::opening(world.inputs + "/file", O_RDONLY) == 0 ? "" : "no file");
          }) == "");
    ::close(wish[1]);
    beside.join();
    for (const int end : {wish[0], granted[0], granted[1]}) ::close(end);
}

TEST_CASE("folders can be renamed and removed where that is allowed, files cannot")
{
    const World world;
    fs::create_directories(world.holder.path + "/around/partial/deep");
    std::ofstream(world.holder.path + "/around/file") << "precious";
    const std::string around = world.holder.path + "/around", partial = around + "/partial";
    const confine::Access access{.read = {}, .write = {partial}, .rearrange = {around}};
    CHECK(inConfinement(world, access, [&] {
              std::string wrong;
              if (::unlink((around + "/file").c_str()) == 0) wrong += "a file was removed; ";
              if (test::opening(around + "/new", O_WRONLY | O_CREAT) == 0) wrong += "a file was made; ";
              if (test::opening(partial + "/new", O_WRONLY | O_CREAT) != 0) wrong += "no file in the partial folder; ";
              if (::rename(partial.c_str(), (around + "/whole").c_str()) != 0) wrong += "not renamed; ";
              base::removeFolder(around + "/whole");
              if (fs::exists(around + "/whole")) wrong += "not removed; ";
              return wrong;
          }) == "");
    CHECK(fs::file_size(around + "/file") == 8);
}

TEST_CASE("an allocation beyond the machine's memory fails in the process")
{
    const World world;
    CHECK(inConfinement(world, world.access(), [] {
              rlimit data{}, core{};
              getrlimit(RLIMIT_DATA, &data);
              getrlimit(RLIMIT_CORE, &core);
              void* const block = std::malloc(std::size_t(1) << 46);
              std::free(block);
              return std::string(data.rlim_cur == RLIM_INFINITY ? "no limit; " : "") +
                     (block != nullptr ? "allocated; " : "") + (core.rlim_max != 0 ? "cores; " : "");
          }) == "");
}

TEST_CASE("a process says whether it is confined")
{
    CHECK(confine::state() == "not confined: this command opens no model");
    CHECK(confine::tried() == "confined");
    CHECK(confine::state() == "not confined: this command opens no model");
    const World world;
    CHECK(inConfinement(world, world.access(), [] { return confine::state(); }) == "confined");
    CHECK(inConfinement(world, world.access(), [] {
              confine::renounce("--no-sandbox");
              return confine::state();
          }) == "not confined: --no-sandbox");
}
