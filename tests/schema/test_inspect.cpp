#include <doctest/doctest.h>

#include <limits>

#include "schema/arguments.h"
#include "schema/error.h"
#include "schema/every_member.h"
#include "schema/fixture.h"
#include "schema/inspect.h"
#include "schema/inspect_document.h"

using namespace hopscope;

namespace {

std::string inspectText(const analysis::Analysis& analysis, const plan::Plan* plan, bool data)
{
    analysis::InputSchema inputs;
    inputs.roles["x"] = {analysis::RoleKind::Node, "node", "", "", false};
    inputs.roles["edge_index"] = {analysis::RoleKind::Index, "node", "node", "edge_index", false};
    schema::InspectSubject subject;
    subject.analysis = &analysis;
    subject.plan = plan;
    subject.inputs = &inputs;
    if (data) subject.sizes = schema::tableSizes(analysis, {{"node", 5}, {"edge_index", 7}});
    return schema::writeInspect(subject);
}

json::Value inspect(const analysis::Analysis& analysis, const plan::Plan* plan, bool data)
{
    return json::parse(inspectText(analysis, plan, data)).value();
}

std::string at(const json::Value& document, const char* pointer)
{
    const json::Value* const found = json::resolve(document, pointer);
    return found == nullptr ? "nothing" : json::write(*found);
}

}  // namespace

TEST_CASE("inspect has the keys that stay stable")
{
    const analysis::Analysis analysis = fixture::analysis();
    const plan::Plan plan = fixture::plan();
    const json::Value document = inspect(analysis, &plan, true);
    for (const char* key : {"id", "kind", "name", "module", "source", "depth", "depth_module", "depth_op", "stage",
                            "structure_only", "inputs", "outputs"})
        for (const json::Value& op : *document.find("ops")->asArray()) CHECK_MESSAGE(op.find(key) != nullptr, key);
    for (const char* key : {"id", "label", "shape", "dtype", "row_spaces", "bytes"})
        for (const json::Value& value : *document.find("values")->asArray())
            CHECK_MESSAGE(value.find(key) != nullptr, key);
    for (const char* key : {"index", "inputs", "outputs", "relations"})
        for (const json::Value& stage : *document.find("stages")->asArray())
            CHECK_MESSAGE(stage.find(key) != nullptr, key);
    CHECK(at(document, "/depth") == "2");
    CHECK(at(document, "/prologue") == "[\"op1\"]");
    CHECK(at(document, "/lints/0/code") == "\"baked-size\"");
    CHECK(at(document, "/lints/0/op") == "\"op1\"");
}

TEST_CASE("inspect has the bytes that it had, and refuses what its schema does not allow")
{
    const analysis::Analysis analysis = fixture::analysis();
    const plan::Plan plan = fixture::plan();
    described::checkDocument(inspectText(analysis, &plan, true), "inspect", described::Schema("inspect-1.schema.json"),
                             schema::inspectDocumentFrom);
}

TEST_CASE("inspect tells kinds, stages, sources and symbolic sizes")
{
    const analysis::Analysis analysis = fixture::analysis();
    const plan::Plan plan = fixture::plan();
    const json::Value document = inspect(analysis, &plan, true);
    const char* kinds[] = {"input",   "input",  "gather",    "structure", "aggregate",
                           "rowwise", "gather", "aggregate", "output"};
    for (std::size_t i = 0; i < std::size(kinds); ++i)
        CHECK(*document.find("ops")->asArray()->at(i).find("kind")->asString() == kinds[i]);
    CHECK(at(document, "/ops/3/stage") == "null");
    CHECK(at(document, "/ops/4/stage") == "1");
    CHECK(at(document, "/ops/6/stage") == "2");
    CHECK(at(document, "/ops/6/module") == "\"conv2\"");
    CHECK(at(document, "/ops/5/source/line") == "12");
    CHECK(at(document, "/ops/8/depth") == "2");
    CHECK(at(document, "/values/0/shape") == "[\"|node|\",3]");
    CHECK(at(document, "/values/2/row_spaces") == "[\"edge_index\",null]");
    CHECK(at(document, "/values/2/bytes") == "84");
    CHECK(at(document, "/stages/1/inputs") == "[\"v5\",\"v1\"]");
    CHECK(at(document, "/stages/1/relations/0/relation") == "\"edge_index\"");
    CHECK(at(document, "/roles/edge_index") == "\"index:node>node\"");
}

TEST_CASE("without data no bytes are claimed, and without a plan no stages")
{
    const analysis::Analysis analysis = fixture::analysis();
    const json::Value document = inspect(analysis, nullptr, false);
    CHECK(at(document, "/values/0/bytes") == "null");
    CHECK(at(document, "/stages") == "[]");
    CHECK(at(document, "/splittable") == "false");
    CHECK(at(document, "/ops/4/stage") == "null");
}

