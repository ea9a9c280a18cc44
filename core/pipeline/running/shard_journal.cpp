#include "pipeline/running/shard_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

#include "base/units.h"
#include "pipeline/files/folder_lock.h"
#include "pipeline/running/chunk_lines.h"

namespace hopscope::pipeline {

namespace fs = std::filesystem;

namespace {

constexpr const char* foundationName = "begin";    // locked by the shard that makes the plan
constexpr std::chrono::milliseconds interval(50);  // between looks at the progress of other shards
constexpr std::chrono::seconds quiet(10);          // of waiting, before a note gives the reason

std::string ownName(const OutputFolder& folder)
{
    return std::string(chunksName) + "-" + std::to_string(folder.share()->index);
}

std::string shardName(int index, int count)
{
    return "shard " + std::to_string(index) + " of " + std::to_string(count);
}

// Reads from `from` to the last complete line. Opening the file makes network file systems check for changes.
std::string readLines(const std::string& path, std::size_t from)
{
    std::string text;
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return text;
    std::array<char, 1 << 16> piece{};
    for (auto at = static_cast<off_t>(from);;) {
        const ssize_t size = pread(file, piece.data(), piece.size(), at);
        if (size <= 0) break;
        text.append(piece.data(), static_cast<std::size_t>(size));
        at += size;
    }
    close(file);
    return text;
}

}  // namespace

std::string nameOfRun(const Conditions& conditions)
{
    std::string text;
    for (const auto& [name, value] : conditions) text += name + "=" + value + "\n";
    return graph::digestOf(text.data(), text.size()).hex();
}

// ---- who begins

ShardJournal::ShardJournal(OutputFolder& folder, const Conditions& conditions, const ShardOptions& options,
                           Reporter& reporter)
    : RunJournal(folder, conditions, ownName(folder)),
      m_options(options),
      m_reporter(reporter),
      m_own(ownName(folder))
{}

ShardJournal::~ShardJournal()
{
    if (m_foundation >= 0) close(m_foundation);
}

base::Result<std::unique_ptr<RunJournal>> ShardJournal::open(OutputFolder& folder, const Conditions& conditions,
                                                             const ShardOptions& options, Reporter& reporter,
                                                             const std::stop_token& stop)
{
    std::unique_ptr<ShardJournal> journal(new ShardJournal(folder, conditions, options, reporter));
    if (const base::Status founded = journal->found(stop); !founded) return base::forward(founded);
    if (const base::Status chunks = journal->readChunks(); !chunks) return base::forward(chunks);
    return std::unique_ptr<RunJournal>(std::move(journal));
}

// Waits until another process has started the run, or this one may start it.
base::Status ShardJournal::found(const std::stop_token& stop)
{
    while (!hasBegun()) {
        std::string holder;
        if (m_foundation < 0)
            m_foundation = tryToLock(folder().root(), OutputFolder::inJournal(foundationName), holder);
        if (m_foundation >= 0 && !hasBegun()) return {};
        if (m_foundation >= 0) break;
        const std::string other = holder.empty() ? "" : " (" + holder + ")";
        if (const base::Status paused = pause("waiting for the shard that makes the plan" + other, {}, stop); !paused)
            return paused;
    }
    if (m_foundation >= 0) close(std::exchange(m_foundation, -1));
    ready();
    return readBegun();
}

base::Result<std::vector<executor::Chunk>> ShardJournal::begin(std::int64_t batchBytes,
                                                               const std::vector<plan::LoopCut>& cuts)
{
    const base::Result<std::vector<executor::Chunk>> own = RunJournal::begin(batchBytes, cuts);
    if (!own) return own;
    if (m_foundation >= 0) close(std::exchange(m_foundation, -1));
    const std::lock_guard lock(m_mutex);
    m_recorded = foundEnd();
    return gather();
}

std::string ShardJournal::whatCannot() const
{
    return dealer() == nullptr ? RunJournal::whatCannot() : "this worker cannot join the run that others have started";
}

// ---- records

base::Status ShardJournal::append(const executor::Chunk& chunk)
{
    if (const base::Status same = inputsAreSame(); !same) return same;
    const base::Result<std::int64_t> written = write(chunkLine(chunk));
    if (!written) return base::forward(written);
    folder().keepJournal();
    const std::lock_guard lock(m_mutex);
    m_recorded = *written;
    return {};
}

std::int64_t ShardJournal::end() const
{
    const std::lock_guard lock(m_mutex);
    return m_recorded;
}

// Rows first, then their records, then the line that lets others count on them.
base::Status ShardJournal::sync(std::int64_t end)
{
    const std::lock_guard lock(m_mutex);
    if (end <= m_settled) return {};
    if (const base::Status synced = RunJournal::sync(end); !synced) return synced;
    if (const base::Result<std::int64_t> told = write(settledLine(end)); !told) return base::forward(told);
    m_settled = end;
    return RunJournal::sync(end);
}

base::Status ShardJournal::readMore(const std::string& path, Source& source) const
{
    const std::string text = readLines(path, source.at);
    ChunkLines lines = readChunkLines(text);
    const auto from = static_cast<std::int64_t>(source.at);
    for (std::size_t i = 0; i < lines.chunks.size(); ++i) {
        source.chunks.push_back(std::move(lines.chunks[i]));
        source.ends.push_back(from + static_cast<std::int64_t>(lines.ends[i]));
    }
    source.settled = std::max(source.settled, lines.settled);
    source.at += lines.end;
    return {};
}

// Its records are complete, even those that have not reached the disk for sure: rows are compared with them.
bool ShardJournal::hasEnded(const std::string& name) const
{
    return !isLocked(folder().root(), OutputFolder::shardLock(name.substr(std::string(chunksName).size() + 1)));
}

base::Result<std::vector<executor::Chunk>> ShardJournal::gather()
{
    std::error_code problem;
    std::vector<executor::Chunk> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder().journal(), problem)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(std::string(chunksName) + "-")) continue;
        Source& source = m_sources[name];
        if (const base::Status more = readMore(entry.path().string(), source); !more) return base::forward(more);
    }
    for (const auto& [name, source] : m_sources) {
        const bool whole = name == m_own || hasEnded(name);
        for (std::size_t i = 0; i < source.chunks.size(); ++i)
            if (whole || source.ends[i] <= source.settled) all.push_back(source.chunks[i]);
    }
    return all;
}

