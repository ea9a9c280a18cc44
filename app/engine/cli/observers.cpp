#include "cli/observers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "json/json.h"

namespace hopscope::engine {

namespace {

constexpr int phaseLane = 2;  // 1 is the lane of the stages

// Chrome's trace format counts in microseconds.
json::Value event(const char* kind, const std::string& name, int lane, double start)
{
    json::Value value;
    value["ph"] = kind;
    value["name"] = name;
    value["pid"] = 1;
    value["tid"] = lane;
    value["ts"] = start * 1e6;
    return value;
}

json::Value laneName(int lane, const std::string& name)
{
    json::Value value = event("M", "thread_name", lane, 0);
    value["args"]["name"] = name;
    return value;
}

}  // namespace

void ProgressObserver::prologueStarted() { m_console.progress({"preparing the graph", 0, 0}); }

void ProgressObserver::prologueFinished(double) { m_console.progressEnded(); }

void ProgressObserver::stageStarted(const executor::StageEvent& event)
{
    m_stage = "stage " + std::to_string(event.index) + " of " + std::to_string(event.count);
    m_console.progress({m_stage, 0, event.destinations});
}

void ProgressObserver::stageFinished(int, double) { m_console.progressEnded(); }

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
    trace->emit(json::write(laneName(1, "stages")));
    for (int phase = 0; phase < executor::phaseCount; ++phase)
        trace->emit(json::write(laneName(phaseLane + phase, executor::phaseName(static_cast<executor::Phase>(phase)))));
    return trace;
}

TraceObserver::~TraceObserver()
{
    if (m_file == nullptr) return;
    std::fclose(m_file);
    unlink(m_temporary.c_str());
}

void TraceObserver::emit(const std::string& text)
{
    std::fputs(m_first ? "\n" : ",\n", m_file);
    std::fputs(text.c_str(), m_file);
    m_first = false;
}

void TraceObserver::prologueFinished(double seconds) { m_now = std::max(m_now, seconds); }

void TraceObserver::stageStarted(const executor::StageEvent&) { m_stageStart = m_now; }

void TraceObserver::stageFinished(int stage, double seconds)
{
    json::Value value = event("X", "stage " + std::to_string(stage), 1, m_stageStart);
    value["dur"] = seconds * 1e6;
    emit(json::write(value));
    m_now = std::max(m_now, m_stageStart + seconds);
}

void TraceObserver::batchFinished(const executor::BatchEvent& batch)
{
    json::Value memory = event("C", "device memory", 1, m_now);
    memory["args"]["bytes"] = batch.memory;
    memory["args"]["peak"] = batch.peakMemory;
    if (batch.reservedMemory > 0) memory["args"]["reserved"] = batch.reservedMemory;
    emit(json::write(memory));
    json::Value value = event("i", "batch", 1, m_now);
    value["s"] = "t";
    value["args"]["stage"] = batch.stage;
    value["args"]["loop"] = batch.loop;
    value["args"]["batch"] = batch.batch;
    value["args"]["destinations"] = batch.destinations;
    value["args"]["edges"] = batch.edges;
    value["args"]["frontier"] = batch.frontier;
    emit(json::write(value));
}

void TraceObserver::phaseFinished(const executor::PhaseEvent& phase)
{
    json::Value value =
        event("X", executor::phaseName(phase.phase), phaseLane + static_cast<int>(phase.phase), phase.start);
    value["dur"] = phase.seconds * 1e6;
    value["args"]["stage"] = phase.stage;
    value["args"]["batch"] = phase.batch;
    emit(json::write(value));
    m_now = std::max(m_now, phase.start + phase.seconds);
}

void TraceObserver::note(const std::string& sentence)
{
    json::Value value = event("i", sentence, 1, m_now);
    value["s"] = "g";
    emit(json::write(value));
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

void Observers::stageFinished(int stage, double seconds)
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
