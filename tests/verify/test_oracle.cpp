#include <doctest/doctest.h>

#include <thread>

#include "graph/safetensors.h"
#include "verify/models.h"
#include "verify/oracle_process.h"

using namespace hopscope;
using testing::Folder;
using verify::OracleEnd;

namespace {

constexpr std::int64_t gibi = std::int64_t(1) << 30;

json::Value forwardRequest(const Folder& folder)
{
    json::Value request = json::Value::object();
    request["model"] = folder.file("model.pt");
    request["data"] = json::Value(std::vector<std::string>{folder.file("data.safetensors")});
    request["output"] = folder.file("out.safetensors");
    return request;
}

void writeInputs(const Folder& folder, const std::string& code)
{
    testing::writeModel(folder.file("model.pt"), code, 3, 2);
    REQUIRE(graph::writeSafetensors(folder.file("data.safetensors"), testing::makeGraph(4, 3, {{0, 1}}, 1)));
}

verify::OracleOutcome outcomeOf(const Folder& folder, const verify::OracleChild& child)
{
    const auto outcome = verify::runOracle(child, forwardRequest(folder), {});
    REQUIRE(outcome);
    return *outcome;
}

verify::OracleOutcome shellOutcome(const Folder& folder, const std::string& script, std::optional<double> seconds = {})
{
    return outcomeOf(folder, {{"/bin/sh", "-c", script}, folder.path, gibi, seconds});
}

}  // namespace

TEST_CASE("the child writes forward's outputs and leaves nothing else")
{
    const Folder folder;
    writeInputs(folder, "def forward(self, x, edge_index):\n    return torch.matmul(x, self.w)\n");
    const auto outcome = outcomeOf(folder, {testing::oracleProgram(), folder.path, 4 * gibi, {}});
    CHECK(outcome.message == "");
    REQUIRE(outcome.end == OracleEnd::Done);
    const auto outputs = graph::mapSafetensors(folder.file("out.safetensors"));
    REQUIRE(outputs);
    CHECK(outputs->at("out").shape == std::vector<std::int64_t>{4, 2});
    CHECK(folder.entries() == 3);
}

TEST_CASE("what forward throws is the child's reason")
{
    const Folder folder;
    writeInputs(folder, "def forward(self, x, edge_index):\n    return torch.matmul(x, x)\n");
    const auto outcome = outcomeOf(folder, {testing::oracleProgram(), folder.path, 4 * gibi, {}});
    CHECK(outcome.end == OracleEnd::Refused);
    CHECK(outcome.message.find("mat1 and mat2") != std::string::npos);
    CHECK(folder.entries() == 2);
}

TEST_CASE("an operator that Hopscope does not know does not run, and does not matter where no run gets to it")
{
    const std::string code = "def forward(self, x, edge_index):\n    y = torch.matmul(x, self.w)\n"
                             "    if x.size(0) > LIMIT:\n        y = torch.polygamma(1, y)\n    return y\n";
    const auto limited = [&](const std::string& limit) {
        std::string text = code;
        return text.replace(text.find("LIMIT"), 5, limit);
    };
    const Folder folder;
    writeInputs(folder, limited("3"));
    const auto refused = outcomeOf(folder, {testing::oracleProgram(), folder.path, 4 * gibi, {}});
    CHECK(refused.end == OracleEnd::Refused);
    CHECK(refused.message.find("the operator aten::polygamma") != std::string::npos);
    CHECK(refused.message.find("CONTRIBUTING.md") != std::string::npos);
    CHECK(refused.message.find('\n') == std::string::npos);
    const Folder other;
    writeInputs(other, limited("100"));
    CHECK(outcomeOf(other, {testing::oracleProgram(), other.path, 4 * gibi, {}}).end == OracleEnd::Done);
}

TEST_CASE("a forward that asks for too much memory ends as out of memory")
{
    const Folder folder;
    writeInputs(folder, "def forward(self, x, edge_index):\n    return torch.ones([x.size(0), 2000000000]).sum()\n");
    const auto outcome = outcomeOf(folder, {testing::oracleProgram(), folder.path, gibi, {}});
    CHECK(outcome.end == OracleEnd::OutOfMemory);
    CHECK(outcome.peakMemory < 2 * gibi);
}

TEST_CASE("a child that grows beyond its memory is killed")
{
    const Folder folder;
    const auto outcome =
        outcomeOf(folder, {{"/bin/sh", "-c", "x=a; while :; do x=$x$x; done"}, folder.path, 64 << 20, {}});
    CHECK(outcome.end == OracleEnd::OutOfMemory);
}

TEST_CASE("a crash of the child is its death, not ours")
{
    const Folder folder;
    const auto outcome = shellOutcome(folder, "kill -SEGV $$");
    CHECK(outcome.end == OracleEnd::Died);
    CHECK(outcome.message.find("signal 11") != std::string::npos);
    CHECK(folder.entries() == 0);
}

TEST_CASE("a child killed from outside is taken for the kernel's work")
{
    const Folder folder;
    CHECK(shellOutcome(folder, "kill -KILL $$").end == OracleEnd::OutOfMemory);
}

TEST_CASE("a child that fails without a word is quoted")
{
    const Folder folder;
    const auto outcome = shellOutcome(folder, "echo no idea; exit 3");
    CHECK(outcome.end == OracleEnd::Refused);
    CHECK(outcome.message == "the oracle ended without a result or a reason: no idea");
}

TEST_CASE("a child that hangs is killed after its time")
{
    const Folder folder;
    const auto outcome = shellOutcome(folder, "sleep 600", 0.2);
    CHECK(outcome.end == OracleEnd::TimedOut);
    CHECK(outcome.seconds < 60);
}

TEST_CASE("a stop request ends the child and the wait")
{
    const Folder folder;
    std::stop_source source;
    const std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        source.request_stop();
    });
    const verify::OracleChild child{{"/bin/sh", "-c", "sleep 60"}, folder.path, gibi, {}};
    const auto outcome = verify::runOracle(child, forwardRequest(folder), source.get_token());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == base::ErrorCode::Cancelled);
    CHECK(folder.entries() == 0);
}

TEST_CASE("a program that is not there is our failure")
{
    const Folder folder;
    const auto outcome = verify::runOracle({{"/nowhere/oracle"}, folder.path, gibi, {}}, forwardRequest(folder), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message.find("/nowhere/oracle cannot be started") != std::string::npos);
}