// ---- waiting

// "shard 2 of 3, which is not running".
std::string ShardJournal::sentenceOn(const executor::Waiting& waiting) const
{
    if (dealer() != nullptr)
        return "stage " + std::to_string(waiting.stage.number) +
               ": waiting for the records of destinations that others have computed (number: " +
               base::formatCount(static_cast<double>(waiting.total - waiting.done)) + ")";
    std::string text;
    for (const auto& [index, left] : waiting.left) {
        const bool running =
            index == share().index || isLocked(folder().root(), OutputFolder::shardLock(std::to_string(index)));
        text += (text.empty() ? "waiting for " : ", ") + shardName(index, share().count) + " (" +
                (running ? "destinations left: " + base::formatCount(static_cast<double>(left)) : "not running") + ")";
    }
    return "stage " + std::to_string(waiting.stage.number) + ": " + text;
}

base::Status ShardJournal::wait(const executor::Waiting& waiting, const std::stop_token& stop)
{
    return pause(sentenceOn(waiting), {{}, waiting.done, waiting.total}, stop);
}

base::Status ShardJournal::pause(const std::string& waiting, const base::Progress& progress,
                                 const std::stop_token& stop)
{
    const Clock::time_point now = Clock::now();
    if (!m_since) m_since = now;
    m_reporter.progress({waiting, progress.done, progress.total});
    if (!m_told && now - *m_since >= quiet) m_reporter.note(waiting);
    m_told = m_told || now - *m_since >= quiet;
    if (m_options.patience && std::chrono::duration<double>(now - *m_since).count() >= *m_options.patience)
        return base::fail(
            base::ErrorCode::Resources, waiting + ": not finished within " + base::formatSeconds(*m_options.patience),
            dealer() != nullptr ? "do all workers see the same folder?"
                                : "start the shards that are missing, and repeat this one; --wait sets the limit",
            folder().path());
    std::this_thread::sleep_for(interval);
    if (stop.stop_requested()) return base::fail(base::ErrorCode::Cancelled, "cancelled");
    return {};
}

void ShardJournal::ready()
{
    if (m_since) m_reporter.progressEnded();
    m_since.reset();
    m_told = false;
}

base::Result<bool> ShardJournal::conclude(const std::stop_token& stop) { return folder().isolate(stop); }

}  // namespace hopscope::pipeline
