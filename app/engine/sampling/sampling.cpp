#include "sampling/sampling.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <new>

#include "analysis/roles/roles.h"
#include "analysis/roles/tracing.h"
#include "confine/confine.h"
#include "graph/dataset.h"
#include "graph/given_files.h"
#include "graph/safetensors.h"
#include "schema/error.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::engine {

namespace {

using analysis::InputSchema;
using analysis::TracingSample;
using base::ErrorCode;
using json::Value;

struct Request {
    std::vector<std::string> data, roles;
    std::optional<std::vector<std::string>> arguments;
    std::string folder;
};

base::Result<Request> requestFrom(const std::string& text)
{
    const base::Result<Value> document = json::parse(text, "the request");
    if (!document) return base::forward(document);
    const json::Reader root(*document, "the request");
    root.only({"data", "roles", "arguments", "folder"});
    Request request{.data = root.get<std::vector<std::string>>("data"),
                    .roles = root.get<std::vector<std::string>>("roles"),
                    .arguments = root.maybe<std::vector<std::string>>("arguments"),
                    .folder = root.get<std::string>("folder")};
    if (!root.ok()) return base::forward(root.status());
    return request;
}

void confineTo(const Request& request)
{
    confine::Access access{.read = request.data, .write = {request.folder}, .rearrange = {}};
    for (const std::string& data : request.data)
        access.read.push_back(data.substr(data.find('=') + 1));  // the file of NAME=FILE
    confine::enter(access);
}

// The tensors named by the arguments.
base::Result<base::TensorMap> inputsOf(const Request& request)
{
    base::Result<base::TensorMap> data = graph::readData(request.data);
    if (data && request.arguments)
        std::erase_if(*data, [&](const auto& input) {
            return std::ranges::find(*request.arguments, input.first.substr(0, input.first.find('.'))) ==
                   request.arguments->end();
        });
    return data;
}

Value countsOf(const std::map<std::string, std::int64_t>& sizes)
{
    Value counts = Value::object();
    for (const auto& [table, rows] : sizes) counts[table] = rows;
    return counts;
}

// Adds the numbers of rows of all node types and of all relations.
void addTotals(Value& to, const InputSchema& schema, const std::map<std::string, std::int64_t>& sizes)
{
    std::int64_t nodes = 0, edges = 0;
    for (const auto& [table, rows] : sizes) {
        const bool relation = std::ranges::any_of(schema.roles, [&, name = table](const auto& input) {
            return input.second.kind == analysis::RoleKind::Index && input.second.relation == name;
        });
        if (analysis::isNodeTable(schema, table)) nodes += rows;
        else if (relation) edges += rows;
    }
    to["nodes"] = nodes;
    to["edges"] = edges;
}

base::Result<Value> sampleValue(const InputSchema& schema, const TracingSample& sample, const std::string& file)
{
    Value value;
    addTotals(value, schema, sample.sizes);
    value["file"] = sample.whole ? Value() : Value(file);
    if (sample.whole) return value;
    if (const base::Status written = graph::writeSafetensors(file, sample.tensors, graph::Flush::No); !written)
        return base::forward(written);
    return value;
}

Value rolesOf(const InputSchema& schema)
{
    Value roles = Value::object();
    for (const auto& [key, role] : schema.roles) roles[key] = analysis::roleText(role);
    return roles;
}

int failedWith(const base::Error& error)
{
    std::fputs(schema::writeError(error).c_str(), stdout);
    std::fflush(stdout);
    return static_cast<int>(error.code);
}

std::string standardInput()
{
    std::string text;
    char part[4096];
    for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, stdin)) > 0;) text.append(part, got);
    return text;
}

base::Result<bool> sandboxFrom(int count, char** arguments)
{
    bool sandbox = true;
    for (int i = 2; i < count; ++i) {
        const std::string word = arguments[i];
        if (word != "--json" && word != "--verbose" && word != "--no-sandbox")
            return base::fail(ErrorCode::Usage, "sample has no option " + word,
                              "it reads a request from standard input: docs/reference/format-sample.md");
        sandbox = sandbox && word != "--no-sandbox";
    }
    return sandbox;
}

base::Result<std::string> guarded(int count, char** arguments)
{
    const base::Result<bool> sandbox = sandboxFrom(count, arguments);
    if (!sandbox) return base::forward(sandbox);
    try {
        return answerSampling(standardInput(), *sandbox);
    } catch (const std::bad_alloc&) {
        return base::fail(ErrorCode::Resources, "out of memory");
    } catch (const std::exception& error) {
        return base::fail(ErrorCode::Internal, std::string("unexpected error: ") + error.what(), "please report this");
    }
}

}  // namespace

base::Result<std::string> answerSampling(const std::string& text, bool sandbox)
{
    const base::Result<Request> request = requestFrom(text);
    if (!request) return base::forward(request);
    if (sandbox) confineTo(*request);
    const auto roles = analysis::parseRoles(request->roles);
    if (!roles) return base::forward(roles);
    const base::Result<base::TensorMap> inputs = inputsOf(*request);
    if (!inputs) return base::forward(inputs);
    const base::Result<InputSchema> schema = analysis::inferSchema(*inputs, *roles);
    if (!schema) return base::forward(schema);
    Value answer;
    answer["roles"] = rolesOf(*schema);
    answer["sizes"] = countsOf(schema->sizes);
    addTotals(answer, *schema, schema->sizes);
    answer["samples"] = Value::array();
    for (const TracingSample& sample : analysis::tracingSamples(*inputs, *schema)) {
        const std::string name = "sample-" + std::to_string(answer["samples"].size()) + ".safetensors";
        base::Result<Value> value = sampleValue(*schema, sample, request->folder + "/" + name);
        if (!value) return base::forward(value);
        answer["samples"].push(std::move(*value));
    }
    return json::write(answer, true);
}

int sampleMain(int count, char** arguments)
{
    graph::explainCutFiles();
    const base::Result<std::string> answer = guarded(count, arguments);
    if (!answer) return failedWith(answer.error());
    if (std::fputs(answer->c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "error: standard output cannot be written: %s\n", std::strerror(errno));
    return static_cast<int>(ErrorCode::Resources);
}

}  // namespace hopscope::engine
