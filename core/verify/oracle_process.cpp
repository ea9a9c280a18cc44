#include "verify/oracle_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/proc.h"
#include "base/temporary_file.h"
#include "base/wait.h"
#include "verify/fork_server.h"

extern char** environ;

namespace hopscope::verify {

namespace {

using Clock = std::chrono::steady_clock;
using base::ErrorCode;

std::string readText(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string firstLine(const std::string& path)
{
    std::array<char, 1024> line{};
    std::ifstream(path, std::ios::binary).getline(line.data(), line.size());
    return line.data();
}

std::vector<std::string> commandLine(const OracleChild& child, const std::string& request)
{
    std::vector<std::string> command = child.program;
    if (command.empty()) command = {"/proc/self/exe", "oracle"};
    if (command[0] == "/proc/self/exe") {
        std::error_code ignored;
        const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
        if (!ignored) command[0] = self.string();
    }
    command.push_back(request);
    return command;
}

// A child, whichever way it was begun.
class Process {
public:
    explicit Process(pid_t started) : m_pid(started) {}
    explicit Process(ForkedChild forked) : m_pid(forked.pid()), m_forked(std::move(forked)) {}

    // Once it has ended, after waiting for that for so long at most.
    [[nodiscard]] std::optional<ChildEnd> ended(std::chrono::milliseconds within, std::int64_t memory)
    {
        if (m_forked) return m_forked->ended(within);
        if (waitpid(m_pid, &m_end.status, WNOHANG) == m_pid) return m_end;
        m_end.peak = std::max(m_end.peak, base::anonymousMemory(std::to_string(m_pid)));
        m_end.overMemory = memory > 0 && m_end.peak > memory;
        if (m_end.overMemory) return kill();
        std::this_thread::sleep_for(within);
        return std::nullopt;
    }
    ChildEnd kill()
    {
        if (m_forked) return m_forked->kill();
        ::kill(m_pid, SIGKILL);
        m_end.status = base::waitForEnd(m_pid);
        return m_end;
    }

private:
    pid_t m_pid;
    std::optional<ForkedChild> m_forked;
    ChildEnd m_end;
};

base::Result<Process> spawn(std::vector<std::string> command, const std::string& log)
{
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    // An own process group, so that a Ctrl-C at the terminal reaches only the parent, which ends the child in order; and
    // no signal blocked, whatever the parent's threads block.
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0)
        return base::fail(ErrorCode::Internal,
                          "the oracle " + command[0] + " cannot be started: " + std::strerror(error));
    return Process(pid);
}

// This program's own oracle takes next to no time where the program has a server for it.
base::Result<Process> begun(const OracleChild& child, const std::string& request, const std::string& log)
{
    if (child.program.empty())
        if (std::optional<ForkedChild> forked = forkChild(request, log, child.memory))
            return Process(*std::move(forked));
    return spawn(commandLine(child, request), log);
}

enum class Watch : std::uint8_t { Ended, Cancelled, Memory, Time };

struct Watched {
    Watch why = Watch::Ended;
    ChildEnd end;
};

Watched watch(Process& process, const OracleChild& child, Clock::time_point start, const std::stop_token& stop)
{
    for (;;) {
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        const std::chrono::milliseconds pause(elapsed.count() < 0.1 ? 2 : 10);
        if (const std::optional<ChildEnd> end = process.ended(pause, child.memory))
            return {end->overMemory ? Watch::Memory : Watch::Ended, *end};
        if (stop.stop_requested()) return {Watch::Cancelled, process.kill()};
        if (child.seconds && elapsed.count() > *child.seconds) return {Watch::Time, process.kill()};
    }
}

std::string signalSentence(int signal)
{
    std::string name = strsignal(signal) ? strsignal(signal) : "unknown";
    return "the model's own forward was terminated by signal " + std::to_string(signal) + " (" + name + ")";
}

// OUTPUT.error: "memory" or "refused" on the first line, then the message.
OracleOutcome readRefusal(const std::string& output, const std::string& log)
{
    const std::string text = readText(output + ".error");
    const std::size_t line = text.find('\n');
    if (line == std::string::npos) {
        const std::string said = firstLine(log);
        return {OracleEnd::Refused,
                "the oracle ended without a result or a reason" + (said.empty() ? "" : ": " + said)};
    }
    const OracleEnd end = text.starts_with("memory") ? OracleEnd::OutOfMemory : OracleEnd::Refused;
    return {end, text.substr(line + 1)};
}

bool holdsSomething(const std::string& path)
{
    std::error_code absent;
    return std::filesystem::file_size(path, absent) > 0 && !absent;
}

OracleOutcome interpret(const Watched& watched, const std::string& output, const std::string& log)
{
    if (watched.why == Watch::Memory) return {OracleEnd::OutOfMemory, "the oracle reached its memory limit"};
    if (watched.why == Watch::Time) return {OracleEnd::TimedOut, "the oracle reached its time limit"};
    if (WIFSIGNALED(watched.end.status)) {
        const int signal = WTERMSIG(watched.end.status);
        if (signal == SIGKILL)
            return {OracleEnd::OutOfMemory, "the oracle was killed, probably because the system ran out of memory"};
        return {OracleEnd::Died, signalSentence(signal)};
    }
    if (WEXITSTATUS(watched.end.status) == 0 && holdsSomething(output)) return {OracleEnd::Done, {}};
    return readRefusal(output, log);
}

base::Status writeRequest(const std::string& path, const json::Value& request)
{
    std::ofstream out(path, std::ios::binary);
    out << json::write(request, true);
    out.close();
    if (!out) return base::fail(ErrorCode::Resources, "the oracle's request cannot be written to " + path);
    return {};
}

// Removes a file that a child may have written, whatever happens.
struct Leftover {
    std::string path;
    ~Leftover()
    {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

}  // namespace

base::Result<OracleOutcome> runOracle(const OracleChild& child, json::Value request, std::stop_token stop)
{
    const base::TemporaryFile asked(child.folder, "-oracle.json"), log(child.folder, "-oracle.log");
    const std::string output = *request["output"].asString();
    const Leftover refusal{output + ".error"};
    request["memory"] = child.memory;
    request["parent"] = static_cast<std::int64_t>(getpid());
    if (base::Status written = writeRequest(asked.path(), request); !written) return base::forward(written);
    const Clock::time_point start = Clock::now();
    base::Result<Process> process = begun(child, asked.path(), log.path());
    if (!process) return base::forward(process);
    const Watched watched = watch(*process, child, start, stop);
    if (watched.why == Watch::Cancelled)
        return base::fail(ErrorCode::Cancelled, "the model's own forward was cancelled");
    OracleOutcome outcome = interpret(watched, output, log.path());
    outcome.peakMemory = watched.end.peak;
    outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return outcome;
}

}  // namespace hopscope::verify
