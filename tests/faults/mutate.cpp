// hopscope-mutate SEEDS [--count N] [--seed S] [--case I] [-j CHILDREN] [--engine PROGRAM] [--keep FOLDER] [--files exported]
// Damages the files in SEEDS (made by seeds.py), N times, and runs the engine's whole pipeline on each in a child
// process. Every case must end in a result or in a one-line error of the contract; what crashes or hangs in process must
// not do so in PROGRAM, which guards itself. Prints each failing case with its number; --case runs one alone. --files exported
// damages exported programs (.pt2) instead of TorchScript and data; results must then equal those of the program's own forward.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <sys/wait.h>
#include <unistd.h>

#include "faults/forward.h"
#include "faults/mutations.h"
#include "faults/programs.h"
#include "graph/dataset.h"
#include "models/compare.h"
#include "models/forked.h"
#include "models/pipeline.h"
#include "support/temporary_folder.h"

namespace {

using namespace hopscope;
using faults::Bytes;
namespace fs = std::filesystem;

struct Arguments {
    std::string seeds, engine, keep, files;
    std::size_t count = 2000, first = 0;
    std::uint64_t seed = 1;
    int children = 2;
};

Arguments parse(int argc, char** argv)
{
    Arguments a;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (!name.starts_with("-")) {
            a.seeds = name;
            continue;
        }
        ++i;
        if (name == "--count") a.count = std::strtoull(value, nullptr, 10);
        if (name == "--seed") a.seed = std::strtoull(value, nullptr, 10);
        if (name == "--case") a.first = std::strtoull(value, nullptr, 10), a.count = 1;
        if (name == "-j") a.children = std::atoi(value);
        if (name == "--engine") a.engine = value;
        if (name == "--keep") a.keep = value;
        if (name == "--files") a.files = value;
    }
    return a;
}

// Which file a case damages.
enum class Target { Model, ModelEntry, Safetensors, Npy, Exported, ExportedEntry, Program };

struct Mutant {
    std::string model;
    std::string data;
    std::string story;
    bool exported = false;
};

