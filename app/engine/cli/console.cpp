#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "base/units.h"
#include "schema/error.h"

namespace hopscope::engine {

namespace {

constexpr auto updateEvery = std::chrono::milliseconds(50);
constexpr int mostNotes = 200;

bool isTerminal(int descriptor)
{
    const char* const term = std::getenv("TERM");
    return isatty(descriptor) != 0 && !(term != nullptr && std::string(term) == "dumb");
}

bool noColour()
{
    const char* const wish = std::getenv("NO_COLOR");
    return wish != nullptr && *wish != '\0';
}

double secondsBetween(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to)
{
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::string Style::wrap(const char* code, const std::string& text) const
{
    return colour ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
}

Console::Console(bool json, bool quiet, bool verbose)
    : m_json(json),
      m_quiet(quiet),
      m_verbose(verbose),
      m_live(!quiet && isTerminal(STDERR_FILENO))
{}

Style Console::style() const { return {isTerminal(STDOUT_FILENO) && !noColour()}; }

void Console::print(const std::string& text)
{
    progressEnded();
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if ((std::fflush(stdout) != 0 || !whole) && m_lost == 0) m_lost = errno;
}

void Console::note(const std::string& sentence)
{
    if (m_quiet || ++m_notes > mostNotes + 1) return;
    progressEnded();
    const std::string said = m_notes > mostNotes ? "further notes are not shown here" : base::oneLine(sentence);
    std::fprintf(stderr, "note: %s\n", said.c_str());
}

void Console::minorNote(const std::string& sentence)
{
    if (m_verbose) note(sentence);
}

void Console::error(const base::Error& error)
{
    progressEnded();
    if (m_json) print(schema::writeError(error));
    else std::fprintf(stderr, "error: %s\n", base::describe(error).c_str());
}

void Console::progress(const base::Progress& step)
{
    if (!m_live) return;
    const Clock::time_point now = Clock::now();
    if (step.what != m_what) {
        m_what = step.what;
        m_firstDone = step.done;
        m_started = now;
    } else if (now - m_updated < updateEvery) {
        return;
    }
    m_updated = now;
    m_shown = true;
    const std::string text = progressText(step, m_firstDone, secondsBetween(m_started, now));
    std::fprintf(stderr, "\r\033[K%s", base::oneLine(text, 200).c_str());
    std::fflush(stderr);
}

void Console::progressEnded()
{
    if (!m_shown) return;
    std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
    m_shown = false;
}

std::string progressText(const base::Progress& progress, std::int64_t first, double seconds)
{
    std::string text = progress.what;
    if (progress.total <= 0) return text;
    const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
    text += "  " + std::to_string(static_cast<int>(share * 100)) + " %";
    const auto advanced = static_cast<double>(progress.done - first);
    if (seconds < 0.2 || advanced <= 0) return text;
    const double rate = advanced / seconds;
    text += "  " + base::formatCount(rate) + "/s";
    if (progress.done < progress.total)
        text += "  " + base::formatSeconds(static_cast<double>(progress.total - progress.done) / rate) + " left";
    return text;
}

}  // namespace hopscope::engine
