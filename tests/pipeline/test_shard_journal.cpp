#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "pipeline/running/chunk_lines.h"
#include "pipeline/running/shard_journal.h"
#include "support/temporary_folder.h"

using namespace hopscope;
using executor::Chunk;
namespace fs = std::filesystem;

namespace {

const pipeline::Conditions conditions{{"batch", "auto"}, {"threads", "2"}};

Chunk chunk(std::int64_t first)
{
    Chunk made;
    made.first = first;
    made.count = made.tile = 100;
    made.rows = {{ir::ValueId(7), "ab", {}}};
    made.parts = "parts-1-1-0-100.safetensors";
    return made;
}

class Heard final : public pipeline::Reporter {
public:
    void progress(const base::Progress& step) override { last = step.what; }
    std::string last;
};

// A process of a run in shards. The journal goes before the folder.
struct Process {
    Process(const std::string& path, int index, int count, std::optional<double> patience = std::nullopt)
        : folder(pipeline::OutputFolder::openShared(path, {index, count}, {}))
    {
        if (folder) journal = pipeline::ShardJournal::open(*folder, conditions, {.patience = patience}, heard, {});
    }
    executor::Others& others() const { return *(*journal)->others(); }
    void begin() const
    {
        if (!(*journal)->goesOn()) REQUIRE((*journal)->savePlan("the plan", false));
        REQUIRE((*journal)->begin(1000, {{plan::StageId(1), 1, 64}}));
    }

    Heard heard;
    base::Result<pipeline::OutputFolder> folder;
    base::Result<std::unique_ptr<pipeline::RunJournal>> journal = base::fail(base::ErrorCode::Internal, "not opened");
};

std::string messageOf(const base::Result<pipeline::OutputFolder>& folder)
{
    return folder ? "opened" : folder.error().message;
}

}  // namespace

TEST_CASE("shards see what others have settled, and all of their own")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    const Process one(path, 1, 2);
    REQUIRE(one.journal);
    one.begin();
    const Process two(path, 2, 2);
    REQUIRE(two.journal);
    CHECK((*two.journal)->goesOn());
    two.begin();
    REQUIRE((*one.journal)->append(chunk(0)));
    const std::int64_t end = (*one.journal)->end();
    REQUIRE((*one.journal)->append(chunk(100)));
    CHECK(one.others().gather()->size() == 2);
    CHECK(two.others().gather()->empty());
    REQUIRE((*one.journal)->sync(end));
    const auto seen = two.others().gather();
    REQUIRE(seen->size() == 1);
    CHECK(seen->front().first == 0);
    CHECK(seen->front().parts == chunk(0).parts);
    REQUIRE((*one.journal)->sync((*one.journal)->end()));
    CHECK(two.others().gather()->size() == 2);
}

TEST_CASE("a torn record of another shard counts when it is whole")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    const Process one(path, 1, 2);
    one.begin();
    const std::string line = pipeline::chunkLine(chunk(0));
    const fs::path file = fs::path(path) / ".hopscope-journal/chunks-2";
    std::ofstream(file, std::ios::binary) << line.substr(0, 20);
    CHECK(one.others().gather()->empty());
    std::ofstream(file, std::ios::binary | std::ios::app)
        << line.substr(20) << pipeline::settledLine(static_cast<std::int64_t>(line.size()));
    CHECK(one.others().gather()->size() == 1);
}

TEST_CASE("a shard runs once, with others of the same run only, and never beside a run without shards")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    {
        const auto one = pipeline::OutputFolder::openShared(path, {1, 2}, {});
        REQUIRE(one);
        const auto two = pipeline::OutputFolder::openShared(path, {2, 2}, {});
        CHECK(two);
        CHECK(messageOf(pipeline::OutputFolder::openShared(path, {2, 2}, {})).find("is running already: pid") !=
              std::string::npos);
        CHECK(messageOf(pipeline::OutputFolder::openShared(path, {3, 3}, {})).find("locked by 2 shards") !=
              std::string::npos);
        CHECK(messageOf(pipeline::OutputFolder::open(path)).find("locked by 2 shards") != std::string::npos);
    }
    CHECK_FALSE(fs::exists(path));
    {
        const auto only = pipeline::OutputFolder::openShared(path, {1, 1}, {});
        REQUIRE(only);
        const auto refused = pipeline::OutputFolder::openShared(path, {1, 2}, {});
        REQUIRE_FALSE(refused);
        CHECK(messageOf(refused).ends_with("locked by 1 shard"));
        CHECK(refused.error().hint ==
              "use the same N in --shard I/N for all shards of a run, or choose another folder");
    }
    const auto alone = pipeline::OutputFolder::open(path);
    REQUIRE(alone);
    CHECK(messageOf(pipeline::OutputFolder::openShared(path, {1, 2}, {})).find("locked by pid") != std::string::npos);
}

