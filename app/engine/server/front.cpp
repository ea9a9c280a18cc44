#include "server/front.h"

#include <filesystem>

#include "base/folder.h"
#include "pipeline/machine/machine.h"
#include "pipeline/opening/trust.h"
#include "pipeline/running/execute.h"
#include "server/confined.h"
#include "server/documents.h"
#include "server/exports.h"
#include "server/machine.h"
#include "server/relay.h"

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

// Fails with Input if a file was changed or removed since the model was opened.
base::Status asOpened(const OpenModel& model)
{
    base::Status same = model.given.unchanged();
    if (same) return same;
    return base::fail(base::ErrorCode::Input, same.error().where + " was changed or removed since the model was opened",
                      protocol::openAgain, same.error().where);
}

class Front final : public Relay {
public:
    using Relay::Relay;

protected:
    bool control(const Request& request) override
    {
        const Reader params(request.params, "params");
        const std::optional<protocol::RunQuery> query = protocol::readRunQuery(request.method, params);
        if (!query) return false;
        if (!params.ok()) respond(request.id, invalid(params));
        else if (!models().send(engine::modelOf(protocol::runOf(*query)), request))
            respond(request.id, invalid("no such run is in progress"));
        return true;
    }

    Reply dispatch(const Request& request, const Call& call) override
    {
        const Reader params(request.params, "params");
        const std::optional<protocol::Query> query = protocol::readQuery(request.method, params);
        if (!query) return unknown(request.method);
        if (!params.ok()) return invalid(params);
        return std::visit([&](const auto& each) { return reply(each, {request, params, call}); }, *query);
    }

private:
    struct Asked {
        const Request& request;
        const Reader& params;
        const Call& call;
    };

    // Passed on to the model's process, unless it is one of those below.
    template <class Q>
    Reply reply(const Q& query, const Asked& asked)
    {
        if constexpr (requires { this->own(query, asked); }) return own(query, asked);
        else return passToModel(query, asked);
    }

    // ---- the machine

    Reply own(const protocol::ListFolder& query, const Asked&) { return listFolder(query); }
    Reply own(const protocol::ReadExport& query, const Asked&) { return readExport(query); }
    Reply own(const protocol::ReadRates& query, const Asked&) { return machineRates(query); }
    Reply own(const protocol::ForgetRates& query, const Asked&) { return forgetRates(query); }
    Reply own(const protocol::MeasureRates& query, const Asked& asked)
    {
        return measureRates(query, home(), asked.call);
    }

    // ---- documents

    // Null, with the reader refused, if there is no such open model.
    OpenModel* modelOf(const protocol::OfDocument& query, const Reader& params)
    {
        OpenModel* const model = models().find(query.document);
        if (model == nullptr) params.child("document").refuse("is not an open model");
        return model;
    }

    Reply own(const protocol::OpenModel& query, const Asked& asked)
    {
        const std::string& cache = query.settings.cache;
        auto model = std::make_unique<OpenModel>(m_next);
        model->params = asked.request.params;
        model->file = query.files.model;
        addModel(model->access, modelOptionsOf(query.files));
        if (models().count() >= mostDocuments) return invalid("too many models are open; close one");
        if (const base::Status made = pipeline::makeCacheFolder(cache); !made) return failed(made.error());
        for (const std::string& path : model->access.read) addGiven(model->given, path);
        std::vector<std::string> writes = query.writes;
        writes.insert(writes.end(), {cache, sharedFolder(model->number)});
        letWrite(*model, model->made, writes);
        const base::Result<Process> begun = models().start(orderFor(*model, model->nextRun));
        if (!begun) return failed(begun.error());
        model->process = *begun;
        OpenModel& opened = models().keep(std::move(model));
        Reply reply;
        if (carryOut(*opened.process, asked.request, asked.call, {.expendable = true}, reply)) ++m_next;
        else models().forget(opened.number);
        return reply;
    }

    Reply own(const protocol::CloseModel& query, const Asked& asked)
    {
        OpenModel* const model = modelOf(query, asked.params);
        if (model == nullptr) return invalid(asked.params);
        Reply reply;
        const bool dead = model->process->ended().has_value();
        if (dead) reply = Value();
        if (dead || carryOut(*model->process, asked.request, asked.call, {}, reply)) models().forget(model->number);
        return reply;
    }

