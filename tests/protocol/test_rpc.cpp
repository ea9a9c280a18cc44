#include <doctest/doctest.h>

#include <set>

#include "base/failures.h"
#include "protocol/rpc.h"

using namespace hopscope;
using namespace hopscope::protocol;

namespace {

Message roundTrip(const Message& message)
{
    const auto read = readMessage(writeMessage(message));
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    return *read;
}

json::Value some()
{
    json::Value value;
    value["x"] = 1;
    return value;
}

}  // namespace

TEST_CASE("the three kinds of messages survive writing and reading")
{
    const auto request = std::get<Request>(roundTrip(Request{7, "plan/make", some()}));
    CHECK(request.id == 7);
    CHECK(request.method == "plan/make");
    CHECK(request.params == some());
    const auto notice = std::get<Notification>(roundTrip(Notification{"exit", {}}));
    CHECK(notice.method == "exit");
    CHECK(notice.params == json::Value::object());
    const auto response = std::get<Response>(roundTrip(Response{8, some()}));
    CHECK(response.id == 8);
    CHECK(std::get<json::Value>(response.outcome) == some());
    const RpcError error{code::failed - 4, "no", "try", "op3"};
    const auto refused = std::get<Response>(roundTrip(Response{{}, error}));
    CHECK_FALSE(refused.id);
    CHECK(std::get<RpcError>(refused.outcome) == error);
}

TEST_CASE("an answer may be null")
{
    const auto response = std::get<Response>(roundTrip(Response{1, json::Value()}));
    CHECK(std::get<json::Value>(response.outcome).isNull());
}

TEST_CASE("what is no message is refused")
{
    for (const char* text :
         {"", "nul", "[]", "3", "{}", R"({"jsonrpc":"2.0"})", R"({"jsonrpc":"1.0","method":"a"})",
          R"({"jsonrpc":"2.0","method":3})", R"({"jsonrpc":"2.0","method":"a","id":"x"})",
          R"({"jsonrpc":"2.0","method":"a","id":1.5})", R"({"jsonrpc":"2.0","method":"a","id":null})",
          R"({"jsonrpc":"2.0","method":"a","params":[1]})",
          R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}})",
          R"({"jsonrpc":"2.0","id":1,"error":{"message":"m"}})", R"({"jsonrpc":"2.0","id":1,"id":2,"method":"a"})"}) {
        CAPTURE(text);
        const auto message = readMessage(text);
        REQUIRE_FALSE(message);
        CHECK(message.error().code == base::ErrorCode::Input);
    }
    CHECK_FALSE(readMessage(std::string(100, '[') + std::string(100, ']')));
}

TEST_CASE("the id of a request that is refused comes back where it can be told")
{
    const auto answer = [](const std::string& text) { return refusal(text, readMessage(text).error()); };
    CHECK(answer(R"({"jsonrpc":"2.0","id":5,"method":3})").id == 5);
    CHECK(std::get<RpcError>(answer(R"({"jsonrpc":"2.0","id":5,"method":3})").outcome).code == code::invalidRequest);
    CHECK_FALSE(answer("{").id);
    CHECK(std::get<RpcError>(answer("{").outcome).code == code::parseError);
}

TEST_CASE("every failure of a command has a number of its own and comes back as what it was")
{
    std::set<int> numbers;
    for (const base::Failure& known : base::failures) {
        const RpcError sent = toRpc({known.code, "message", "hint", "where"});
        const base::Error back = fromRpc(sent);
        CHECK(numbers.insert(sent.code).second);
        CHECK(back.code == known.code);
        CHECK(base::describe(back) == base::describe({known.code, "message", "hint", "where"}));
    }
    CHECK(toRpc({base::ErrorCode::Unsupported, "", "", ""}).code == -32004);
    CHECK(toRpc({base::ErrorCode::Cancelled, "", "", ""}).code == -32800);
    CHECK(fromRpc({code::invalidParams, "m", "", ""}).code == base::ErrorCode::Usage);
}
