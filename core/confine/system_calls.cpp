#include <seccomp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sched.h>
#include <sys/socket.h>

#include "confine/confine.h"

namespace hopscope::confine {

namespace {

// Refused with EPERM, as for a user who may not. None is needed for reading files and computing on CPUs and GPUs.
constexpr std::array refused{
    // the network; pairs of sockets between a process and its child stay, and a socket that nothing can reach (below)
    SCMP_SYS(connect), SCMP_SYS(accept), SCMP_SYS(accept4),
    // other programs and processes
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_open), SCMP_SYS(kcmp), SCMP_SYS(process_madvise),
    // cutting files by name, which Landlock guards from its third version on; open files can be cut
    SCMP_SYS(truncate),
    // another view of the system
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(move_mount),
    SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr), SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(name_to_handle_at), SCMP_SYS(mknod), SCMP_SYS(mknodat),
    // the system itself
    SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(reboot), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load),
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(acct), SCMP_SYS(quotactl),
    SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex), SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(vhangup), SCMP_SYS(syslog),
    // large or rarely used parts of the kernel, in which faults are found again and again
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register), SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key)};

constexpr std::array<std::uint64_t, 7> namespaces{CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                                  CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

// NVIDIA's driver listens on a socket of this kind, to share memory with other processes, and fails if it cannot. Such
// a socket sends nothing before it is connected, which it never is: connect() and accept() are refused, and Landlock gives it
// no name among files.
constexpr std::uint64_t ofDriver = SOCK_SEQPACKET, kindBits = 0xf;

// A filter can compare masked bits only for equality: each rule refuses the kinds that differ in one bit.
int refuseSockets(const Filter& filter)
{
    const auto refuse = [&](const scmp_arg_cmp& which) {
        return seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, which);
    };
    int failed = refuse(SCMP_A0(SCMP_CMP_NE, AF_UNIX));
    for (std::uint64_t bit = 1; bit < kindBits && failed == 0; bit *= 2)
        failed = refuse(SCMP_A1(SCMP_CMP_MASKED_EQ, bit, ~ofDriver & bit));
    return failed;
}

int addRules(const Filter& filter)
{
    for (const int call : refused)
        if (const int failed = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0); failed != 0)
            return failed;
    for (const std::uint64_t space : namespaces)
        if (const int failed = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                                SCMP_A0(SCMP_CMP_MASKED_EQ, space, space));
            failed != 0)
            return failed;
    if (const int failed = refuseSockets(filter); failed != 0) return failed;
    // Its flags lie in memory, where a filter cannot see them; the C library uses clone() instead.
    return seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

}  // namespace

std::string guardSystemCalls()
{
    const Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
    if (!filter) return "no filter of system calls can be installed";
    seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE,
                     2);  // a search in a tree instead of a list; absence costs time only
    int failed = addRules(filter);
    if (failed == 0) failed = seccomp_load(filter.get());
    return failed == 0 ? std::string() : std::string("seccomp: ") + std::strerror(-failed);
}

}  // namespace hopscope::confine
