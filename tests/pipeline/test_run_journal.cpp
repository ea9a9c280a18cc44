#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "pipeline/running/chunk_lines.h"
#include "pipeline/running/run_journal.h"
#include "support/temporary_folder.h"

using namespace hopscope;
using executor::Chunk;
namespace fs = std::filesystem;

namespace {

Chunk chunk(std::int64_t first)
{
    Chunk made;
    made.stage = plan::StageId(2);
    made.first = first;
    made.count = 100;
    made.tile = 64;
    made.rows = {{ir::ValueId(7), "ab", {}}, {ir::ValueId(9), "cd", executor::Rounding{1e-3, 2.5, 4}}};
    made.totals = "totals-2-1-100.safetensors";
    made.batches = 2;
    made.bytes = {1, 2, 3};
    return made;
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

std::string read(const fs::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

const pipeline::Conditions conditions{{"batch", "auto"},
                                      {"model", "0123456789abcdef0123456789abcdef"},
                                      {"threads", "2"}};

// A run that has noted one chunk, and ends.
void beginRun(const std::string& path)
{
    auto folder = pipeline::OutputFolder::open(path, pipeline::Unfinished::Continue);
    REQUIRE(folder);
    auto journal = pipeline::RunJournal::open(*folder, conditions);
    REQUIRE(journal);
    REQUIRE((*journal)->savePlan("the plan", true));
    REQUIRE((*journal)->begin(1000, {{plan::StageId(1), 1, 64}, {plan::StageId(2), 1, std::nullopt}}));
    REQUIRE((*journal)->append(chunk(0)));
    REQUIRE((*journal)->sync((*journal)->end()));
}

base::Result<std::unique_ptr<pipeline::RunJournal>> reopened(pipeline::OutputFolder& folder,
                                                             pipeline::Conditions now = conditions)
{
    return pipeline::RunJournal::open(folder, now);
}

}  // namespace

TEST_CASE("records are read as they were written; what is torn or damaged is left out")
{
    const std::string one = pipeline::chunkLine(chunk(0)), two = pipeline::chunkLine(chunk(100));
    const pipeline::ChunkLines whole = pipeline::readChunkLines(one + two);
    REQUIRE(whole.chunks.size() == 2);
    CHECK(pipeline::chunkLine(whole.chunks[1]) == two);
    CHECK(whole.end == one.size() + two.size());
    for (std::size_t cut = 0; cut < two.size(); ++cut) {
        CAPTURE(cut);
        const pipeline::ChunkLines torn = pipeline::readChunkLines(one + two.substr(0, cut));
        CHECK(torn.chunks.size() == 1);
        CHECK(torn.end == one.size());
        std::string damaged = one + two;
        damaged[one.size() + cut] ^= 1;
        CHECK(pipeline::readChunkLines(damaged).chunks.size() == 1);
    }
}

TEST_CASE("what has reached the disk is the most that any line says, whatever their order")
{
    const auto settled = [](std::initializer_list<std::int64_t> ends) {
        std::string text;
        for (const std::int64_t end : ends) text += pipeline::settledLine(end) + pipeline::chunkLine(chunk(0));
        return pipeline::readChunkLines(text).settled;
    };
    CHECK(settled({}) == 0);
    CHECK(settled({100, 300}) == 300);
    CHECK(settled({300, 100}) == 300);
}

TEST_CASE("a journal goes on with what was noted")
{
    const test::TemporaryFolder temporary;
    beginRun(temporary.path);
    auto folder = pipeline::OutputFolder::open(temporary.path, pipeline::Unfinished::Continue);
    REQUIRE_MESSAGE(folder, base::describe(folder.error()));
    auto journal = reopened(*folder);
    REQUIRE_MESSAGE(journal, base::describe(journal.error()));
    CHECK((*journal)->goesOn());
    CHECK((*journal)->walkedWhole());
    CHECK((*journal)->batchBytes() == 1000);
    CHECK(read((*journal)->planFile()) == "the plan");
    CHECK_FALSE((*journal)->begin(1000, {{plan::StageId(1), 1, 65}, {plan::StageId(2), 1, std::nullopt}}));
    const auto found = (*journal)->begin(5, {{plan::StageId(1), 1, 64}, {plan::StageId(2), 1, std::nullopt}});
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK(pipeline::chunkLine(found->front()) == pipeline::chunkLine(chunk(0)));
}

TEST_CASE("other conditions are refused, each by its name")
{
    const test::TemporaryFolder temporary;
    beginRun(temporary.path);
    auto folder = pipeline::OutputFolder::open(temporary.path, pipeline::Unfinished::Continue);
    REQUIRE(folder);
    pipeline::Conditions now = conditions;
    now["threads"] = "4";
    now["model"] = "0000";
    const auto other = reopened(*folder, now);
    REQUIRE_FALSE(other);
    CHECK(other.error().code == base::ErrorCode::Input);
    CHECK(other.error().message.find("the model file") != std::string::npos);
    CHECK(other.error().message.find("--threads (was 2, is 4)") != std::string::npos);
    CHECK(other.error().message.find("--batch") == std::string::npos);
    write(folder->journal() + "/plan.json", "another plan");
    const auto damaged = reopened(*folder);
    REQUIRE_FALSE(damaged);
    CHECK(damaged.error().message.find("its plan is damaged") != std::string::npos);
}

TEST_CASE("a folder with a journal is refused by a run without one, and keeps it")
{
    const test::TemporaryFolder temporary;
    beginRun(temporary.path);
    const auto plain = pipeline::OutputFolder::open(temporary.path);
    REQUIRE_FALSE(plain);
    CHECK(plain.error().message.find("holds a run that was not finished") != std::string::npos);
    CHECK(fs::exists(temporary.path + "/.hopscope-journal/chunks"));
}

TEST_CASE("results that were about to appear do so at the next opening")
{
    const test::TemporaryFolder temporary;
    beginRun(temporary.path);
    const std::string journal = temporary.path + "/.hopscope-journal";
    write(journal + "/tmp1", "late");
    write(temporary.path + "/first.npy", "early");
    write(journal + "/moves", "tmp0 first.npy\ntmp1 second.npy\n");
    {
        const auto folder = pipeline::OutputFolder::open(temporary.path);
        REQUIRE_MESSAGE(folder, base::describe(folder.error()));
        CHECK(folder->completed());
    }
    CHECK(read(temporary.path + "/first.npy") == "early");
    CHECK(read(temporary.path + "/second.npy") == "late");
    CHECK_FALSE(fs::exists(journal));
}
