#include "debugger/probes.h"

#include <filesystem>

#include "executor/executor.h"

namespace hopscope::debugger {

namespace {

constexpr std::int64_t usualBatch = 1 << 16;

class ProgressObserver final : public executor::Observer {
public:
    explicit ProgressObserver(const base::ProgressFn& progress) : m_progress(progress) {}
    void batchFinished(const executor::BatchEvent& event) override
    {
        if (m_progress) m_progress({"stage " + std::to_string(event.stage.number), event.done, event.total});
    }

private:
    const base::ProgressFn& m_progress;
};

}  // namespace

base::Status runProbed(const Subject& subject, const plan::Plan& plan, const base::TensorMap& inputs,
                       executor::Probe& probe, const Settings& settings, std::stop_token stop)
{
    executor::Options options;
    options.folder = settings.folder;
    options.batch = settings.batch.value_or(usualBatch);
    options.probe = &probe;
    ProgressObserver observer(settings.progress);
    const base::Result<executor::RunReport> run =
        executor::run(*subject.walk, *subject.analysis, plan, inputs, options, observer, std::move(stop));
    if (!run) return base::forward(run);
    std::error_code ignored;
    for (const executor::StoredTensor& output : run->outputs)
        if (!output.file.empty()) std::filesystem::remove(output.file, ignored);
    return {};
}

std::int64_t BatchCounter::number(const executor::Probed& result)
{
    if (result.stage != m_stage) m_number = 0;
    if (result.stage != m_stage || result.loop != m_loop || result.first != m_first) ++m_number;
    m_stage = result.stage;
    m_loop = result.loop;
    m_first = result.first;
    return m_number;
}

}  // namespace hopscope::debugger
