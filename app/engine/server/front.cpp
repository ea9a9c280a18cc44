#include "server/front.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/folder.h"
#include "pipeline/execute.h"
#include "pipeline/machine.h"
#include "pipeline/trust.h"
#include "protocol/settings.h"
#include "server/confined.h"
#include "server/documents.h"
#include "server/exports.h"
#include "server/machine.h"
#include "server/relay.h"
#include "server/runs.h"
#include "server/server.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using json::Value;
using protocol::Request;

constexpr std::size_t mostDocuments = 64;

// The number of the run in the answer to run/start.
std::int64_t runOf(const std::string& message)
{
    const base::Result<Value> answer = json::parse(message);
    return answer ? json::field<std::int64_t>(*answer, "/result/run").value_or(0) : 0;
}

// Moves the files of one folder into another.
base::Status placeAll(const std::string& from, const std::string& to)
{
    const base::Result<base::Folder> folder = base::Folder::open(from);
    if (!folder) return base::forward(folder);
    base::Status placed;
    for (const std::string& name : folder->names()) {
        if (placed) placed = base::placeFile(folder->path(name), to + "/" + name);
        folder->remove(name);
    }
    return placed;
}

// Fails with Input if a file has changed since the model was opened.
base::Status asOpened(const OpenModel& model)
{
    base::Status same = model.given.unchanged();
    if (same) return same;
    return base::fail(base::ErrorCode::Input, same.error().where + " has changed since the model was opened",
                      protocol::openAgain, same.error().where);
}

class Front final : public Relay {
public:
    using Relay::Relay;

protected:
    bool control(const Request& request) override
    {
        if (!controlsRun(request.method)) return false;
        const Reader params(request.params, "params");
        const RunControl wanted = runControlOf(request.method, params);
        if (!params.ok()) respond(request.id, invalid(params));
        else if (!models().send(engine::modelOf(wanted.run), request))
            respond(request.id, invalid("no such run is in progress"));
        return true;
    }

    Reply dispatch(const Request& request, const Call& call) override
    {
        using Method = Reply (Front::*)(const Request&, const Reader&, const Call&);
        static const std::map<std::string, Method> methods{{"model/open", &Front::open},
                                                           {"model/close", &Front::close},
                                                           {"model/trust", &Front::trust},
                                                           {"run/start", &Front::startRun},
                                                           {"debug/against", &Front::compare},
                                                           {"debug/save", &Front::save},
                                                           {"export/write", &Front::exportAnew},
                                                           {"export/check", &Front::checkAgain},
                                                           {"export/read", &Front::readFolder},
                                                           {"fs/list", &Front::list},
                                                           {"machine/rates", &Front::rates},
                                                           {"machine/measure", &Front::measure},
                                                           {"machine/forget", &Front::forgetMeasured}};
        const Reader params(request.params, "params");
        const auto method = methods.find(request.method);
        if (method != methods.end()) return (this->*method->second)(request, params, call);
        return params.has("document") ? passToModel(request, params, call) : unknown(request.method);
    }

private:
    Reply list(const Request&, const Reader& params, const Call&) { return listFolder(params); }
    Reply readFolder(const Request&, const Reader& params, const Call&) { return readExport(params); }
    Reply rates(const Request&, const Reader& params, const Call& call) { return machineRates(params, call); }
    Reply forgetMeasured(const Request&, const Reader& params, const Call& call) { return forgetRates(params, call); }
    Reply measure(const Request&, const Reader& params, const Call& call) { return measureRates(params, home(), call); }

    // Null, with the reader refused, if the parameters name no open model.
    OpenModel* modelOf(const Reader& params)
    {
        OpenModel* const model = models().find(params.get<std::int64_t>("document"));
        if (model == nullptr) params.child("document").refuse("is not an open model");
        return model;
    }

    // ---- documents