    // The user agrees to the file as it was when it was opened, or to its folder.
    Reply own(const protocol::TrustModel& query, const Asked& asked)
    {
        const OpenModel* const model = modelOf(query, asked.params);
        if (model == nullptr) return invalid(asked.params);
        if (const base::Status same = asOpened(*model); !same) return failed(same.error());
        const base::Status agreed = pipeline::trust(query.folder ? around(model->file) : model->file);
        return agreed ? Outcome(Value()) : failed(agreed.error());
    }

    Reply passToModel(const protocol::OfDocument& query, const Asked& asked)
    {
        OpenModel* const model = modelOf(query, asked.params);
        if (model == nullptr) return invalid(asked.params);
        Reply reply;
        carryOut(*model->process, asked.request, asked.call, {}, reply);
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

    Reply own(const protocol::StartRun& query, const Asked& asked)
    {
        OpenModel* const model = modelOf(query, asked.params);
        if (model == nullptr) return invalid(asked.params);
        if (models().running()) return invalid("another run is in progress");
        std::vector<std::string> wanted = query.transient;
        wanted.push_back(query.output);
        Reply reply;
        auto made = std::make_unique<MadeFolders>();
        if (letWrite(*model, *made, wanted) && !openAgain(*model, asked.call, reply)) {
            for (const std::string& path : wanted) model->writable.erase(path);  // its process stays as it was
            return reply;
        }
        models().beginRun(model->process->firstRun(), std::move(made));
        const std::optional<ModelProcess::Answer> answer =
            carryOut(*model->process, asked.request, asked.call, {}, reply);
        if (!answer) {
            models().endRun();
            return reply;
        }
        const std::int64_t run = runOf(answer->message);
        model->nextRun = run + 1;
        models().nameRun(run);
        return reply;
    }

    Reply own(const protocol::CompareModels& query, const Asked& asked)
    {
        OpenModel* const model = modelOf(query, asked.params);
        if (model == nullptr) return invalid(asked.params);
        ModelProcessOrder order = orderFor(*model, 0);
        order.access->read.push_back(query.against);
        Reply reply;
        const Process process = openedAnew(*model, std::move(order), asked.call, reply);
        if (process) carryOut(*process, asked.request, asked.call, {.expendable = true}, reply);
        return reply;
    }

    // The process writes to a folder that it shares with this one.
    Reply own(const protocol::SaveTensor& query, const Asked& asked)
    {
        OpenModel* const model = modelOf(query, asked.params);
        if (model == nullptr) return invalid(asked.params);
        const std::string shared = sharedFolder(model->number);
        Request inside = asked.request;
        inside.params["file"] = shared + "/" + std::filesystem::path(query.file).stem().string() + ".npy";
        Reply reply;
        if (!carryOut(*model->process, inside, asked.call, {.failureOnly = true}, reply)) return reply;
        if (const base::Status placed = placeAll(shared, around(query.file)); !placed) return failed(placed.error());
        return protocol::answerValue(protocol::SavedTensor{.file = query.file});
    }

    [[nodiscard]] std::string sharedFolder(std::int64_t number) const { return home() + "/" + std::to_string(number); }

    // Both prepare the model anew, as the commands do.
    Reply own(const protocol::WriteExport& query, const Asked& asked)
    {
        return anew(query.files, {}, query.folder, asked);
    }
    Reply own(const protocol::CheckExport& query, const Asked& asked)
    {
        return anew(query.files, query.folder, {}, asked);
    }

    Reply anew(const protocol::ModelFiles& files, const std::string& read, const std::string& written,
               const Asked& asked)
    {
        confine::Access access;
        addModel(access, modelOptionsOf(files));
        if (!read.empty()) access.read.push_back(read);
        const base::Result<Process> process =
            models().start({.number = 0, .firstRun = 0, .access = std::move(access), .exported = written});
        if (!process) return failed(process.error());
        Reply reply;
        carryOut(**process, asked.request, asked.call, {.expendable = true}, reply);
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
