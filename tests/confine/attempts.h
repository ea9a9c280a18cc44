#pragma once

// Attempts that have to fail in a confined process. The result of each is 0 or errno.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace hopscope::test {

struct Attempt {
    std::string name;
    int error = 0;
};

inline int errorOf(long result) { return result < 0 ? errno : 0; }

inline int opening(const std::string& path, int flags)
{
    const int handle = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    const int error = errorOf(handle);
    if (handle >= 0) ::close(handle);
    return error;
}

inline int connecting(int family, int kind)
{
    const int handle = ::socket(family, kind, 0);
    if (handle < 0) return errno;
    ::close(handle);
    return 0;
}

// A socket of the kind on which a GPU's driver listens.
class DriverSocket {
public:
    DriverSocket() = default;
    DriverSocket(const DriverSocket&) = delete;
    DriverSocket& operator=(const DriverSocket&) = delete;
    ~DriverSocket() { ::close(m_handle); }

    // The first character of a name that is no file's is 0.
    int listen(const std::string& name)
    {
        const sockaddr_un address = addressOf(name);
        const int error = errorOf(::bind(m_handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
        return error != 0 ? error : errorOf(::listen(m_handle, 1));
    }
    int connect(const std::string& name)
    {
        const sockaddr_un address = addressOf(name);
        return errorOf(::connect(m_handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
    }

private:
    static sockaddr_un addressOf(const std::string& name)
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        name.copy(address.sun_path, sizeof(address.sun_path) - 1);
        return address;
    }

    int m_handle = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
};

inline int reachingAService()
{
    const std::string name = std::string(1, '\0') + "hopscope-" + std::to_string(::getpid());
    DriverSocket service, client;
    const int error = service.listen(name);
    return error != 0 ? error : client.connect(name);
}

inline int executing()
{
    char name[] = "/bin/true";
    char* const words[] = {name, nullptr};
    char* const none[] = {nullptr};
    return errorOf(::execve(name, words, none));  // does not come back where it succeeds
}

// `folder` is out of reach; it holds "file", "folder" and the empty "empty". The process may write to `own`.
inline std::vector<Attempt> attempts(const std::string& folder, const std::string& own, pid_t stranger)
{
    const std::string file = folder + "/file";
    return {
        {"read a file", opening(file, O_RDONLY)},
        {"read a password", opening("/etc/passwd", O_RDONLY)},
        {"list a folder", opening(folder, O_RDONLY | O_DIRECTORY)},
        {"write to a file", opening(file, O_WRONLY)},
        {"empty a file", opening(file, O_WRONLY | O_TRUNC)},
        {"cut a file", errorOf(::truncate(file.c_str(), 0))},
        {"make a file", opening(folder + "/new", O_WRONLY | O_CREAT)},
        {"make a nameless file", opening(folder, O_WRONLY | O_TMPFILE)},
        {"remove a file", errorOf(::unlink(file.c_str()))},
        {"rename a file", errorOf(::rename(file.c_str(), (folder + "/renamed").c_str()))},
        {"take a file", errorOf(::rename(file.c_str(), (own + "/stolen").c_str()))},
        {"link a file", errorOf(::link(file.c_str(), (own + "/linked").c_str()))},
        {"write through a link",
         errorOf(::symlink(file.c_str(), (own + "/link").c_str())) ?: opening(own + "/link", O_WRONLY)},
        {"make a folder", errorOf(::mkdir((folder + "/made").c_str(), 0700))},
        {"remove a folder", errorOf(::rmdir((folder + "/empty").c_str()))},
        {"make a pipe", errorOf(::mkfifo((folder + "/pipe").c_str(), 0600))},
        {"make a device", errorOf(::mknod((own + "/device").c_str(), S_IFCHR | 0600, 0x103))},
        {"use the network", connecting(AF_INET, SOCK_STREAM)},
        {"send a datagram", connecting(AF_INET6, SOCK_DGRAM)},
        {"reach a local service", connecting(AF_UNIX, SOCK_STREAM)},
        {"send to a local service", connecting(AF_UNIX, SOCK_DGRAM)},
        {"read raw packets of a local service", connecting(AF_UNIX, SOCK_RAW)},
        {"connect to a local service", reachingAService()},
        {"offer a service", DriverSocket().listen(own + "/service")},
        {"ask the kernel", connecting(AF_NETLINK, SOCK_RAW)},
        {"start a program", executing()},
        {"signal a stranger", errorOf(::kill(stranger, 0))},
        {"trace a stranger", errorOf(::ptrace(PTRACE_ATTACH, stranger, nullptr, nullptr))},
        {"read a stranger's memory", opening("/proc/" + std::to_string(stranger) + "/mem", O_RDONLY)},
        {"see a stranger's environment", opening("/proc/" + std::to_string(stranger) + "/environ", O_RDONLY)},
        {"become another system", errorOf(::unshare(CLONE_NEWUSER))},
        {"mount", errorOf(::mount("none", own.c_str(), "tmpfs", 0, nullptr))},
        {"change the root", errorOf(::chroot(own.c_str()))},
        {"load code into the kernel", errorOf(::syscall(SYS_bpf, 0, nullptr, 0))},
        {"start a namespace",
         errorOf(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr))},
        {"ask without a filter", errorOf(::syscall(SYS_io_uring_setup, 1, nullptr))},
        {"set the kernel", opening("/proc/sys/kernel/core_pattern", O_WRONLY)},
        {"set a device", opening("/sys/power/state", O_WRONLY)},
    };
}

}  // namespace hopscope::test