TEST_CASE("shards that come and go at any time leave no folder behind")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    constexpr int shards = 3;
    for (int round = 0; round < 20; ++round) {
        std::array<std::string, shards> said;
        const auto comeAndGo = [&](int shard) {
            for (int time = 0; time < 20; ++time)
                if (const auto folder = pipeline::OutputFolder::openShared(path, {shard + 1, shards}, {}); !folder)
                    said[static_cast<std::size_t>(shard)] += folder.error().message + "\n";
        };
        {
            std::vector<std::jthread> threads;
            for (int shard = 0; shard < shards; ++shard) threads.emplace_back(comeAndGo, shard);
        }
        CAPTURE(round);
        for (const std::string& messages : said) CHECK(messages == "");
        REQUIRE_FALSE(fs::exists(path));
    }
}

TEST_CASE("what shards have noted stays for shards")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    {
        const Process one(path, 1, 2);
        one.begin();
        REQUIRE((*one.journal)->append(chunk(0)));
    }
    for (const auto unfinished : {pipeline::Unfinished::Refuse, pipeline::Unfinished::Continue})
        CHECK(messageOf(pipeline::OutputFolder::open(path, unfinished)).find("holds a run in shards") !=
              std::string::npos);
    const Process again(path, 1, 3);
    REQUIRE(again.journal);
    CHECK(again.others().repeated());
    CHECK((*again.journal)->goesOn());
    again.begin();
    CHECK(again.others().gather()->size() == 1);
}

TEST_CASE("other conditions are refused, and patience ends with a sentence")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    Process one(path, 1, 3, 0.15);
    one.begin();
    const auto folder = pipeline::OutputFolder::openShared(path, {2, 3}, {});
    REQUIRE(folder);
    auto changed = conditions;
    changed["threads"] = "4";
    Heard heard;
    auto shared = pipeline::OutputFolder::openShared(path, {3, 3}, {});
    REQUIRE(shared);
    const auto refused = pipeline::ShardJournal::open(*shared, changed, {}, heard, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("--threads (was 2, is 4)") != std::string::npos);
    executor::Waiting waiting;
    waiting.stage = plan::StageId(2);
    waiting.left = {{2, 1200}, {3, 5}};
    base::Status waited;
    for (int i = 0; i < 100 && waited; ++i) waited = one.others().wait(waiting, {});
    REQUIRE_FALSE(waited);
    CHECK(waited.error().code == base::ErrorCode::Resources);
    CHECK(waited.error().message.find("stage 2: waiting for shard 2 of 3 (destinations left: 1,200), shard 3 of 3") ==
          0);
    CHECK(one.heard.last.find("stage 2") == 0);
}

TEST_CASE("one of the shards publishes, when the others have left")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    std::optional<Process> two;
    {
        Process one(path, 1, 2);
        one.begin();
        two.emplace(path, 2, 2);
        std::stop_source stop;
        stop.request_stop();
        const auto impatient = one.others().conclude(stop.get_token());  // the other one is still there
        REQUIRE_FALSE(impatient);
        CHECK(impatient.error().code == base::ErrorCode::Cancelled);
        CHECK(*two->others().conclude({}) == false);
        two.reset();
    }
    Process again(path, 2, 2);
    again.begin();
    CHECK(*again.others().conclude({}));
}

TEST_CASE("all records of a process that has ended count")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    const Process one(path, 1, 2);
    one.begin();
    {
        const Process two(path, 2, 2);
        two.begin();
        REQUIRE((*two.journal)->append(chunk(0)));
        CHECK(one.others().gather()->empty());  // it may not have reached the disk
    }
    CHECK(one.others().gather()->size() == 1);
}

TEST_CASE("workers take the first place that is free, and keep out shards of a fixed number")
{
    const test::TemporaryFolder parent;
    const std::string path = parent.file("out");
    const auto one = pipeline::OutputFolder::openShared(path, {0, 0}, {});
    REQUIRE(one);
    CHECK(one->share()->index == 1);
    {
        const auto two = pipeline::OutputFolder::openShared(path, {0, 0}, {});
        REQUIRE(two);
        CHECK(two->share()->index == 2);
    }
    CHECK(pipeline::OutputFolder::openShared(path, {0, 0}, {})->share()->index == 2);
    std::ofstream(fs::path(path) / ".hopscope-journal/chunks-2") << "its records stay with it";
    CHECK(pipeline::OutputFolder::openShared(path, {0, 0}, {})->share()->index == 3);
    CHECK(messageOf(pipeline::OutputFolder::openShared(path, {1, 2}, {})).find("locked by the workers") !=
          std::string::npos);
    CHECK(messageOf(pipeline::OutputFolder::open(path)).find("locked by the workers") != std::string::npos);
}
