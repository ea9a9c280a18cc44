#include "server/dealt_run.h"

#include <utility>

#include "server/last_net.h"

namespace hopscope::engine {

// Receives progress and notes from all steps of the run.
class DealtRun::Listener final : public executor::Observer, public pipeline::Reporter {
public:
    explicit Listener(DealtRun& run) : m_run(run) {}
    void stageStarted(const executor::StageEvent& event) override
    {
        m_stage = "stage " + std::to_string(event.index.number) + " of " + std::to_string(event.count);
    }
    void batchFinished(const executor::BatchEvent& event) override { m_run.tell({m_stage, event.done, event.total}); }
    void progress(const base::Progress& step) override { m_run.tell(step); }
    void note(const std::string& sentence) override { m_run.note(sentence); }

private:
    DealtRun& m_run;
    std::string m_stage;
};

DealtRun::DealtRun(pipeline::EvaluationRequest request, base::Result<pipeline::OutputFolder> folder)
    : m_request(std::move(request)),
      m_folder(std::move(folder))
{
    m_request.shard->dealer = this;
    m_thread = std::thread([this] { body(); });
}

DealtRun::~DealtRun()
{
    m_stop.request_stop();
    m_thread.join();
}

// ---- the answering thread

base::Status DealtRun::carryOut(const std::optional<executor::Order>& order, const Call& call)
{
    const std::stop_callback cancel(call.stop, [this] { m_stop.request_stop(); });
    std::unique_lock lock(m_mutex);
    m_progress = call.progress;
    if (order && m_standing) {
        m_order = order;
        m_standing = false;
        m_changed.notify_all();
    }
    m_changed.wait(lock, [this] { return m_standing || m_ended; });
    m_progress = {};
    if (m_ended && !m_result) return base::forward(m_result);
    return {};
}

plan::StageId DealtRun::stage() const
{
    const std::lock_guard lock(m_mutex);
    return m_ended ? plan::StageId() : m_stage;
}

const schema::Report* DealtRun::report() const
{
    const bool complete = m_ended && m_result && (!m_result->report.shard || m_result->report.shard->complete);
    return complete ? &m_result->report : nullptr;
}

std::vector<std::string> DealtRun::takeNotes()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_notes, {});
}

// ---- the thread of the run

base::Result<executor::Order> DealtRun::next(plan::StageId stage, int stages, const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    m_stage = stage;
    m_stages = stages;
    m_standing = true;
    m_changed.notify_all();
    if (!m_changed.wait(lock, stop, [this] { return m_order.has_value(); }))
        return base::fail(base::ErrorCode::Cancelled, "cancelled");
    return *std::exchange(m_order, std::nullopt);
}

void DealtRun::computed(std::int64_t destinations, const plan::Bytes& moved)
{
    m_computed = destinations;
    m_moved = moved;
}

void DealtRun::tell(const base::Progress& progress)
{
    base::ProgressFn listener;
    {
        const std::lock_guard lock(m_mutex);
        listener = m_progress;
    }
    if (listener) listener(progress);
}

void DealtRun::note(const std::string& sentence)
{
    const std::lock_guard lock(m_mutex);
    m_notes.push_back(sentence);
}

// Publishes the results in the folder, or frees it for others, before the end is announced.
void DealtRun::body()
{
    base::Result<pipeline::Evaluation> done = caught([this] { return evaluated(); });
    const std::lock_guard lock(m_mutex);
    m_result = std::move(done);
    m_standing = false;
    m_ended = true;
    m_changed.notify_all();
}

base::Result<pipeline::Evaluation> DealtRun::evaluated()
{
    base::Result<pipeline::OutputFolder> folder = std::move(m_folder);
    if (!folder) return base::forward(folder);
    Listener listener(*this);
    return pipeline::evaluate(m_request, *folder, listener, listener, m_stop.get_token());
}

}  // namespace hopscope::engine
