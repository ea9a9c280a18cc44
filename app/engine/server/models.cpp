#include "server/models.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "server/confined.h"

namespace hopscope::engine {

MadeFolders::~MadeFolders()
{
    for (auto folder = m_made.rbegin(); folder != m_made.rend(); ++folder) rmdir(folder->c_str());
}

void MadeFolders::make(const std::string& folder)
{
    namespace fs = std::filesystem;
    std::error_code unknown;
    fs::path way;
    for (const fs::path& part : fs::absolute(folder, unknown).lexically_normal()) {
        way /= part;
        if (!fs::exists(way, unknown) && mkdir(way.c_str(), 0777) == 0) m_made.push_back(way.string());
    }
}

bool OpenModel::letWrite(const std::string& path)
{
    const std::optional<graph::FileStamp> there = graph::FileStamp::of(path);
    if (!there) return false;
    const auto known = writable.find(path);
    if (known != writable.end() && known->second.device == there->device && known->second.inode == there->inode)
        return false;
    if (known == writable.end()) access.write.push_back(path);
    writable[path] = *there;
    return true;
}

base::Result<std::shared_ptr<ModelProcess>> Models::start(ModelProcessOrder order)
{
    if (order.access) addUsersOwn(*order.access);
    if (!m_sandbox) order.access.reset();
    order.home = m_home;
    const std::int64_t run = order.firstRun;
    base::Result<std::shared_ptr<ModelProcess>> process = ModelProcess::start(
        order, {.passOn = [this](const Marked& marked) { passOn(marked); },
                .processEnded = [this, run](const verify::ChildEnd& end) { processEnded(run, end); }});
    if (!process) return process;
    const std::lock_guard lock(m_mutex);
    if (m_left) (*process)->socket()->leave();
    std::erase_if(m_sockets, [](const auto& other) { return other.expired(); });
    m_sockets.push_back((*process)->socket());
    return process;
}

// Called on the reading thread of a process.
void Models::passOn(const Marked& marked)
{
    if (marked.method == "run/finished") endRun();
    m_client.pass(marked.message);
}

void Models::processEnded(std::int64_t firstRun, const verify::ChildEnd& end)
{
    std::int64_t run = 0;
    {
        const std::lock_guard lock(m_mutex);
        if (firstRun != 0 && firstRun == m_runner) run = m_run;
    }
    if (run != 0) endRun();
    m_client.processEnded(end, run);
}

OpenModel& Models::keep(std::unique_ptr<OpenModel> model)
{
    const std::lock_guard lock(m_mutex);
    return *(m_open[model->number] = std::move(model));
}

void Models::replace(OpenModel& model, std::shared_ptr<ModelProcess> process)
{
    {
        const std::lock_guard lock(m_mutex);
        std::swap(model.process, process);
    }
    process.reset();  // waits for its end, without the lock
}

void Models::forget(std::int64_t number)
{
    std::unique_ptr<OpenModel> gone;
    {
        const std::lock_guard lock(m_mutex);
        const auto model = m_open.find(number);
        if (model == m_open.end()) return;
        gone = std::move(model->second);
        m_open.erase(model);
    }
    gone.reset();  // waits for the end of its process, without the lock
}

OpenModel* Models::find(std::int64_t number)
{
    const std::lock_guard lock(m_mutex);
    const auto model = m_open.find(number);
    return model == m_open.end() ? nullptr : model->second.get();
}

std::size_t Models::count()
{
    const std::lock_guard lock(m_mutex);
    return m_open.size();
}

bool Models::send(std::int64_t number, const protocol::Request& request)
{
    std::shared_ptr<ModelProcess> process;
    {
        const std::lock_guard lock(m_mutex);
        const auto model = m_open.find(number);
        if (model != m_open.end()) process = model->second->process;
    }
    if (process) process->send(request);
    return process != nullptr;
}

// Processes may send messages until their end.
Models::~Models()
{
    leave();
    std::map<std::int64_t, std::unique_ptr<OpenModel>> last;
    {
        const std::lock_guard lock(m_mutex);
        last.swap(m_open);
    }
    last.clear();
}

void Models::leave()
{
    const std::lock_guard lock(m_mutex);
    m_left = true;
    for (const std::weak_ptr<const ModelSocket>& known : m_sockets)
        if (const std::shared_ptr<const ModelSocket> socket = known.lock()) socket->leave();
}

void Models::beginRun(std::int64_t firstRun, std::unique_ptr<MadeFolders> folders)
{
    const std::lock_guard lock(m_mutex);
    m_runner = firstRun;
    m_run = 0;
    m_folders = std::move(folders);
}

void Models::nameRun(std::int64_t run)
{
    const std::lock_guard lock(m_mutex);
    if (m_runner != 0) m_run = run;
}

void Models::endRun() { beginRun(0, nullptr); }

bool Models::running()
{
    const std::lock_guard lock(m_mutex);
    return m_runner != 0;
}

}  // namespace hopscope::engine