Bytes readBytes(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void writeBytes(const fs::path& path, const Bytes& bytes)
{
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Target targetOf(const Arguments& a, std::size_t number)
{
    static constexpr Target exported[] = {Target::Program, Target::ExportedEntry, Target::Program, Target::Exported};
    if (a.files == "exported") return exported[number % std::size(exported)];
    static constexpr Target turn[] = {Target::Model, Target::ModelEntry, Target::Safetensors, Target::Npy,
                                      Target::ModelEntry};
    return turn[number % std::size(turn)];
}

Mutant damageModel(const Arguments& a, const fs::path& folder, bool inside, faults::Random& random)
{
    static const char* const names[] = {"traced", "scripted"};
    const std::string name = names[random() % 2];
    const fs::path source = fs::path(a.seeds) / (name + (inside || random() % 2 ? "_stored.pt" : ".pt"));
    const Bytes other = readBytes(fs::path(a.seeds) / (random() % 2 ? "graph.safetensors" : "traced_stored.pt"));
    Bytes bytes = readBytes(source);
    const std::string story = inside ? faults::mutateEntry(bytes, other, random) : faults::mutate(bytes, other, random);
    writeBytes(folder / "model.pt", bytes);
    return {folder / "model.pt", fs::path(a.seeds) / "graph.safetensors", source.filename().string() + ": " + story};
}

Mutant damageSafetensors(const Arguments& a, const fs::path& folder, faults::Random& random)
{
    Bytes bytes = readBytes(fs::path(a.seeds) / "graph.safetensors");
    const std::string story = faults::mutate(bytes, readBytes(fs::path(a.seeds) / "npy/x.npy"), random);
    writeBytes(folder / "graph.safetensors", bytes);
    return {fs::path(a.seeds) / "traced.pt", folder / "graph.safetensors", "graph.safetensors: " + story};
}

Mutant damageNpy(const Arguments& a, const fs::path& folder, faults::Random& random)
{
    static const char* const keys[] = {"x.npy", "edge_index.npy", "edge_weight.npy"};
    const std::string key = keys[random() % 3];
    fs::copy(fs::path(a.seeds) / "npy", folder / "npy");
    Bytes bytes = readBytes(folder / "npy" / key);
    const std::string story = faults::mutate(bytes, readBytes(fs::path(a.seeds) / "npy/x.npy"), random);
    writeBytes(folder / "npy" / key, bytes);
    return {fs::path(a.seeds) / "scripted.pt", folder / "npy", key + ": " + story};
}

Mutant damageExported(const Arguments& a, const fs::path& folder, Target target, faults::Random& random)
{
    const fs::path source = fs::path(a.seeds) / "exported.pt2", damaged = folder / "model.pt2";
    Mutant mutant{damaged, fs::path(a.seeds) / "graph.safetensors", "exported.pt2: ", true};
    if (target == Target::Program) return mutant.story += faults::mutateProgram(source, damaged, random), mutant;
    const Bytes other = readBytes(fs::path(a.seeds) / "traced_stored.pt");
    Bytes bytes = readBytes(source);
    const bool inside = target == Target::ExportedEntry;
    mutant.story += inside ? faults::mutateEntry(bytes, other, random) : faults::mutate(bytes, other, random);
    writeBytes(damaged, bytes);
    return mutant;
}

// The same case number and seed give the same files, whatever ran before.
Mutant makeMutant(const Arguments& a, std::size_t number, const fs::path& folder)
{
    faults::Random random(a.seed * 1000003u + number);
    fs::create_directories(folder);
    switch (const Target target = targetOf(a, number)) {
    case Target::Model: return damageModel(a, folder, false, random);
    case Target::ModelEntry: return damageModel(a, folder, true, random);
    case Target::Safetensors: return damageSafetensors(a, folder, random);
    case Target::Exported:
    case Target::ExportedEntry:
    case Target::Program: return damageExported(a, folder, target, random);
    case Target::Npy: break;
    }
    return damageNpy(a, folder, random);
}

// Different, if the results are not those of the damaged program itself.
base::Status equalsForward(const executor::RunReport& report, const loader::Model& model, const base::TensorMap& data)
{
    const auto expected = faults::ownForward(model, data);
    if (!expected) return base::forward(expected);
    if (expected->size() != report.outputs.size())
        return base::fail(base::ErrorCode::Different, "the run has another number of outputs");
    for (const executor::StoredTensor& output : report.outputs) {
        const auto wanted = expected->find(output.name);
        if (wanted == expected->end())
            return base::fail(base::ErrorCode::Different, "the run has an output " + output.name);
        const models::Difference found = models::compare(output.tensor, wanted->second, {});
        if (found.complaint) return base::fail(base::ErrorCode::Different, output.name + " " + *found.complaint);
    }
    return {};
}

base::Status pipeline(const Mutant& mutant)
{
    const auto model = loader::load(mutant.model);
    if (!model) return base::forward(model);
    const auto data = graph::readData({mutant.data});
    if (!data) return base::forward(data);
    const auto prepared = models::prepare(*model, *data, {});
    if (!prepared) return base::forward(prepared);
    const auto plan = placement::makePlan(prepared->analysis, base::Strategy::Depth);
    if (!plan) return base::forward(plan);
    executor::Options options;
    options.batch = 7;
    options.threads = 1;
    const auto report = models::runPlan(*prepared, *plan, *data, options);
    if (!report) return base::forward(report);
    return mutant.exported ? equalsForward(*report, *model, *data) : base::Status();
}

int runCase(const Mutant& mutant, const std::function<void(const std::string&)>& say)
{
    const base::Status status = pipeline(mutant);
    if (status) return 0;
    say(base::describe(status.error()));
    return static_cast<int>(status.error().code);
}

// The command-line tool on the same files: its exit code, or -1 if a signal ended it.
int runEngine(const std::string& engine, const Mutant& mutant, const fs::path& folder)
{
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        for (const char* stream : {"stdout", "stderr"})
            if (!std::freopen((folder / stream).c_str(), "w", stream[3] == 'o' ? stdout : stderr)) _exit(126);
        execl(engine.c_str(), engine.c_str(), "run", mutant.model.c_str(), "--data", mutant.data.c_str(), "-o",
              (folder / "out").c_str(), "--verify", "none", "--quiet", nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Tally {
    std::map<std::string, int> endings;
    int failed = 0;
};

// What is wrong with the way a case ended; empty if nothing is.
std::string complaint(const models::ChildResult& result)
{
    if (result.signal == SIGALRM) return "hangs";
    if (result.signal) return std::string("crashes with ") + strsignal(result.signal);
    if (result.exitCode == 0) return "";
    if (result.text.find('\n') != std::string::npos) return "has an error of several lines";
    if (result.text.empty()) return "has an error without a message";
    if (result.exitCode != 3 && result.exitCode != 4 && result.exitCode != 6)
        return "ends with exit code " + std::to_string(result.exitCode);
    return "";
}

// Undefined behaviour may pass for once: the tool must survive three times.
bool contained(const Arguments& a, const Mutant& mutant, const fs::path& folder)
{
    for (int attempt = 0; attempt < 3; ++attempt) {
        const int code = a.engine.empty() ? -1 : runEngine(a.engine, mutant, folder);
        if (code != 0 && code != 3 && code != 4 && code != 6) return false;
    }
    return true;
}

void judge(const Arguments& a, std::size_t number, const Mutant& mutant, const fs::path& folder,
           const models::ChildResult& result, Tally& tally)
{
    const std::string problem = complaint(result);
    const bool crash = result.signal != 0;
    const bool guarded = crash && contained(a, mutant, folder);
    ++tally.endings[problem.empty() ? "exit " + std::to_string(result.exitCode)
                    : guarded       ? problem + ", reported"
                                    : problem];
    if (problem.empty() || guarded) return;
    ++tally.failed;
    std::printf("case %zu (seed %llu) %s: %s\n    %s\n", number, static_cast<unsigned long long>(a.seed),
                problem.c_str(), mutant.story.c_str(), result.text.c_str());
    std::fflush(stdout);
}

fs::path folderOf(const Arguments& a, const fs::path& root, std::size_t number)
{
    return a.keep.empty() ? root / std::to_string(number) : fs::path(a.keep) / std::to_string(number);
}

Tally runAll(const Arguments& a, const fs::path& root)
{
    Tally tally;
    models::Work work;
    work.run = [&](std::size_t job, const auto& say) {
        const Mutant mutant = makeMutant(a, a.first + job, folderOf(a, root, a.first + job));
        say(mutant.story);
        return runCase(mutant, say);
    };
    work.finished = [&](std::size_t job, const models::ChildResult& result) {
        const std::size_t number = a.first + job;
        const fs::path folder = folderOf(a, root, number);
        const bool failed = !complaint(result).empty();
        if (failed) fs::remove_all(folder);
        const Mutant mutant = failed ? makeMutant(a, number, folder) : Mutant{};
        judge(a, number, mutant, folder, result, tally);
        if (a.keep.empty()) fs::remove_all(folder);
    };
    models::runForked(a.count, {a.children, 20, std::int64_t{12} << 30}, work);
    return tally;
}

// Loads the seeds in this process, so that the children inherit LibTorch's tables ready-made. Threads would not survive
// the fork.
int warmUp(const Arguments& a)
{
    const Mutant seed{fs::path(a.seeds) / "traced.pt", fs::path(a.seeds) / "graph.safetensors", ""};
    const base::Status status = pipeline(seed);
    if (!status) return std::printf("the undamaged files fail: %s\n", base::describe(status.error()).c_str()), 1;
    const auto threads = std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
    if (threads != 1) std::printf("note: %d threads run before the first fork\n", static_cast<int>(threads));
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    const Arguments arguments = parse(argc, argv);
    if (warmUp(arguments)) return 1;
    const test::TemporaryFolder root;
    const Tally tally = runAll(arguments, root.path);
    std::printf("%zu cases:", arguments.count);
    for (const auto& [ending, count] : tally.endings) std::printf("  %d %s", count, ending.c_str());
    std::printf("%s\n", tally.failed ? "  FAILED" : "");
    return tally.failed ? 1 : 0;
}
