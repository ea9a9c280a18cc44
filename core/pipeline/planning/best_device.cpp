#include "pipeline/planning/best_device.h"

#include "base/units.h"
#include "executor/measure.h"
#include "pipeline/machine/machine.h"

namespace hopscope::pipeline {

namespace {

constexpr double typicalStart = 0.6;  // seconds, of CUDA's context, LibTorch's libraries and cuBLAS

struct Candidate {
    PlanAnswer answer;
    double seconds = 0;
};

base::Result<Candidate> planOn(const std::string& device, const Planning& planning)
{
    PlanRequest request = planning.request;
    request.device = device;
    base::Result<PlanAnswer> answer =
        planFor(planning.prepared, planning.predictor, request, planning.progress, planning.stop);
    if (!answer) return base::forward(answer);
    const auto forecast =
        forecastOf(planning.prepared, planning.predictor, answer->plan, request.limits, planning.stop);
    if (!forecast) return base::forward(forecast);
    return Candidate{std::move(*answer), forecast->seconds()};
}

std::string text(double seconds) { return base::formatSeconds(seconds); }

// "auto chose cuda:0, predicted to take 1.2 s with its start: the CPU would take 5 s (by typical rates; ..)"
DeviceChoice chosen(Candidate best, const std::string& what, const std::string& otherwise, const std::string& gpu)
{
    const bool measured = knownMachine("cpu").measured && knownMachine(gpu).measured;
    const std::string rates =
        measured ? "" : " (by typical rates; hopscope-engine bench machine measures those of this machine)";
    const std::string name = best.answer.plan.device == "cpu" ? "the CPU" : best.answer.plan.device;
    return {std::move(best.answer), "auto chose " + name + ", predicted to take " + what + ": " + otherwise + rates};
}

}  // namespace

double startSeconds(const std::string& gpu)
{
    if (executor::gpuStarted()) return 0;
    const double measured = knownMachine(gpu).start;
    return measured > 0 ? measured : typicalStart;
}

bool choosesDevice(const Prepared& prepared, const std::string& wanted, const PlanRequest& request)
{
    return wanted == "auto" && request.device != "cpu" && request.objective == base::Objective::Time &&
           prepared.hasData() && !prepared.analysis.refusal;
}

base::Result<DeviceChoice> chooseDevice(const Planning& planning, double start)
{
    const std::string gpu = planning.request.device;
    base::Result<Candidate> cpu = planOn("cpu", planning);
    if (!cpu && cpu.error().code == base::ErrorCode::Cancelled) return base::forward(cpu);
    const std::string onCpu = cpu ? text(cpu->seconds) : "";
    if (cpu && cpu->seconds <= start)
        return chosen(std::move(*cpu), onCpu, gpu + " would take " + text(start) + " to start", gpu);
    base::Result<Candidate> there = planOn(gpu, planning);
    if (!there && (!cpu || there.error().code == base::ErrorCode::Cancelled)) return base::forward(there);
    if (!there) return chosen(std::move(*cpu), onCpu, "no time is known for " + gpu, gpu);
    const std::string onGpu = text(there->seconds + start) + (start > 0 ? " with its start" : "");
    if (!cpu) return chosen(std::move(*there), onGpu, "no time is known for the CPU", gpu);
    if (there->seconds + start < cpu->seconds)
        return chosen(std::move(*there), onGpu, "the CPU would take " + onCpu, gpu);
    return chosen(std::move(*cpu), onCpu, gpu + " would take " + onGpu, gpu);
}

}  // namespace hopscope::pipeline
