#pragma once

// The models that a client has open.

#include <map>
#include <memory>

#include "debugger/tensor.h"
#include "executor/forecast/predict.h"
#include "pipeline/debugging.h"
#include "pipeline/execute.h"
#include "pipeline/planner.h"
#include "pipeline/prepare.h"
#include "server/requests.h"

namespace hopscope::engine {

// An optimal plan that was requested. It is explained on demand, and the next search starts from it.
struct KeptPlan {
    pipeline::PlanRequest request;
    bool near = false;
    pipeline::PlanAnswer answer;
};

// The tensors that a client looks at; the newest few are kept.
struct SeenTensors {
    std::int64_t next = 1;
    std::map<std::int64_t, std::shared_ptr<const debugger::SeenTensor>> byNumber;
    std::unique_ptr<executor::UnsplitValues> tables;  // made when rows are first looked at
};

// Fixed once it is open: a run may read it while requests are answered. Predictor, kept plans and tensors belong to the
// answering thread.
struct Document {
    Document(std::int64_t number, pipeline::Prepared made, const std::string& folder, const std::string& cacheFolder)
        : id(number),
          prepared(std::move(made)),
          cache(cacheFolder),
          predictor(prepared.walk, prepared.analysis, prepared.inputs, folder, cache)
    {}
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;

    std::int64_t id;
    bool spent = false;  // its last run has consumed its data
    pipeline::Prepared prepared;
    std::string cache;  // for the settings that it was opened with
    forecast::Predictor predictor;
    SeenTensors seen;
    std::map<std::string, KeptPlan> kept;  // the last plan by all of its request except pins, stages and deadline
};

class Documents {
public:
    // Numbers them from `first` on.
    Documents(std::string folder, std::int64_t first) : m_folder(std::move(folder)), m_next(first) {}

    Outcome open(const json::Reader& params, const Call& call);
    void close(std::int64_t id) { m_documents.erase(id); }
    // The member "document" of the parameters; null, and an error in the reader, if it names none.
    Document* find(const json::Reader& params);

private:
    std::string m_folder;
    std::map<std::int64_t, std::unique_ptr<Document>> m_documents;
    std::int64_t m_next;
};

// plan/make, plan/repairs, plan/explain, plan/steps and plan/load.
Outcome makePlan(Document& document, const json::Reader& params, const Call& call);
Outcome planExplanation(Document& document, const json::Reader& params, const Call& call);
Outcome planSteps(Document& document, const json::Reader& params, const Call& call);
Outcome planRepairs(Document& document, const json::Reader& params, const Call& call);
Outcome loadPlan(Document& document, const json::Reader& params, const Call& call);

// model/source.
Outcome sourceAround(const Document& document, const json::Reader& params);

// model/receptiveField. `folder`: for scratch files.
Outcome receptiveField(const Document& document, const json::Reader& params, const std::string& folder,
                       const Call& call);

// plan/graph. `folder`: for scratch files.
Outcome planGraph(const Document& document, const json::Reader& params, const std::string& folder, const Call& call);

// plan/memory.
Outcome planMemory(Document& document, const json::Reader& params, const std::string& folder, const Call& call);

// debug/nan, debug/staged, debug/against and debug/watch. `folder`: for scratch files.
Outcome huntNonFinite(const Document& document, const json::Reader& params, const std::string& folder,
                      const Call& call);
Outcome compareStaged(const Document& document, const json::Reader& params, const std::string& folder,
                      const Call& call);
Outcome compareModels(const Document& document, const json::Reader& params, const std::string& folder,
                      const Call& call);
Outcome watchValues(const Document& document, const json::Reader& params, const std::string& folder, const Call& call);

// "breakpoints": an array of {place, node, not_finite, outside}; empty if it is missing.
std::vector<debugger::Breakpoint> breakpointsOf(const json::Reader& params);

// debug/tensor, debug/rows and debug/save.
Outcome lookAtTensor(Document& document, const json::Reader& params, const std::string& folder, const Call& call);
// Keeps a tensor for the two below; the answer of debug/tensor.
json::Value keepTensor(Document& document, debugger::SeenTensor seen);
Outcome tensorRows(Document& document, const json::Reader& params, const std::string& folder, const Call& call);
Outcome saveTensor(Document& document, const json::Reader& params, const std::string& folder, const Call& call);
// The "plan" of a debug request, with the options.
base::Result<plan::Plan> debugPlanOf(const Document& document, const json::Reader& params);
pipeline::DebugOptions debugOptionsOf(const json::Reader& params);

// fs/list.
Outcome listFolder(const json::Reader& params);

// The model options "model", "data", "roles" and "trusted", and the setting "reassociate".
pipeline::ModelOptions modelOptionsOf(const json::Reader& params);
// A member that is a string, or `otherwise` if it is missing or null.
std::string textOr(const json::Reader& params, const char* key, const std::string& otherwise);
// nullopt if the member is missing or null; otherwise at least 1.
std::optional<std::int64_t> positive(const json::Reader& params, const char* key);

}  // namespace hopscope::engine
