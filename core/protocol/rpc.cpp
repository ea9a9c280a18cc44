#include "protocol/rpc.h"

#include "base/failures.h"
#include "protocol/framing.h"
#include "schema/error.h"
#include "json/optional.h"
#include "json/reader.h"

namespace hopscope::protocol {

namespace {

using json::Reader;
using json::Value;

constexpr json::Limits limits{maxMessageBytes, 64};

Value paramsOf(const Reader& root)
{
    if (root.value().find("params") == nullptr) return Value::object();
    const Reader params = root.child("params");
    if (!params.value().isObject()) params.refuse("is not an object");
    return params.value();
}

std::optional<std::int64_t> nullableId(const Reader& root)
{
    const Reader id = root.child("id");
    if (id.value().isNull()) return std::nullopt;
    return id.as<std::int64_t>();
}

RpcError readError(const Reader& reader)
{
    RpcError error;
    error.code = reader.get<int>("code");
    error.message = reader.get<std::string>("message");
    if (!reader.has("data") || !reader.child("data").value().isObject()) return error;
    const Reader data = reader.child("data");
    error.hint = data.maybe<std::string>("hint").value_or("");
    error.where = data.maybe<std::string>("where").value_or("");
    return error;
}

Message readResponse(const Reader& root)
{
    const bool failed = root.value().find("error") != nullptr;
    if (failed == (root.value().find("result") != nullptr)) root.refuse("is neither a request nor a response");
    Response response;
    response.id = nullableId(root);
    if (failed) response.outcome = readError(root.child("error"));
    else response.outcome = root.child("result").value();
    return response;
}

Message readAny(const Reader& root)
{
    if (root.get<std::string>("jsonrpc") != "2.0" && root.ok()) root.child("jsonrpc").refuse("is not '2.0'");
    if (root.value().find("method") == nullptr) return readResponse(root);
    const auto method = root.get<std::string>("method");
    if (root.value().find("id") == nullptr) return Notification{method, paramsOf(root)};
    return Request{.id = root.get<std::int64_t>("id"), .method = method, .params = paramsOf(root)};
}

Value errorValue(const RpcError& error)
{
    base::Error plain = fromRpc(error);
    plain.message = error.message;  // names of methods as they were sent
    Value item;
    item["code"] = error.code;
    item["message"] = error.message;
    item["data"] = schema::errorValue(plain);
    return item;
}

Value orEmpty(Value params)
{
    if (params.isNull()) return Value::object();
    return params;
}

void write(Value& document, Request&& request)
{
    document["id"] = request.id;
    document["method"] = request.method;
    document["params"] = orEmpty(std::move(request.params));
}

void write(Value& document, Notification&& notification)
{
    document["method"] = notification.method;
    document["params"] = orEmpty(std::move(notification.params));
}

void write(Value& document, Response&& response)
{
    document["id"] = json::orNull(response.id);
    if (const auto* error = std::get_if<RpcError>(&response.outcome)) document["error"] = errorValue(*error);
    else document["result"] = std::get<Value>(std::move(response.outcome));
}

}  // namespace

base::Result<Message> readMessage(std::string_view text)
{
    const base::Result<Value> document = json::parse(text, "message", limits);
    if (!document) return base::forward(document);
    const Reader root(*document, "message");
    if (!document->isObject()) root.refuse("is not an object");
    Message message = root.ok() ? readAny(root) : Message();
    if (!root.ok()) return base::forward(root.status());
    return message;
}

std::string writeMessage(Message message)
{
    Value document;
    document["jsonrpc"] = "2.0";
    std::visit([&](auto& item) { write(document, std::move(item)); }, message);
    return json::write(document);
}

Response refusal(std::string_view text, const base::Error& error)
{
    const base::Result<Value> document = json::parse(text, "message", limits);
    Response response;
    response.outcome = RpcError{.code = document ? code::invalidRequest : code::parseError,
                                .message = error.message,
                                .hint = error.hint,
                                .where = error.where};
    if (!document) return response;
    const Value* const id = document->find("id");
    if (id != nullptr && id->asInt() != nullptr) response.id = *id->asInt();
    return response;
}

RpcError toRpc(const base::Error& error)
{
    const int number =
        error.code == base::ErrorCode::Cancelled ? code::cancelled : code::failed - static_cast<int>(error.code);
    return {.code = number, .message = error.message, .hint = error.hint, .where = error.where};
}

base::Error fromRpc(const RpcError& error)
{
    base::Error plain = base::makeError(base::ErrorCode::Internal, error.message, error.hint, error.where);
    if (error.code == code::cancelled) plain.code = base::ErrorCode::Cancelled;
    if (error.code <= code::parseError + 100 && error.code >= code::parseError) plain.code = base::ErrorCode::Usage;
    else plain.code = base::errorCodeOf(code::failed - error.code).value_or(plain.code);
    return plain;
}

}  // namespace hopscope::protocol
