#include "models/forked.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "loader/prepare.h"

namespace hopscope::models {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t textBytes = 16384;

struct Child {
    std::size_t job = 0, place = 0;
    Clock::time_point start;
};

// One page of text per child, shared with the parent.
class Board {
public:
    explicit Board(std::size_t places)
        : m_bytes(places * textBytes),
          m_text(static_cast<char*>(mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
    {}
    ~Board() { munmap(m_text, m_bytes); }
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;
    [[nodiscard]] char* at(std::size_t place) const { return m_text + place * textBytes; }

private:
    std::size_t m_bytes;
    char* m_text;
};

void write(char* page, const std::string& text)
{
    const std::size_t size = std::min(text.size(), textBytes - 1);
    std::memcpy(page, text.data(), size);
    page[size] = 0;
}

void limit(const Limits& limits)
{
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (limits.memory > 0) {
        const rlimit memory{static_cast<rlim_t>(limits.memory), static_cast<rlim_t>(limits.memory)};
        setrlimit(RLIMIT_AS, &memory);
    }
    alarm(limits.seconds);
}

[[noreturn]] void runChild(std::size_t job, char* page, const Limits& limits, const Work& work)
{
    limit(limits);
    const int code = work.run(job, [page](const std::string& text) { write(page, text); });
    std::fflush(nullptr);
    _exit(code);
}

ChildResult resultOf(int status, const Child& child, const char* page)
{
    ChildResult result;
    result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.seconds = std::chrono::duration<double>(Clock::now() - child.start).count();
    result.text = page;
    return result;
}

}  // namespace

void runForked(std::size_t count, const Limits& limits, const Work& work)
{
    loader::prepareLibTorch();
    const Board board(static_cast<std::size_t>(limits.children));
    std::vector<std::size_t> freePlaces;
    for (int p = 0; p < limits.children; ++p) freePlaces.push_back(static_cast<std::size_t>(p));
    std::map<pid_t, Child> running;
    std::size_t next = 0;
    while (next < count || !running.empty()) {
        while (next < count && !freePlaces.empty()) {
            const Child child{next++, freePlaces.back(), Clock::now()};
            freePlaces.pop_back();
            write(board.at(child.place), "");
            std::fflush(nullptr);
            const pid_t pid = fork();
            if (pid == 0) runChild(child.job, board.at(child.place), limits, work);
            running[pid] = child;
        }
        int status = 0;
        const pid_t ended = wait(&status);
        const auto it = running.find(ended);
        if (it == running.end()) continue;
        work.finished(it->second.job, resultOf(status, it->second, board.at(it->second.place)));
        freePlaces.push_back(it->second.place);
        running.erase(it);
    }
}

}  // namespace hopscope::models