    Reply open(const Request& request, const Reader& params, const Call& call)
    {
        auto model = std::make_unique<OpenModel>(m_next);
        model->params = request.params;
        addModel(model->access, modelOptionsOf(params));
        const std::string cache = protocol::readSettings(params).cache;
        auto writes = params.maybe<std::vector<std::string>>("writes").value_or(std::vector<std::string>());
        if (!params.ok()) return invalid(params);
        if (models().count() >= mostDocuments) return invalid("too many models are open; close one");
        if (const base::Status made = pipeline::makeCacheFolder(cache); !made) return failed(made.error());
        for (const std::string& path : model->access.read) addGiven(model->given, path);
        writes.insert(writes.end(), {cache, sharedFolder(model->number)});
        letWrite(*model, model->made, writes);
        const base::Result<Process> begun = models().start(orderFor(*model, model->nextRun));
        if (!begun) return failed(begun.error());
        model->process = *begun;
        OpenModel& opened = models().keep(std::move(model));
        Reply reply;
        if (carryOut(*opened.process, request, call, {.expendable = true}, reply)) ++m_next;
        else models().forget(opened.number);
        return reply;
    }

    Reply close(const Request& request, const Reader& params, const Call& call)
    {
        OpenModel* const model = modelOf(params);
        if (model == nullptr) return invalid(params);
        Reply reply;
        const bool dead = model->process->ended().has_value();
        if (dead) reply = Value();
        if (dead || carryOut(*model->process, request, call, {}, reply)) models().forget(model->number);
        return reply;
    }

    // The user agrees to the file as it was when it was opened, or to its folder.
    Reply trust(const Request&, const Reader& params, const Call&)
    {
        OpenModel* const model = modelOf(params);
        const bool folder = params.maybe<bool>("folder").value_or(false);
        if (model == nullptr || !params.ok()) return invalid(params);
        if (const base::Status same = asOpened(*model); !same) return failed(same.error());
        const std::string file = modelOptionsOf(Reader(model->params, "params")).model;
        const base::Status agreed = pipeline::trust(folder ? around(file) : file);
        return agreed ? Outcome(Value()) : failed(agreed.error());
    }

    Reply passToModel(const Request& request, const Reader& params, const Call& call)
    {
        OpenModel* const model = modelOf(params);
        if (model == nullptr) return invalid(params);
        Reply reply;
        carryOut(*model->process, request, call, {}, reply);
        return reply;
    }

    // A new process with the model open, with more access than its own; null with the reply, which may be empty.
    Process openedAnew(const OpenModel& model, ModelProcessOrder order, const Call& call, Reply& reply)
    {
        const base::Result<Process> begun = models().start(std::move(order));
        if (!begun) reply = failed(begun.error());
        const Request opening{.id = call.id, .method = "model/open", .params = model.params};
        const bool opened = begun && carryOut(**begun, opening, call, {.expendable = true, .failureOnly = true}, reply);
        return opened ? *begun : nullptr;
    }

    // Reopens the model in another process, which may write to more; the data stay the same.
    bool openAgain(OpenModel& model, const Call& call, Reply& reply)
    {
        if (const base::Status same = asOpened(model); !same) {
            reply = failed(same.error());
            return false;
        }
        Process process = openedAnew(model, orderFor(model, model.nextRun), call, reply);
        if (!process) return false;
        models().replace(model, std::move(process));
        return true;
    }

    // ---- requests that write, or read more

    static ModelProcessOrder orderFor(const OpenModel& model, std::int64_t firstRun)
    {
        return {.number = model.number, .firstRun = firstRun, .access = model.access, .exported = {}};
    }

    static void addGiven(graph::GivenFiles& given, const std::string& path)
    {
        std::error_code none;
        if (std::filesystem::is_regular_file(path, none)) given.add(path);
        for (std::filesystem::directory_iterator at(path, none), end; !none && at != end; at.increment(none))
            if (std::error_code unknown; at->is_regular_file(unknown)) given.add(at->path().string());
    }

    // Returns whether that needs another process.
    static bool letWrite(OpenModel& model, MadeFolders& made, const std::vector<std::string>& paths)
    {
        bool more = false;
        for (const std::string& path : paths) {
            if (path.empty()) continue;
            made.make(path);
            more = model.letWrite(path) || more;
        }
        return more;
    }

