#include <doctest/doctest.h>

#include <sstream>

#include "cli/arguments.h"
#include "support/other_settings.h"

using namespace hopscope;

namespace {

base::Result<engine::Invocation> parse(const std::string& line)
{
    std::istringstream words(line);
    std::vector<std::string> texts{"hopscope-engine"};
    for (std::string word; words >> word;) texts.push_back(word);
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    return engine::parseArguments(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace

TEST_CASE("the model may stand before or after the data")
{
    for (const char* line : {"run m.pt --data a --data b -o dir", "run --data a --data b m.pt -o dir",
                             "run -o dir --data a m.pt --data b"}) {
        const auto invocation = parse(line);
        REQUIRE_MESSAGE(invocation, line << ": " << base::describe(invocation.error()));
        const auto& run = std::get<engine::RunCommand>(invocation->command);
        CHECK(run.model.model == "m.pt");
        CHECK(run.model.data == std::vector<std::string>{"a", "b"});
        CHECK(run.output == "dir");
    }
}

TEST_CASE("run takes its options with their meaning")
{
    const auto invocation =
        parse("run m.pt --data d -o dir --memory 1Gi --batch 64 --verify full --nan refuse --trace t.json --json "
              "--quiet --strategy source-rule --device cpu --role x=node:user --fuse several,chain --reorder rcm "
              "--resume");
    REQUIRE(invocation);
    const auto& run = std::get<engine::RunCommand>(invocation->command);
    CHECK(run.settings.memory == std::int64_t(1) << 30);
    CHECK(run.settings.batch == 64);
    CHECK(run.settings.verify == verify::Mode::Full);
    CHECK(run.settings.nan == base::NanPolicy::Refuse);
    CHECK(run.settings.fuse == std::vector{base::Fuse::Chain, base::Fuse::Several});
    CHECK(run.settings.reorder == base::Reorder::Rcm);
    CHECK(run.trace == "t.json");
    CHECK(run.settings.resume);
    CHECK(run.settings.strategy == base::Strategy::SourceRule);
    CHECK(run.model.roles == std::vector<std::string>{"x=node:user"});
    CHECK(invocation->json);
    CHECK(invocation->quiet);
}

TEST_CASE("defaults are sample verification, automatic device and batch, the optimal strategy")
{
    const auto invocation = parse("run m.pt --data d -o dir");
    REQUIRE(invocation);
    const auto& run = std::get<engine::RunCommand>(invocation->command);
    CHECK(run.settings.verify == verify::Mode::Sample);
    CHECK(run.settings.nan == base::NanPolicy::Propagate);
    CHECK(run.settings.device == "auto");
    CHECK_FALSE(run.settings.batch);
    CHECK_FALSE(run.settings.memory);
    CHECK_FALSE(run.settings.resume);
    CHECK(run.settings.fuse == base::allFuse());
    CHECK(run.settings.reorder == base::Reorder::Auto);
    CHECK(run.settings.strategy == base::Strategy::Optimal);
}

TEST_CASE("a shard says which of how many it is")
{
    const auto invocation = parse("run m.pt --data d -o dir --shard 2/3 --wait 90");
    REQUIRE(invocation);
    const auto& run = std::get<engine::RunCommand>(invocation->command);
    REQUIRE(run.shard);
    CHECK(run.shard->index == 2);
    CHECK(run.shard->count == 3);
    CHECK(run.shard->patience == 90.0);
    CHECK_FALSE(std::get<engine::RunCommand>(parse("run m.pt --data d -o dir")->command).shard);
    for (const char* wrong : {"3/2", "0/2", "2", "/", "a/b", "1/2/3", "-1/2", "1/"}) {
        const auto refused = parse(std::string("run m.pt --data d -o dir --shard ") + wrong);
        REQUIRE_MESSAGE(!refused, wrong);
        CHECK(refused.error().code == base::ErrorCode::Usage);
    }
    CHECK_FALSE(parse("run m.pt --data d -o dir --wait 90"));
}

TEST_CASE("mistakes on the command line are usage errors with a hint")
{
    for (const char* line : {"",
                             "fly",
                             "run",
                             "run m.pt -o dir",
                             "run m.pt --data d",
                             "plan m.pt",
                             "inspect",
                             "inspect m.pt --frobnicate",
                             "inspect m.pt more",
                             "run m.pt --data d -o dir --batch 0",
                             "run m.pt --data d -o dir --batch -3",
                             "run m.pt --data d -o dir --batch many",
                             "run m.pt --data d -o dir --memory lots",
                             "run m.pt --data d -o dir --memory 0",
                             "run m.pt --data d -o dir --verify maybe",
                             "run m.pt --data d -o dir --nan drop",
                             "run m.pt --data d -o dir --strategy best",
                             "run m.pt --data d -o dir --objective fame",
                             "run m.pt --data d -o dir --strategy depth --plan p.json",
                             "run m.pt --data d -o dir --reorder best",
                             "run m.pt --data d -o dir --host-memory much",
                             "plan m.pt --data d --pins",
                             "plan m.pt --data d --stages 0",
                             "plan m.pt --data d --deadline 0",
                             "plan m.pt --data d --strategy depth --stages 3",
                             "run m.pt --data d -o dir --plan p.json --pins q.json",
                             "verify m.pt --data d --schema e --pins q.json",
                             "verify m.pt --data d --schema e --objective bytes",
                             "verify m.pt --data d --schema e --stages 3",
                             "verify m.pt --data d --schema e --deadline 2",
                             "debug m.pt --data d --against n.pt --plan p.json",
                             "debug m.pt --data d --against n.pt --batch 7",
                             "debug m.pt --data d --against n.pt --break op1",
                             "debug m.pt --data d --nan --watch op1 --nodes 1 -o f",
                             "debug m.pt --data d --show op1 --messages op2 --nodes 1",
                             "debug m.pt --data d --memory-of 1 --break op1",
                             "debug m.pt --data d --when isnan",
                             "debug m.pt --data d --hits 3",
                             "export m.pt --data d",
                             "serve here",
                             "generate ring --nodes 3 -o f",
                             "generate path --nodes many -o f",
                             "generate path -o f",
                             "bench",
                             "bench machine cpu"}) {
        const auto invocation = parse(line);
        INFO(line);
        REQUIRE_FALSE(invocation);
        CHECK(invocation.error().code == base::ErrorCode::Usage);
        CHECK_FALSE(invocation.error().message.empty());
    }
}

TEST_CASE("a wrong choice is refused with the choices there are")
{
    struct Case {
        const char* line;
        const char* message;
        const char* hint;
    };
    for (const Case& each :
         {Case{"run m.pt --data d -o dir --verify maybe", "unknown value of --verify 'maybe'",
               "use sample, full or none"},
          Case{"run m.pt --data d -o dir --nan drop", "unknown value of --nan 'drop'", "use propagate or refuse"},
          Case{"run m.pt --data d -o dir --fuse chain,all", "--fuse: unknown pattern to fuse 'all'",
               "use all, none, or some of chain, softmax or several separated by commas"},
          Case{"plan m.pt --data d --objective fame", "unknown value of --objective 'fame'", "use time or bytes"},
          Case{"debug m.pt --data d --nodes 1,1.5", "--nodes: '1.5' is not a row number, a whole number from 0", ""},
          Case{"debug m.pt --data d --nodes 1,-3", "--nodes: '-3' is not a row number, a whole number from 0", ""},
          Case{"debug m.pt --data d --break op1 --when node=1.5",
               "--when: '1.5' is not a row number, a whole number from 0", ""},
          Case{"debug m.pt --data d --break op1 --when outside=1,b", "--when: 'b' is not a number", ""},
          Case{"debug m.pt --data d --break op1 --when outside=1", "--when: 'outside=1' is not a condition",
               "use always, isnan, outside=LEAST,MOST or node=N"},
          Case{"verify m.pt --data d --verify none", "verify has nothing to compare with --verify none",
               "use full or sample"}}) {
        const auto invocation = parse(each.line);
        INFO(each.line);
        REQUIRE_FALSE(invocation);
        CHECK(invocation.error().code == base::ErrorCode::Usage);
        CHECK(invocation.error().message == each.message);
        CHECK(invocation.error().hint == each.hint);
    }
}

TEST_CASE("what is decided beforehand about a plan is taken wherever one is made")
{
    for (const std::string command : {"plan m.pt --data d", "run m.pt --data d -o dir", "verify m.pt --data d"}) {
        const auto invocation = parse(command + " --pins p.json --stages 4 --deadline 2.5");
        REQUIRE_MESSAGE(invocation, command << ": " << base::describe(invocation.error()));
        std::visit(
            [](const auto& c) {
                if constexpr (requires {
                                  c.plan;
                                  c.settings;
                              }) {
                    CHECK(c.plan.pins == "p.json");
                    CHECK(c.settings.stages == 4);
                    CHECK(c.settings.deadline == 2.5);
                } else FAIL("it makes no plan");
            },
            invocation->command);
    }
}

TEST_CASE("help and version are texts, not errors")
{
    for (const char* line : {"--help", "run --help", "--version"}) {
        const auto invocation = parse(line);
        REQUIRE(invocation);
        CHECK_FALSE(std::get<engine::ShowText>(invocation->command).text.empty());
    }
    CHECK(std::get<engine::ShowText>(parse("--help")->command).text.find("oracle") == std::string::npos);
}

TEST_CASE("generate takes kind and sizes")
{
    const auto invocation =
        parse("generate rmat --nodes 100 --edges 400 --features 7 --seed 5 --symmetric -o g.safetensors");
    REQUIRE(invocation);
    const auto& generate = std::get<engine::GenerateCommand>(invocation->command);
    CHECK(generate.options.kind == graph::GraphKind::Rmat);
    CHECK(generate.options.nodes == 100);
    CHECK(generate.options.edges == 400);
    CHECK(generate.options.features == 7);
    CHECK(generate.options.seed == 5);
    CHECK(generate.options.symmetric);
    CHECK(generate.output == "g.safetensors");
}

TEST_CASE("every command that computes takes a device by its number")
{
    const auto deviceOf = [](const std::string& line) {
        const auto invocation = parse(line + " --device cuda:1");
        REQUIRE_MESSAGE(invocation, line << ": " << base::describe(invocation.error()));
        return std::visit(
            [](const auto& command) -> std::string {
                if constexpr (requires { command.settings.device; }) return command.settings.device;
                else if constexpr (requires { command.device; }) return command.device;
                else return "";
            },
            invocation->command);
    };
    for (const char* line : {"plan m.pt --data d", "run m.pt --data d -o o", "verify m.pt --data d", "bench machine"})
        CHECK_MESSAGE(deviceOf(line) == "cuda:1", line);
}

TEST_CASE("devices needs nothing and takes --json")
{
    for (const char* line : {"devices", "devices --json"}) {
        const auto invocation = parse(line);
        REQUIRE(invocation);
        CHECK(std::holds_alternative<engine::DevicesCommand>(invocation->command));
        CHECK(invocation->json == (std::string(line) != "devices"));
    }
    CHECK_FALSE(parse("devices cpu"));
}

namespace {

struct TaskLine {
    base::Task task;
    const char* line;
};

constexpr TaskLine taskLines[] = {{base::Task::Plan, "plan m.pt --data d"},
                                  {base::Task::Run, "run m.pt --data d -o o"},
                                  {base::Task::Verify, "verify m.pt --data d"},
                                  {base::Task::Export, "export m.pt --data d -o o"}};

base::Settings settingsOf(const engine::Invocation& invocation)
{
    return std::visit(
        [](const auto& command) {
            if constexpr (requires { command.settings; }) return base::Settings(command.settings);
            else return base::Settings();
        },
        invocation.command);
}

// `verify` always compares.
bool isRefusedByItself(const char* name, const std::string& text)
{
    return std::string_view(name) == "verify" && text == "none";
}

}  // namespace

TEST_CASE("every command takes the settings of its task as options, and no others")
{
    for (const auto& [task, line] : taskLines)
        base::forEachField<base::Settings>([&]<class M>(const base::Setting<M>& setting) {
            const base::Settings other = test::withOther(setting);
            const std::string value = base::settingText(other.*setting.member);
            if (task == base::Task::Verify && isRefusedByItself(setting.name, value)) return;
            const std::string option = " " + base::optionOf(setting.name);
            const std::string command = line + option + (std::same_as<M, bool> ? "" : " " + value);
            CAPTURE(command);
            const auto invocation = parse(command);
            CHECK(invocation.has_value() == setting.tasks.contain(task));
            if (invocation) CHECK(settingsOf(*invocation).*setting.member == other.*setting.member);
        });
}
