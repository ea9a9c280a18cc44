#include <doctest/doctest.h>

#include <map>
#include <set>

#include "protocol/messages.h"
#include "protocol/requests.h"
#include "protocol/requests_contract.h"

using namespace hopscope;

namespace {

// Each request as docs/reference/protocol.md shows it to other clients, with all members but settings.
const std::map<std::string, std::string> examples{
    {"model/open", R"({"model":"m.pt","data":["g.npz"],"roles":["x=node"],"writes":["out"],"trusted":true})"},
    {"model/trust", R"({"document":1,"folder":true})"},
    {"model/close", R"({"document":1})"},
    {"model/source", R"({"document":1,"module":"conv1","op":"op3"})"},
    {"model/receptiveField", R"({"document":1,"table":"node","node":3,"seed":2,"average":false})"},
    {"fs/list", R"({"path":""})"},
    {"plan/make", R"({"document":1,"pins":[],"near":true,"batch":7})"},
    {"plan/repairs", R"({"document":1,"pins":[],"near":true})"},
    {"plan/explain", R"({"document":1,"pins":[],"near":true})"},
    {"plan/steps", R"({"document":1,"pins":[],"near":true})"},
    {"plan/load", R"({"document":1,"text":"{}","fuse":"chain"})"},
    {"plan/graph", R"({"document":1,"plan":{},"node":3,"seed":2})"},
    {"plan/memory", R"({"document":1,"plan":{},"stage":2})"},
    {"machine/rates", R"({"device":"cpu"})"},
    {"machine/measure", R"({"device":"cpu"})"},
    {"machine/forget", R"({"device":"cpu"})"},
    {"export/preview", R"({"document":1,"plan":{}})"},
    {"export/write", R"({"model":"m.pt","data":[],"roles":[],"trusted":true,"plan":{},"folder":"f"})"},
    {"export/read", R"({"folder":"f"})"},
    {"export/check", R"({"model":"m.pt","data":[],"roles":[],"trusted":true,"folder":"f"})"},
    {"debug/nan", R"({"document":1,"plan":{},"batch":7})"},
    {"debug/staged", R"({"document":1,"plan":{},"batch":7,"absolute":0.5,"relative":0.25})"},
    {"debug/against", R"({"document":1,"against":"n.pt","roles":[],"trusted":true,"absolute":0.5,"relative":0.25})"},
    {"debug/watch",
     R"({"document":1,"plan":{},"batch":7,"breakpoints":[{"place":"op1","node":3,"not_finite":true,"outside":[-1.5,1.5]}],)"
     R"("hits":2,"nodes":[3],"values":["op2"],"aggregations":["op4"]})"},
    {"debug/tensor", R"({"document":1,"plan":{},"batch":7,"value":"v1","nodes":[3],"rows":[1,2],"batch_of":4})"},
    {"debug/stopped", R"({"document":1,"run":2})"},
    {"debug/rows", R"({"document":1,"tensor":2,"begin":3,"end":4})"},
    {"debug/save", R"({"document":1,"tensor":2,"file":"t.npy"})"},
    {"run/start",
     R"({"document":1,"plan":{},"output":"out","paused":true,"last":true,"transient":[],"breakpoints":[],"verify":"none"})"},
    {"run/pause", R"({"run":1})"},
    {"run/resume", R"({"run":1})"},
    {"run/step", R"({"run":1,"unit":"stage"})"},
    {"run/breakpoints", R"({"run":1,"breakpoints":[]})"},
    {"run/cancel", R"({"run":1})"},
    {"worker/open",
     R"({"model":"m.pt","data":[],"roles":[],"trusted":true,"output":"out","plan":"p","pins":"q","wait":2.5})"},
    {"shard/list", R"({"stage":1,"parts":2})"},
    {"shard/compute", R"({"stage":1,"loop":2,"first":3,"count":4})"},
    {"stage/end", R"({"stage":1,"publish":true})"}};

// Reads any request; the parameters as the window would send them, where it sends them.
base::Result<json::Value> readRequest(const std::string& method, const json::Value& params)
{
    const json::Reader reader(params, "params");
    const auto query = protocol::readQuery(method, reader);
    const auto ofRun = protocol::readRunQuery(method, reader);
    const auto ofWorker = protocol::readWorkerQuery(method, reader);
    CHECK(query.has_value() + ofRun.has_value() + ofWorker.has_value() == 1);
    if (!reader.ok()) return base::forward(reader.status());
    return query ? protocol::paramsOf(*query) : ofRun ? protocol::paramsOf(*ofRun) : params;
}

base::Result<json::Value> readText(const std::string& method, const std::string& text)
{
    const base::Result<json::Value> params = json::parse(text);
    return params ? readRequest(method, *params) : params;
}

std::string refusalOf(const std::string& method, const std::string& text)
{
    const base::Result<json::Value> read = readText(method, text);
    REQUIRE_FALSE(read);
    return read.error().message;
}

}  // namespace

