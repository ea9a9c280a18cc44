// The oracle's child process: the file's own module on given inputs, nothing else. The loader has put the CPU in place of
// devices that its code names.

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>

#include "graph/dataset.h"
#include "graph/safetensors.h"
#include "loader/names.h"
#include "loader/torch_model.h"
#include "loader/walk/allow_list.h"
#include "verify/passive_waiting.h"
#include "verify/variants.h"
#include "verify/verify.h"
#include "json/reader.h"

namespace hopscope::verify {

namespace {

struct OracleRequest {
    std::string model, output;
    std::vector<std::string> data;
    bool copyInputs = false, inDouble = false;
    std::int64_t moved = 0;  // a seed; 0: inputs as they are
    std::int64_t memory = 0, parent = 0;
};

base::Result<OracleRequest> readRequest(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const base::Result<json::Value> root = json::parse(text.str(), path);
    if (!root) return base::forward(root);
    const json::Reader reader(*root, path);
    OracleRequest request;
    request.output = reader.get<std::string>("output");
    request.data = reader.get<std::vector<std::string>>("data");
    request.model = reader.maybe<std::string>("model").value_or("");
    request.copyInputs = reader.maybe<bool>("copyInputs").value_or(false);
    request.inDouble = reader.maybe<bool>("inDouble").value_or(false);
    request.moved = reader.maybe<std::int64_t>("moved").value_or(0);
    request.memory = reader.maybe<std::int64_t>("memory").value_or(0);
    request.parent = reader.maybe<std::int64_t>("parent").value_or(0);
    if (!reader.ok()) return base::forward(reader.status());
    return request;
}

// The limit counts reserved, not resident memory (thread stacks, allocator arenas), hence the margin: the exact limit is
// the parent's watch, this one catches what would grow faster than it can look.
void limitMemory(std::int64_t bytes)
{
#if defined(__SANITIZE_ADDRESS__)
    bytes = 0;  // what AddressSanitizer reserves is beyond any limit
#endif
    if (bytes <= 0) return;
    const rlim_t limit = static_cast<rlim_t>(bytes) + (rlim_t(1) << 30);
    const rlimit data{limit, limit};
    setrlimit(RLIMIT_DATA, &data);
    const rlimit core{0, 0};
    setrlimit(RLIMIT_CORE, &core);
}

bool parentGone(std::int64_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return parent > 0 && getppid() != static_cast<pid_t>(parent);
}

int report(const std::string& output, const char* kind, const std::string& message)
{
    std::ofstream(output + ".error") << kind << '\n' << message;
    return 1;
}

// LibTorch's messages carry a C++ stack after the first lines, and TorchScript's one before Hopscope's own sentence.
std::string sentenceOf(const std::string& text)
{
    const std::size_t own = text.rfind(loader::refusalMark);
    if (own != std::string::npos) {
        const std::size_t begin = own + std::strlen(loader::refusalMark);
        return text.substr(begin, text.find('\n', begin) - begin);
    }
    return loader::names::firstLine(text.substr(0, text.find("\nException raised from")));
}

bool aboutMemory(const std::string& message)
{
    return message.find("allocate memory") != std::string::npos ||
           message.find("not enough memory") != std::string::npos || message.find("out of memory") != std::string::npos;
}

base::Result<base::TensorMap> usedInputs(const loader::Model& model, const OracleRequest& request)
{
    base::Result<base::TensorMap> all = graph::readData(request.data);
    if (!all) return all;
    // A part of a graph, in sampled verifications.
    const base::Result<loader::Binding> binding = loader::bind(model, *all, loader::Extent::Part);
    if (!binding) return base::forward(binding);
    base::TensorMap used;
    for (const std::string& name : binding->used) used[name] = all->at(name);
    if (request.moved > 0) return moved(used, static_cast<std::uint64_t>(request.moved));
    return request.inDouble ? inDouble(used) : used;
}

void copyTensors(c10::IValue& value)
{
    if (value.isTensor()) value = value.toTensor().clone();
    if (value.isTensorList())
        for (std::size_t i = 0; i < value.toTensorList().size(); ++i)
            value.toTensorList().set(i, value.toTensorList().get(i).clone());
    if (value.isGenericDict())
        for (const auto& entry : value.toGenericDict())
            if (entry.value().isTensor()) entry.setValue(entry.value().toTensor().clone());
}

base::Status runForward(const OracleRequest& request)
{
    const base::Result<loader::Model> model = loader::load(request.model);
    if (!model) return base::forward(model);
    const base::Result<base::TensorMap> inputs = usedInputs(*model, request);
    if (!inputs) return base::forward(inputs);
    base::Result<std::vector<c10::IValue>> arguments = loader::assembleInputs(*model, *inputs);
    if (!arguments) return base::forward(arguments);
    if (request.copyInputs)
        for (c10::IValue& argument : *arguments) copyTensors(argument);
    const at::NoGradGuard noGradients;
    torch::jit::Module module = model->impl().module;
    std::optional<loader::PartsApart> apart;
    if (loader::blockUnknownOperators(module)) apart.emplace(loader::partsThatMayRun());
    if (request.inDouble) computeInDouble(module);
    const c10::IValue result = module.forward(std::move(*arguments));
    const auto outputs = loader::flattenOutputs(result);
    if (!outputs) return base::forward(outputs);
    base::TensorMap tensors;
    for (const auto& [name, tensor] : *outputs)
        tensors[name] = loader::toView(tensor.detach().contiguous().resolve_conj().resolve_neg());
    return graph::writeSafetensors(request.output, tensors);
}

int guarded(const OracleRequest& request)
{
    try {
        const base::Status status = runForward(request);
        if (status) return 0;
        const std::string message = base::describe(status.error());
        return report(request.output, aboutMemory(message) ? "memory" : "refused", message);
    } catch (const std::bad_alloc&) {
        return report(request.output, "memory", "the oracle ran out of memory");
    } catch (const c10::Error& error) {
        const std::string message = error.what_without_backtrace();
        return report(request.output, aboutMemory(message) ? "memory" : "refused", sentenceOf(message));
    } catch (const std::exception& error) {
        return report(request.output, aboutMemory(error.what()) ? "memory" : "refused", sentenceOf(error.what()));
    }
}

int answer(const OracleRequest& request)
{
    limitMemory(request.memory);
    const PassiveWaiting passively;
    ::setenv("THP_MEM_ALLOC_ENABLE", "1", 0);  // LibTorch's allocator: forward's temporaries in huge pages
    return guarded(request);
}

}  // namespace

void volunteerForOom() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

int oracleMain(const std::string& requestPath)
{
    volunteerForOom();
    const base::Result<OracleRequest> request = readRequest(requestPath);
    return request && !parentGone(request->parent) ? answer(*request) : 1;
}

int forkedOracleMain(const std::string& requestPath)
{
    const base::Result<OracleRequest> request = readRequest(requestPath);
    return request ? answer(*request) : 1;
}

}  // namespace hopscope::verify
