#include <doctest/doctest.h>

#include "protocol/documents.h"
#include "protocol/model.h"

using namespace hopscope;
using protocol::ModelRecord;

namespace {

base::Result<ModelRecord> read(const std::string& text)
{
    const auto value = json::parse(text);
    return value ? protocol::readModel(*value) : base::Result<ModelRecord>(base::forward(value));
}

std::string refusedAt(const std::string& pointer, json::Value value)
{
    const auto model = read(fixture::with(test::inspectText(), pointer, std::move(value)));
    return model ? "accepted" : model.error().where;
}

}  // namespace

TEST_CASE("an inspect document becomes indexed records")
{
    const auto model = read(test::inspectText());
    REQUIRE_MESSAGE(model, base::describe(model.error()));
    CHECK(model->path == "model.pt");
    CHECK(model->splittable);
    CHECK(model->depth == 2);
    CHECK(model->ops.size() == 9);  // two inputs, six operators, one output
    CHECK(model->values.size() == 8);
    CHECK(model->ops[model->findOp("op3")].source.text == "h = h.relu()");
    CHECK(model->ops[model->findOp("op4")].module == "conv2");
    CHECK(model->ops[model->findOp("op2")].stage == protocol::StageId(1));
    CHECK_FALSE(model->ops[model->findOp("input.x")].stage.valid());
    CHECK_FALSE(model->findOp("op99").valid());
    CHECK_FALSE(model->findValue("v99").valid());
    CHECK(model->sizes.at("node") == 5);
    CHECK(model->lints.at(0).op == model->findOp("op1"));
    CHECK(model->prologue == std::vector{model->findOp("op1")});
}

TEST_CASE("literal arguments are read as Python writes them")
{
    const char* const arguments =
        R"([{"name":"dim","value":[0,-1]},{"name":"keepdim","value":false},{"name":"alpha","value":1.5},
        {"name":"dtype","value":"float32"},{"name":"min","value":null}])";
    const auto model = read(fixture::with(test::inspectText(), "/ops/2/arguments", json::parse(arguments).value()));
    REQUIRE_MESSAGE(model, base::describe(model.error()));
    CHECK(model->ops[protocol::OpId(2)].arguments ==
          std::vector<protocol::ArgumentRecord>{
              {"dim", "[0, -1]"}, {"keepdim", "False"}, {"alpha", "1.5"}, {"dtype", "float32"}, {"min", "None"}});
    CHECK(refusedAt("/ops/2/arguments", json::parse(R"([{"name":7,"value":0}])").value()) ==
          "inspect /ops/2/arguments/0/name");
    CHECK(refusedAt("/ops/2/arguments", json::parse(R"([{"name":"dim"}])").value()) ==
          "inspect /ops/2/arguments/0/value");
}

TEST_CASE("values know who makes them and who reads them, both ways")
{
    const auto model = read(test::inspectText());
    REQUIRE(model);
    for (std::size_t at = 0; at < model->ops.size(); ++at) {
        const protocol::OpId op(at);
        for (const protocol::ValueId v : model->ops[op].outputs) CHECK(model->values[v].producer == op);
        for (const protocol::ValueId v : model->ops[op].inputs) {
            const auto& consumers = model->values[v].consumers;
            CHECK(std::count(consumers.begin(), consumers.end(), op) == 1);
            CHECK(std::is_sorted(consumers.begin(), consumers.end()));
        }
    }
    const auto& x = model->values[model->findValue("v0")];
    CHECK(x.shape == std::vector<std::string>{"|node|", "3"});
    CHECK(x.spaces.at(0) == "node");
    CHECK_FALSE(x.spaces.at(1));
    CHECK(x.bytes == 60);
    CHECK(x.hasRows());
    CHECK_FALSE(model->values[model->findValue("v3")].hasRows());
}

TEST_CASE("names that are not there, twice there, or read too early are refused at their place")
{
    CHECK(refusedAt("/ops/2/inputs/0", "v77") == "inspect /ops/2/inputs/0");
    CHECK(refusedAt("/ops/2/inputs/0", "v7") == "inspect /ops/2/inputs/0");  // made by the last operator
    CHECK(refusedAt("/ops/3/outputs/0", "v2") == "inspect /ops/3/outputs/0");
    CHECK(refusedAt("/ops/3/id", "op0") == "inspect /ops/3/id");
    CHECK(refusedAt("/values/3/id", "v0") == "inspect /values/3/id");
    CHECK(refusedAt("/ops/2/kind", "magic") == "inspect /ops/2/kind");
    CHECK(refusedAt("/prologue/0", "op77") == "inspect /prologue/0");
    CHECK(refusedAt("/lints/0/op", "op77") == "inspect /lints/0/op");
    CHECK(refusedAt("/values/0/row_spaces", json::Value::array()) == "inspect /values/0/row_spaces");
    CHECK(refusedAt("/version", "2.0") == "inspect /version");
}

TEST_CASE("a damaged document is refused or read, and never breaks the reader")
{
    std::mt19937 random(2024);
    int accepted = 0, refused = 0;
    for (int round = 0; round < 3000; ++round) {
        const auto model = read(test::damaged(test::inspectText(), random));
        if (!model) {
            ++refused;
            continue;
        }
        ++accepted;
        for (const protocol::OpRecord& op : model->ops)
            for (const protocol::ValueId v : op.inputs) REQUIRE(model->values.contains(v));
    }
    CHECK(accepted > 100);
    CHECK(refused > 1000);
}