TEST_CASE("each request has an example, which is read and sent as it was written")
{
    const json::Value schema = protocol::requestsSchema();
    CHECK(schema.find("properties")->size() == examples.size());
    for (const auto& [method, text] : examples) {
        INFO(method);
        const json::Value sent = readText(method, text).value(), wanted = json::parse(text).value();
        for (const auto& [name, member] : *wanted.asObject()) CHECK(*sent.find(name) == member);
    }
}

TEST_CASE("members of requests that are missing, null, of another kind or there twice are refused as the schema says")
{
    const json::Value all = protocol::requestsSchema();
    for (const auto& [method, text] : examples) {
        INFO(method);
        const json::Value& exchange = *all.find("properties")->find(method);
        json::Value schema = *exchange.find("properties")->find("params");
        schema["$defs"] = *exchange.find("$defs");
        described::checkEveryMember(text, described::Schema(schema),
                                    [&, name = method](const std::string& changed) { return readText(name, changed); });
    }
}

TEST_CASE("an unknown member is refused by its name, also in a breakpoint")
{
    for (const auto& [method, text] : examples)
        CHECK(refusalOf(method, R"({"documemt":1,)" + text.substr(1)) == "params: field /documemt is not known");
    CHECK(refusalOf("debug/watch", R"({"document":1,"plan":{},"breakpoints":[{"place":"op1","nodes":3}]})") ==
          "params: field /breakpoints/0/nodes is not known");
}

TEST_CASE("conditions between members are refused with a sentence")
{
    const std::string run = R"({"document":1,"plan":{},)";
    for (const auto& [method, text, says] : std::vector<std::array<std::string, 3>>{
             {"model/source", R"({"document":1})", "needs 'op' or 'module'"},
             {"debug/against", R"({"document":1,"against":""})", "/against must name a model"},
             {"debug/watch", run + R"("hits":0})", "/hits must be at least 1"},
             {"debug/watch", run + R"("breakpoints":[{"place":"op1","outside":[1.5]}]})",
              "/breakpoints/0/outside must be two"},
             {"debug/tensor", run + R"("value":"v1","rows":[2,1]})", "/rows must be [first, end]"},
             {"debug/rows", R"({"document":1,"tensor":1,"begin":-1,"end":2})", "/begin must not be negative"},
             {"debug/rows", R"({"document":1,"tensor":1,"begin":3,"end":2})", "/end must not be before begin"},
             {"debug/save", R"({"document":1,"tensor":1,"file":"t.txt"})", "/file must end with .npy"},
             {"run/start", run + R"("resume":true})", "/resume needs 'output'"},
             {"run/start", run + R"("resume":true,"output":"o","breakpoints":[]})",
              "/resume is not for runs that stop"},
             {"run/start", run + R"("transient":["t"],"last":true})", "/transient needs 'last'"},
             {"plan/make", R"({"document":1,"batch":0})", "/batch must be at least 1"},
             {"worker/open", R"({"model":"m","output":"o","cache":"c"})", "/cache is not for workers"},
             {"shard/list", R"({"stage":1,"parts":0})", "/parts must be 1 to 100000"}}) {
        INFO(says);
        CHECK(refusalOf(method, text).find(says) != std::string::npos);
    }
    json::Value pins = json::parse(R"({"document":1,"pins":[]})").value();
    for (int i = 0; i <= 10'000; ++i) pins["pins"].push(json::parse(R"(["checkpoint","v1"])").value());
    CHECK(refusalOf("plan/make", json::write(pins)).ends_with("/pins holds more than 10,000 pins"));
}
