#include "cli/observers.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "schema/trace.h"

namespace hopscope::engine {

void ProgressObserver::prologueStarted() { m_console.progress({"preparing the graph", 0, 0}); }

void ProgressObserver::prologueFinished(double) { m_console.progressEnded(); }

void ProgressObserver::stageStarted(const executor::StageEvent& event)
{
    m_stage = "stage " + std::to_string(event.index.number) + " of " + std::to_string(event.count);
    m_console.progress({m_stage, 0, event.destinations});
}

void ProgressObserver::stageFinished(plan::StageId, double) { m_console.progressEnded(); }

void ProgressObserver::batchFinished(const executor::BatchEvent& event)
{
    m_console.progress({m_stage, event.done, event.total});
}

void ProgressObserver::note(const std::string& sentence) { m_console.note(sentence); }

base::Result<std::unique_ptr<TraceObserver>> TraceObserver::create(const std::string& path)
{
    std::unique_ptr<TraceObserver> trace(new TraceObserver(path));
    trace->m_temporary = path + ".partial." + std::to_string(getpid());
    trace->m_file = std::fopen(trace->m_temporary.c_str(), "wbe");
    if (trace->m_file == nullptr)
        return base::fail(base::ErrorCode::Input, path + ": cannot be written: " + std::strerror(errno),
                          "choose another file for --trace");
    std::fputs("{\"traceEvents\":[", trace->m_file);
    for (const json::Value& lane : schema::traceLanes()) trace->emit(lane);
    return trace;
}

TraceObserver::~TraceObserver()
{
    if (m_file == nullptr) return;
    std::fclose(m_file);
    unlink(m_temporary.c_str());
}

void TraceObserver::emit(const json::Value& event)
{
    std::fputs(m_first ? "\n" : ",\n", m_file);
    std::fputs(json::write(event).c_str(), m_file);
    m_first = false;
}

void TraceObserver::prologueFinished(double seconds) { m_now = std::max(m_now, seconds); }

void TraceObserver::stageStarted(const executor::StageEvent&) { m_stageStart = m_now; }

void TraceObserver::stageFinished(plan::StageId stage, double seconds)
{
    emit(schema::traceStage(stage, m_stageStart, seconds));
    m_now = std::max(m_now, m_stageStart + seconds);
}

void TraceObserver::batchFinished(const executor::BatchEvent& batch)
{
    json::Value memory = schema::traceMemory(m_now, batch.memory, batch.peakMemory);
    if (batch.reservedMemory > 0) memory["args"]["reserved"] = batch.reservedMemory;
    emit(memory);
    json::Value value = schema::traceMark("batch", m_now, schema::TraceMark::Lane);
    value["args"]["stage"] = batch.stage.number;
    value["args"]["loop"] = batch.loop;
    value["args"]["batch"] = batch.batch;
    value["args"]["destinations"] = batch.destinations;
    value["args"]["edges"] = batch.edges;
    value["args"]["frontier"] = batch.frontier;
    emit(value);
}

void TraceObserver::phaseFinished(const executor::PhaseEvent& phase)
{
    if (phase.device > 0 && m_devices.insert(phase.device).second)
        for (const json::Value& lane : schema::traceLanes(phase.device)) emit(lane);
    emit(schema::tracePhase(static_cast<std::size_t>(phase.phase), phase.stage, phase.batch, phase.start, phase.seconds,
                            phase.device));
    m_now = std::max(m_now, phase.start + phase.seconds);
}

void TraceObserver::note(const std::string& sentence)
{
    emit(schema::traceMark(sentence, m_now, schema::TraceMark::Everywhere));
}

base::Status TraceObserver::publish()
{
    std::fputs("\n]}\n", m_file);
    const bool written = std::ferror(m_file) == 0 && std::fclose(m_file) == 0;
    m_file = nullptr;
    if (written && std::rename(m_temporary.c_str(), m_path.c_str()) == 0) return {};
    const std::string problem = std::strerror(errno);
    unlink(m_temporary.c_str());
    return base::fail(base::ErrorCode::Resources, m_path + ": cannot be written: " + problem, "is the disk full?");
}

void Observers::prologueStarted()
{
    for (executor::Observer* o : m_observers) o->prologueStarted();
}

void Observers::prologueFinished(double seconds)
{
    for (executor::Observer* o : m_observers) o->prologueFinished(seconds);
}

void Observers::stageStarted(const executor::StageEvent& event)
{
    for (executor::Observer* o : m_observers) o->stageStarted(event);
}

void Observers::stageFinished(plan::StageId stage, double seconds)
{
    for (executor::Observer* o : m_observers) o->stageFinished(stage, seconds);
}

void Observers::batchFinished(const executor::BatchEvent& event)
{
    for (executor::Observer* o : m_observers) o->batchFinished(event);
}

void Observers::phaseFinished(const executor::PhaseEvent& event)
{
    for (executor::Observer* o : m_observers) o->phaseFinished(event);
}

void Observers::note(const std::string& sentence)
{
    for (executor::Observer* o : m_observers) o->note(sentence);
}

}  // namespace hopscope::engine
