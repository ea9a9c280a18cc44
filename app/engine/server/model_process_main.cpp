#include "server/model_process_main.h"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "server/confined.h"
#include "server/server.h"
#include "server/worker.h"
#include "json/reader.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using json::Value;

constexpr json::Limits limits{.bytes = std::size_t{64} << 20};

bool readAll(int socket, char* into, std::size_t size)
{
    while (size > 0) {
        const ssize_t got = ::read(socket, into, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        into += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

Value accessValue(const confine::Access& access)
{
    Value value;
    value["read"] = Value(access.read);
    value["write"] = Value(access.write);
    value["rearrange"] = Value(access.rearrange);
    return value;
}

confine::Access accessFrom(const Reader& value)
{
    return {.read = value.get<std::vector<std::string>>("read"),
            .write = value.get<std::vector<std::string>>("write"),
            .rearrange = value.get<std::vector<std::string>>("rearrange")};
}

base::Result<ModelProcessOrder> orderFrom(int socket)
{
    std::uint64_t size = 0;
    std::string text;
    if (readAll(socket, reinterpret_cast<char*>(&size), sizeof size) && size <= limits.bytes) text.resize(size);
    if (text.empty() || !readAll(socket, text.data(), text.size()))
        return base::fail(base::ErrorCode::Internal, "the process of a model received no order");
    const base::Result<Value> document = json::parse(text, "order", limits);
    if (!document) return base::forward(document);
    const Reader root(*document, "order");
    ModelProcessOrder order{.number = root.get<std::int64_t>("number"),
                            .firstRun = root.get<std::int64_t>("firstRun"),
                            .access = {},
                            .exported = root.get<std::string>("exported"),
                            .dealt = root.child("dealt").value(),
                            .home = root.get<std::string>("home")};
    if (root.has("access")) order.access = accessFrom(root.child("access"));
    if (!root.ok()) return base::forward(root.status());
    return order;
}

int failedWith(const base::Error& error)
{
    std::fprintf(stderr, "error: %s\n", base::describe(error).c_str());
    return static_cast<int>(error.code);
}

// `outputs`: folders that this process has opened, with their paths.
void confineTo(std::optional<confine::Access> access, const std::vector<std::pair<std::string, std::string>>& outputs,
               bool verifies)
{
    for (const auto& [folder, in] : outputs)
        if (access) addFolder(*access, folder, in);
    beginConfined(std::move(access), verifies);
    allowScratch();
}

int liveAsWorker(ModelProcessOrder order, const std::string& scratch, int socket)
{
    const Reader params(order.dealt, "params");
    DealtRequest request = dealtRequestOf(std::get<0>(protocol::readWorkerQuery("worker/open", params).value()));
    base::Result<pipeline::OutputFolder> folder = pipeline::openFolder(request.run, request.output, {});
    std::vector<std::pair<std::string, std::string>> outputs{{scratch, around(scratch)}};
    if (folder) outputs.emplace_back(folder->path(), folder->around());
    confineTo(std::move(order.access), outputs, request.run.settings.verify != verify::Mode::None);
    const std::unique_ptr<Channel> channel = Channel::over(socket);
    return serveWorker(*channel, std::move(request), std::move(folder));
}

int live(ModelProcessOrder order, int socket)
{
    ::setenv("TMPDIR", order.home.c_str(), 1);
    const base::Result<pipeline::EngineHome> home = beginScratch();
    if (!home) return failedWith(home.error());
    const std::string& scratch = home->path();
    if (!order.dealt.isNull()) return liveAsWorker(std::move(order), scratch, socket);
    ModelProcessBeginning beginning{.number = order.number, .firstRun = order.firstRun};
    if (!order.exported.empty()) beginning.exported.emplace(pipeline::PartialFolder::make(order.exported));
    std::vector<std::pair<std::string, std::string>> outputs{{scratch, around(scratch)}};
    if (beginning.exported && *beginning.exported) {
        const std::string& partial = (*beginning.exported)->partial();
        outputs.emplace_back(partial, around(partial));
    }
    confineTo(std::move(order.access), outputs, true);
    const std::unique_ptr<Channel> channel = Channel::over(socket);
    return serveModel(*channel, scratch, beginning);
}

int modelProcess(const std::string&, const std::vector<int>& handed)
{
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(handed.at(1), stream);
    base::Result<ModelProcessOrder> order = orderFrom(handed.at(0));
    return order ? live(*std::move(order), handed.at(0)) : failedWith(order.error());
}

}  // namespace

void beginModelProcesses() { verify::beginForkServer(modelProcess); }

std::string orderText(const ModelProcessOrder& order)
{
    Value value;
    value["number"] = order.number;
    value["firstRun"] = order.firstRun;
    value["exported"] = order.exported;
    value["dealt"] = order.dealt;
    value["home"] = order.home;
    if (order.access) value["access"] = accessValue(*order.access);
    const std::string text = json::write(value);
    const std::uint64_t size = text.size();
    return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

}  // namespace hopscope::engine
