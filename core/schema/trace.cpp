#include "schema/trace.h"

#include "schema/report.h"

namespace hopscope::schema {

namespace {

constexpr int stageLane = 1;
constexpr int phaseLane = 2;  // the first of them
constexpr int process = 1;    // of the first device

double microseconds(double seconds) { return seconds * 1e6; }

json::Value event(const char* kind, const std::string& name, int lane, double start)
{
    json::Value value;
    value["ph"] = kind;
    value["name"] = name;
    value["pid"] = process;
    value["tid"] = lane;
    value["ts"] = microseconds(start);
    return value;
}

json::Value span(const std::string& name, int lane, double start, double seconds)
{
    json::Value value = event("X", name, lane, start);
    value["dur"] = microseconds(seconds);
    return value;
}

json::Value laneName(int lane, const std::string& name)
{
    json::Value value = event("M", "thread_name", lane, 0);
    value["args"]["name"] = name;
    return value;
}

int laneOf(std::size_t phase) { return phaseLane + static_cast<int>(phase); }

}  // namespace

json::Array traceLanes(int device)
{
    json::Array lanes;
    if (device == 0) lanes.push_back(laneName(stageLane, "stages"));
    for (std::size_t phase = 0; phase < plan::namedPhases.size(); ++phase)
        lanes.push_back(laneName(laneOf(phase), plan::namedPhases[phase].name));
    for (json::Value& lane : lanes) lane["pid"] = process + device;
    return lanes;
}

json::Value traceStage(plan::StageId stage, double start, double seconds)
{
    return span("stage " + std::to_string(stage.number), stageLane, start, seconds);
}

json::Value tracePhase(std::size_t phase, plan::StageId stage, std::int64_t batch, double start, double seconds,
                       int device)
{
    json::Value value = span(plan::namedPhases.at(phase).name, laneOf(phase), start, seconds);
    value["args"]["stage"] = stage.number;
    value["args"]["batch"] = batch;
    value["pid"] = process + device;
    return value;
}

json::Value traceMemory(double time, std::int64_t bytes, std::int64_t peak)
{
    json::Value value = event("C", "device memory", stageLane, time);
    value["args"]["bytes"] = bytes;
    value["args"]["peak"] = peak;
    return value;
}

json::Value traceMark(const std::string& name, double time, TraceMark mark)
{
    json::Value value = event("i", name, stageLane, time);
    value["s"] = mark == TraceMark::Lane ? "t" : "g";
    return value;
}

}  // namespace hopscope::schema
