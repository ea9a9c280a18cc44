#pragma once

// The models that a client has opened, each in a process of its own (server/model_process.h).

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/given_files.h"
#include "server/model_process.h"
#include "json/json.h"

namespace hopscope::engine {

// Creates folders for a process that may not create them itself. The destructor removes those that are empty by then.
class MadeFolders {
public:
    MadeFolders() = default;
    MadeFolders(const MadeFolders&) = delete;
    MadeFolders& operator=(const MadeFolders&) = delete;
    ~MadeFolders();
    // Creates the folder and its missing parents, as far as possible.
    void make(const std::string& folder);

private:
    std::vector<std::string> m_made;  // outermost first
};

// The number of a run encodes that of its model.
constexpr int bitsOfRuns = 20;
constexpr std::int64_t firstRunOf(std::int64_t model) { return ((model - 1) << bitsOfRuns) + 1; }
constexpr std::int64_t modelOf(std::int64_t run) { return ((run - 1) >> bitsOfRuns) + 1; }

// A model that is open. It belongs to the answering thread.
struct OpenModel {
    explicit OpenModel(std::int64_t model) : number(model), nextRun(firstRunOf(model)) {}
    // Allows the next process to write to the path. Returns false if the current one already may, or if the path does
    // not exist.
    bool letWrite(const std::string& path);

    std::int64_t number, nextRun;
    json::Value params{};                                // the parameters of model/open
    std::string file{};                                  // of the model
    confine::Access access{};                            // the access of its process
    graph::GivenFiles given{};                           // the files from which it was opened
    std::map<std::string, graph::FileStamp> writable{};  // by path: the file or folder that existed there
    MadeFolders made{};                                  // for as long as it is open
    std::shared_ptr<ModelProcess> process{};
};

// The open models of a client. The class is thread-safe, except for the members of an OpenModel.
class Models {
public:
    struct Client {
        std::function<void(std::string_view message)> pass;  // passes messages of processes to the client
        // Called when a process has ended, and with it this run; 0: no run.
        std::function<void(const verify::ChildEnd& end, std::int64_t run)> processEnded;
    };
    // The client is called on the threads of processes. `home` is the folder for their scratch folders.
    Models(std::string home, bool sandbox, Client client)
        : m_home(std::move(home)),
          m_sandbox(sandbox),
          m_client(std::move(client))
    {}

    Models(const Models&) = delete;
    Models& operator=(const Models&) = delete;
    ~Models();

    // Starts a process. Fails with Resources.
    base::Result<std::shared_ptr<ModelProcess>> start(ModelProcessOrder order);
    OpenModel& keep(std::unique_ptr<OpenModel> model);
    // Replaces the process of the model.
    void replace(OpenModel& model, std::shared_ptr<ModelProcess> process);
    void forget(std::int64_t number);
    [[nodiscard]] OpenModel* find(std::int64_t number);
    [[nodiscard]] std::size_t count();
    // Returns false if the model is not open.
    bool send(std::int64_t number, const protocol::Request& request);
    // Asks all processes to end, and starts no more.
    void leave();

    // Begins a run of the process with this first run. Those `folders` that are empty at its end are removed before the
    // client is notified of it.
    void beginRun(std::int64_t firstRun, std::unique_ptr<MadeFolders> folders);
    // Sets the number of the new run, unless the run has already ended.
    void nameRun(std::int64_t run);
    void endRun();
    [[nodiscard]] bool running();

private:
    void passOn(const Marked& marked);
    void processEnded(std::int64_t firstRun, const verify::ChildEnd& end);

    std::string m_home;
    bool m_sandbox;
    Client m_client;
    std::mutex m_mutex;
    std::map<std::int64_t, std::unique_ptr<OpenModel>> m_open;
    std::vector<std::weak_ptr<const ModelSocket>> m_sockets;  // of all processes
    std::int64_t m_runner = 0, m_run = 0;  // the first run of the running process, and the run if it is known
    std::unique_ptr<MadeFolders> m_folders;
    bool m_left = false;
};

}  // namespace hopscope::engine
