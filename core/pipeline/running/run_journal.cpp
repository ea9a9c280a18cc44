#include "pipeline/running/run_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "graph/file.h"
#include "pipeline/files/text_file.h"
#include "pipeline/running/chunk_lines.h"

namespace hopscope::pipeline {

namespace {

constexpr const char* runName = "run.json";
constexpr const char* planName = "plan.json";

base::Result<std::string> digestOfFile(const std::string& path)
{
    const base::Result<graph::MappedFile> file = graph::mapFile(path);
    if (!file) return base::forward(file);
    return graph::digestOf(file->data, static_cast<std::size_t>(file->size)).hex();
}

// The digest of a file that the user may have given.
base::Result<std::string> digestOfChoice(const std::string& path)
{
    return path.empty() ? std::string("none") : digestOfFile(path);
}

// The name of a condition in messages.
std::string labelOf(const std::string& name)
{
    static const std::map<std::string, std::string> labels{
        {"model", "the model file"}, {"data", "the data"},  {"roles", "the roles of inputs"},
        {"engine", "this program"},  {"torch", "LibTorch"}, {"cpu", "the processor"},
        {"gpu", "the GPU"},          {"plan", "the plan"},  {"instructions", "the instructions of the processor"},
        {"pins", "the pins"}};
    const auto it = labels.find(name);
    return it == labels.end() ? base::optionOf(name.c_str()) : it->second;
}

bool isHash(const std::string& text)
{
    return text.size() >= 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// "the model file; --threads (was 2, is 1)"; empty if nothing differs.
std::string differences(const Conditions& before, const Conditions& now)
{
    std::string text;
    Conditions all = before;
    all.insert(now.begin(), now.end());
    for (const auto& [name, value] : all) {
        const std::string was = before.contains(name) ? before.at(name) : "unknown";
        const std::string is = now.contains(name) ? now.at(name) : "unknown";
        if (was == is) continue;
        text += (text.empty() ? "" : ", ") + labelOf(name);
        if (!isHash(was) && !isHash(is)) text += " (was " + was + ", is " + is + ")";
    }
    return text;
}

}  // namespace

base::Result<Conditions> conditionsOf(const Prepared& prepared, const PlanSource& plan, const base::Settings& settings,
                                      const std::string& device)
{
    const executor::Cores cores(settings.threads.value_or(0));
    Conditions conditions = executor::fingerprint(device);
    const base::Result<std::string> engine = digestOfFile("/proc/self/exe");
    if (!engine) return base::forward(engine);
    const base::Result<std::string> planFile = digestOfChoice(plan.file);
    if (!planFile) return base::forward(planFile);
    const base::Result<std::string> pins = digestOfChoice(plan.pins);
    if (!pins) return base::forward(pins);
    conditions.insert({{"engine", *engine}, {"plan", *planFile}, {"pins", *pins}});
    base::forEachField<base::Settings>([&](const auto& setting) {
        if (setting.resumed == base::Resumed::AsNow) return;
        const std::string text = base::settingText(settings.*setting.member);
        conditions[setting.name] = text.empty() ? "auto" : text;
    });
    for (const auto& [name, hash] : prepared.hashes) conditions[name] = hash;
    return conditions;
}

// ---- the start of a run

RunJournal::RunJournal(OutputFolder& folder, const Conditions& conditions, std::string chunks)
    : m_folder(folder),
      m_name(std::move(chunks))
{
    m_now.conditions = conditions;
}

RunJournal::~RunJournal()
{
    if (m_chunks >= 0) close(m_chunks);
}

std::string RunJournal::file(const std::string& name) const { return m_folder.journal() + "/" + name; }

std::string RunJournal::planFile() const { return m_begun ? file(planName) : std::string(); }

bool RunJournal::hasBegun() const
{
    std::error_code problem;
    return std::filesystem::exists(file(runName), problem);
}

std::string RunJournal::whatCannot() const { return "the unfinished run in this folder cannot be resumed"; }

base::Status RunJournal::refuse(const std::string& what) const
{
    return base::fail(base::ErrorCode::Input, m_folder.path() + ": " + whatCannot() + ", because " + what,
                      "resume it under the same conditions, or remove " + m_folder.journal() + " to start over",
                      m_folder.path());
}

base::Result<std::unique_ptr<RunJournal>> RunJournal::open(OutputFolder& folder, const Conditions& conditions)
{
    std::unique_ptr<RunJournal> journal(new RunJournal(folder, conditions, chunksName));
    if (const base::Status chunks = journal->readChunks(); !chunks) return base::forward(chunks);
    if (journal->m_found.empty()) return journal;
    folder.keepJournal();
    if (const base::Status begun = journal->readBegun(); !begun) return base::forward(begun);
    return journal;
}

base::Status RunJournal::readBegun()
{
    const base::Result<std::string> text = readText(file(runName));
    auto begun = text.and_then([&](const std::string& found) { return schema::readJournal(found, file(runName)); });
    if (!begun) return refuse("its journal is damaged: " + begun.error().message);
    const std::string different = differences(begun->conditions, m_now.conditions);
    if (!different.empty()) return refuse("something has changed: " + different);
    const base::Result<std::string> plan = digestOfFile(file(planName));
    if (!plan || *plan != begun->plan) return refuse("its plan is damaged");
    m_begun = std::move(*begun);
    return {};
}

base::Status RunJournal::savePlan(const std::string& text, bool whole)
{
    m_now.plan = graph::digestOf(text.data(), text.size()).hex();
    m_now.walked = whole ? schema::Walked::Data : schema::Walked::Sample;
    return writeTextFile(text, file(planName));
}

// ---- finished chunks

base::Status RunJournal::readChunks()
{
    std::error_code problem;
    if (!std::filesystem::exists(file(m_name), problem)) return {};
    const base::Result<graph::MappedFile> mapped = graph::mapFile(file(m_name), graph::Links::Refused);
    if (!mapped) return base::forward(mapped);
    ChunkLines lines =
        readChunkLines({reinterpret_cast<const char*>(mapped->data), static_cast<std::size_t>(mapped->size)});
    m_found = std::move(lines.chunks);
    m_end = lines.end;
    return {};
}

std::optional<std::int64_t> RunJournal::batchBytes() const
{
    return m_begun ? std::optional(m_begun->batchBytes) : std::nullopt;
}

base::Result<std::vector<executor::Chunk>> RunJournal::begin(std::int64_t batchBytes,
                                                             const std::vector<plan::LoopCut>& cuts)
{
    if (m_begun && m_begun->cuts != cuts)
        return base::forward(refuse("its stages would be divided into different tiles"));
    if (!m_begun) {
        m_now.batchBytes = batchBytes;
        m_now.cuts = cuts;
        if (const base::Status noted = writeTextFile(schema::writeJournal(m_now), file(runName)); !noted)
            return base::forward(noted);
    }
    if (const base::Status opened = openChunks(); !opened) return base::forward(opened);
    return m_found;
}

// Bytes after the last complete line are a torn write.
base::Status RunJournal::openChunks()
{
    const base::Result<int> chunks =
        m_folder.root().openFile(OutputFolder::inJournal(m_name), O_WRONLY | O_CREAT | O_APPEND);
    if (!chunks) return base::forward(chunks);
    m_chunks = *chunks;
    m_length = foundEnd();
    if (ftruncate(m_chunks, static_cast<off_t>(m_end)) == 0) return {};
    return base::fail(base::ErrorCode::Resources, file(m_name) + ": cannot be written: " + std::strerror(errno));
}

base::Result<std::int64_t> RunJournal::write(const std::string& line)
{
    const std::lock_guard lock(m_mutex);
    const ssize_t written = ::write(m_chunks, line.data(), line.size());
    if (written != static_cast<ssize_t>(line.size()))
        return base::fail(base::ErrorCode::Resources,
                          file(m_name) + ": cannot be written: " + std::strerror(written < 0 ? errno : ENOSPC),
                          "free some space");
    return m_length += written;
}

base::Status RunJournal::append(const executor::Chunk& chunk)
{
    if (const base::Status same = inputsAreSame(); !same) return same;
    if (const base::Result<std::int64_t> written = write(chunkLine(chunk)); !written) return base::forward(written);
    m_folder.keepJournal();
    return {};
}

base::Status RunJournal::sync(std::int64_t /*end*/)
{
    if (m_chunks < 0 || fdatasync(m_chunks) == 0) return {};
    return base::fail(base::ErrorCode::Resources,
                      file(m_name) + ": cannot be written to the disk: " + std::strerror(errno));
}

}  // namespace hopscope::pipeline