TEST_CASE("an analysis that stopped before the first operator still makes a document")
{
    analysis::Analysis refused;
    refused.lints.push_back({"no-split", "a branch on features", {}, true});
    const json::Value document = inspect(refused, nullptr, false);
    CHECK(at(document, "/ops") == "[]");
    CHECK(at(document, "/lints/0/blocking") == "true");
}

TEST_CASE("what follows the operator in the way has no sizes: those at hand are the sample's")
{
    analysis::Analysis analysis = fixture::analysis();
    const json::Value whole = inspect(analysis, nullptr, true);
    analysis.refusal = base::Error{base::ErrorCode::Unsupported, "a sort", "", ""};
    analysis.refusedOp = analysis.program.ops[2].id;
    const json::Value document = inspect(analysis, nullptr, true);
    for (const ir::Value& value : analysis.program.values) {
        const std::string place = "/values/" + std::to_string(value.id.at()), shape = place + "/shape",
                          bytes = place + "/bytes";
        const bool after = value.producer.valid() && value.producer >= analysis.refusedOp;
        const std::vector<std::nullptr_t> nothing(value.shape.size());
        CHECK(at(document, shape.c_str()) == (after ? json::write(json::Value(nothing)) : at(whole, shape.c_str())));
        CHECK(at(document, bytes.c_str()) == (after ? "null" : at(whole, bytes.c_str())));
    }
}

TEST_CASE("bytes written are exact where the sizes are known and open where they are not")
{
    const analysis::Analysis analysis = fixture::analysis();
    plan::Plan plan = fixture::plan();
    plan.checkpoints[0].bytesWritten.reset();
    schema::fillBytes(plan, analysis, schema::tableSizes(analysis, {{"node", 1000}}));
    CHECK(plan.checkpoints[0].bytesWritten == 1000 * 3 * 4);
    CHECK(schema::wholeBytes(analysis, ir::ValueId(2), schema::tableSizes(analysis, {{"node", 1000}})) == std::nullopt);
    CHECK_FALSE(plan.checkpoints[0].bytesRead);
}

TEST_CASE("an error document carries code, message, hint and place")
{
    const auto document = json::parse(schema::writeError({base::ErrorCode::Unsupported, "no", "try", "op3"})).value();
    CHECK(at(document, "/error/code") == "\"unsupported\"");
    CHECK(at(document, "/error/message") == "\"no\"");
    CHECK(at(document, "/error/hint") == "\"try\"");
    CHECK(at(document, "/error/where") == "\"op3\"");
}

TEST_CASE("literal arguments are listed by the names of the schema")
{
    ir::Program program;
    const auto number = [&](ir::ValueKind kind, ir::Origin origin, double of) {
        ir::Value value;
        value.id = ir::ValueId(static_cast<int>(program.values.size()));
        value.kind = kind;
        value.origin = origin;
        value.number = of;
        program.values.push_back(value);
        return ir::Arg{value.id};
    };
    const ir::Arg tensor = number(ir::ValueKind::Tensor, ir::Origin::Op, 0);
    const ir::Arg constant = number(ir::ValueKind::Int, ir::Origin::Constant, 3);
    const ir::Arg computed = number(ir::ValueKind::Int, ir::Origin::Op, 9);
    ir::Op op;
    const auto add = [&](const char* name, ir::Arg arg) {
        op.args.push_back(std::move(arg));
        op.argInfo.push_back({name, ir::ArgType::Other});
    };
    add("self", tensor);
    add("dim", {ir::ArgList{{std::int64_t{0}}, computed, constant}});
    add("count", computed);
    add("tensors", {ir::ArgList{tensor, tensor}});
    add("keepdim", {false});
    add("dtype", {std::int64_t{5}});
    add("layout", {std::int64_t{0}});
    add("min", {-std::numeric_limits<double>::infinity()});
    add("alpha", {1.5});
    add("reduce", {std::string("sum")});
    add("device", {ir::DeviceArg{}});
    add("bias", {});
    json::Value listed = json::Value::array();
    for (const schema::InspectedArgument& argument : schema::argumentsOf(program, op)) {
        listed.push(json::Value::object());
        listed.asArray()->back()[argument.name] = argument.value;
    }
    CHECK(json::write(listed) ==
          R"([{"dim":[0,"v2",3]},{"keepdim":false},{"dtype":"float16"},{"layout":"strided"},{"min":"-inf"},)"
          R"({"alpha":1.5},{"reduce":"sum"},{"bias":null}])");
}
