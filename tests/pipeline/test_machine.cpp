#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "pipeline/machine/machine.h"
#include "pipeline/machine/walls.h"
#include "json/json.h"

using namespace hopscope;
using namespace hopscope::pipeline;

namespace {

// A cache folder of its own, for as long as it exists.
class Cache {
public:
    Cache()
    {
        std::filesystem::remove_all(m_folder);
        std::filesystem::create_directories(m_folder / "hopscope");
        ::setenv("XDG_CACHE_HOME", m_folder.c_str(), 1);
    }
    ~Cache()
    {
        ::unsetenv("XDG_CACHE_HOME");
        std::filesystem::remove_all(m_folder);
    }
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;
    void write(const std::string& text) const { std::ofstream(m_folder / "hopscope/machine.json") << text; }

private:
    std::filesystem::path m_folder = std::filesystem::temp_directory_path() / "hopscope-test-machine";
};

}  // namespace

TEST_CASE("what was measured of a machine is known again, walls included")
{
    const Cache cache;
    KnownMachine measured{plan::typicalMachine("cpu"), true, 3};
    measured.rates.matmul = 1234;
    measured.rates.slowness = 1.5;
    REQUIRE(keepMachine(measured));
    const KnownMachine known = knownMachine("cpu");
    CHECK(known.measured);
    CHECK(known.runs == 3);
    CHECK(known.rates == measured.rates);
    CHECK(noteOf(known).empty());
    CHECK_FALSE(knownMachine("cuda:0").measured);
}

TEST_CASE("rates of an earlier version are not used, a sentence says so, and the next measurement replaces them")
{
    const Cache cache;
    json::Value old = machineValue(plan::typicalMachine("cpu"));
    old["runs"] = 7;
    cache.write(R"({"format": "hopscope-machine", "version": 1, "devices": {"cpu": )" + json::write(old, false) + "}}");
    const KnownMachine known = knownMachine("cpu");
    CHECK_FALSE(known.measured);
    CHECK(known.rates == plan::typicalMachine("cpu"));
    CHECK(noteOf(known).find("bench machine") != std::string::npos);
    REQUIRE(keepMachine({plan::typicalMachine("cpu"), true, 0}));
    CHECK(knownMachine("cpu").measured);
    CHECK(noteOf(knownMachine("cpu")).empty());
}

TEST_CASE("walls that stand still or that nobody knows make a file as good as none")
{
    const Cache cache;
    for (const char* wall : {R"({"wall": "stream", "all": 0, "one": 1})", R"({"wall": "berlin", "all": 1, "one": 1})",
                             R"({"wall": "gemm", "all": 1, "one": 1, "dtype": "float31"})"}) {
        json::Value value = machineValue(plan::typicalMachine("cpu"));
        value["walls"] = json::Value::array();
        value["walls"].push(json::parse(wall, "wall").value());
        cache.write(R"({"version": 2, "devices": {"cpu": )" + json::write(value, false) + "}}");
        INFO(wall);
        CHECK_FALSE(knownMachine("cpu").measured);
    }
}

TEST_CASE("every wall has words of its own")
{
    std::set<std::string> texts;
    const plan::Walls walls = plan::typicalMachine("cpu").walls;
    for (const plan::WallRate& wall : walls) texts.insert(wallText(wall));
    CHECK(texts.size() == walls.size());
    CHECK(texts.count("") == 0);
}