    Reply startRun(const Request& request, const Reader& params, const Call& call)
    {
        OpenModel* const model = modelOf(params);
        auto wanted = params.maybe<std::vector<std::string>>("transient").value_or(std::vector<std::string>());
        wanted.push_back(textOr(params, "output", ""));
        if (!params.ok()) return invalid(params);
        if (models().running()) return invalid("another run is in progress");
        Reply reply;
        auto made = std::make_unique<MadeFolders>();
        if (letWrite(*model, *made, wanted) && !openAgain(*model, call, reply)) {
            for (const std::string& path : wanted) model->writable.erase(path);  // its process stays as it was
            return reply;
        }
        models().beginRun(model->process->firstRun(), std::move(made));
        const std::optional<ModelProcess::Answer> answer = carryOut(*model->process, request, call, {}, reply);
        if (!answer) {
            models().endRun();
            return reply;
        }
        const std::int64_t run = runOf(answer->message);
        model->nextRun = run + 1;
        models().nameRun(run);
        return reply;
    }

    Reply compare(const Request& request, const Reader& params, const Call& call)
    {
        OpenModel* const model = modelOf(params);
        if (model == nullptr) return invalid(params);
        ModelProcessOrder order = orderFor(*model, 0);
        order.access->read.push_back(textOr(params, "against", ""));
        if (!params.ok()) return invalid(params);
        Reply reply;
        const Process process = openedAnew(*model, std::move(order), call, reply);
        if (process) carryOut(*process, request, call, {.expendable = true}, reply);
        return reply;
    }

    // The process writes to a folder that it shares with this one.
    Reply save(const Request& request, const Reader& params, const Call& call)
    {
        OpenModel* const model = modelOf(params);
        const std::string file = textOr(params, "file", "");
        if (model == nullptr || !params.ok()) return invalid(params);
        if (!file.ends_with(".npy")) return passToModel(request, params, call);
        const std::string shared = sharedFolder(model->number), stem = std::filesystem::path(file).stem().string();
        Request inside = request;
        inside.params["file"] = shared + "/" + stem + ".npy";
        Reply reply;
        if (!carryOut(*model->process, inside, call, {.failureOnly = true}, reply)) return reply;
        if (const base::Status placed = placeAll(shared, around(file)); !placed) return failed(placed.error());
        Value answer;
        answer["file"] = file;
        return answer;
    }

    [[nodiscard]] std::string sharedFolder(std::int64_t number) const { return home() + "/" + std::to_string(number); }

    // Both prepare the model anew, as the commands do.
    Reply exportAnew(const Request& request, const Reader& params, const Call& call)
    {
        return anew(request, params, call, params.get<std::string>("folder"), {});
    }
    Reply checkAgain(const Request& request, const Reader& params, const Call& call)
    {
        return anew(request, params, call, {}, params.get<std::string>("folder"));
    }

    Reply anew(const Request& request, const Reader& params, const Call& call, const std::string& written,
               const std::string& read)
    {
        confine::Access access;
        addModel(access, modelOptionsOf(params));
        if (!params.ok()) return invalid(params);
        if (!read.empty()) access.read.push_back(read);
        const base::Result<Process> process =
            models().start({.number = 0, .firstRun = 0, .access = std::move(access), .exported = written});
        if (!process) return failed(process.error());
        Reply reply;
        carryOut(**process, request, call, {.expendable = true}, reply);
        return reply;
    }

    std::int64_t m_next = 1;
};

}  // namespace

base::Result<int> serve(const std::stop_token& stop, bool sandbox)
{
    std::error_code ignored;  // so that runs of models that are open already refine rates measured later
    if (const std::string rates = pipeline::machineFile(); !rates.empty())
        std::filesystem::create_directories(around(rates), ignored);
    return relayed<Front>(stop, sandbox);
}

}  // namespace hopscope::engine
