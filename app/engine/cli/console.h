#pragma once

// Provides the terminal and the stop token, which every command uses. There is one console per process, for use by a
// single thread.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "pipeline/files/home.h"
#include "pipeline/files/output_folder.h"
#include "pipeline/files/partial_folder.h"
#include "pipeline/reporter.h"

namespace hopscope::engine {

// Formats text as bold, dim or a warning, or leaves it unchanged if colour is off.
struct Style {
    bool colour = false;
    [[nodiscard]] std::string bold(const std::string& text) const { return wrap("1", text); }
    [[nodiscard]] std::string dim(const std::string& text) const { return wrap("2", text); }
    [[nodiscard]] std::string good(const std::string& text) const { return wrap("32", text); }
    [[nodiscard]] std::string bad(const std::string& text) const { return wrap("31", text); }
    [[nodiscard]] std::string warn(const std::string& text) const { return wrap("33", text); }

private:
    [[nodiscard]] std::string wrap(const char* code, const std::string& text) const;
};

// Writes results to standard output, and notes, progress and errors to standard error.
class Console final : public pipeline::Reporter {
public:
    Console(bool json, bool quiet, bool verbose);

    [[nodiscard]] bool json() const { return m_json; }
    [[nodiscard]] bool quiet() const { return m_quiet; }
    [[nodiscard]] bool verbose() const { return m_verbose; }
    [[nodiscard]] Style style() const;  // for standard output: coloured on a terminal, unless NO_COLOR is set
    void print(const std::string& text);
    // Returns the errno of the first failed write to standard output; 0 if everything was written.
    [[nodiscard]] int lost() const { return m_lost; }
    void note(const std::string& sentence) override;
    void minorNote(const std::string& sentence) override;  // only with --verbose
    void error(const base::Error& error);                  // one line, or with --json the error document
    // Shows a line that is overwritten, with rate and remaining time; only on a terminal and at most 20 times per
    // second.
    void progress(const base::Progress& step) override;
    void progressEnded() override;

private:
    using Clock = std::chrono::steady_clock;

    bool m_json, m_quiet, m_verbose, m_live;
    bool m_shown = false;
    int m_lost = 0;  // an errno
    int m_notes = 0;
    std::string m_what;
    std::int64_t m_firstDone = 0;
    Clock::time_point m_started, m_updated;
};

// Returns "stage 2 of 3  45 %  1.2 M/s  12 s left". `seconds` have passed since the work began, when `first` units were
// done.
std::string progressText(const base::Progress& progress, std::int64_t first, double seconds);

// The outputs of a command. They are opened before the process is confined, because no rule can name a folder that does
// not exist.
struct Outputs {
    std::optional<pipeline::EngineHome> scratch;  // for all temporary files
    std::optional<pipeline::OutputFolder> run;
    std::optional<pipeline::PartialFolder> exported;
};

struct Session {
    Console& console;
    std::stop_token stop;
    Outputs& outputs;
    bool sandbox = true;
};

}  // namespace hopscope::engine
