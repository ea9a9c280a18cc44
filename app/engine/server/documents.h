#pragma once

// The models that a client has opened.

#include <map>
#include <memory>

#include "debugger/tensor.h"
#include "executor/forecast/predict.h"
#include "pipeline/debugging/debugging.h"
#include "pipeline/opening/prepare.h"
#include "pipeline/planning/best_device.h"
#include "pipeline/planning/planner.h"
#include "pipeline/running/execute.h"
#include "protocol/requests.h"
#include "server/requests.h"

namespace hopscope::engine {

// An optimal plan that was requested. It is explained on demand, and the next search starts from it.
struct KeptPlan {
    pipeline::PlanRequest request;
    bool near = false;
    pipeline::PlanAnswer answer;
};

// The tensors that a client inspects; only the newest few are kept.
struct SeenTensors {
    std::int64_t next = 1;
    std::map<std::int64_t, std::shared_ptr<const debugger::SeenTensor>> byNumber;
    std::unique_ptr<executor::UnsplitValues> tables;  // created when rows are first read
};

// An open model. It does not change once it is open, so that a run may read it while requests are answered. The
// predictor, the kept plans and the tensors belong to the answering thread.
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
    std::map<std::string, KeptPlan> kept;  // the last plan, by its request without pins, stages and deadline
    std::map<std::string, pipeline::DeviceChoice> devices;  // for "auto", by the same
};

class Documents {
public:
    // Numbers the documents from `first` on.
    Documents(std::string folder, std::int64_t first) : m_folder(std::move(folder)), m_next(first) {}

    Outcome open(const protocol::OpenModel& query, const Call& call);
    void close(std::int64_t id) { m_documents.erase(id); }
    // Returns null, and adds an error to the reader of the parameters, if there is no such document.
    Document* find(std::int64_t id, const json::Reader& params);

private:
    std::string m_folder;
    std::map<std::int64_t, std::unique_ptr<Document>> m_documents;
    std::int64_t m_next;
};

// The context of a request. `folder` holds files that exist during the request; `params` reads its members as they were
// sent, and reports errors in them.
struct Work {
    Document& document;
    const std::string& folder;
    const Call& call;
    const json::Reader& params;
};

Outcome answer(const protocol::MakePlan& query, const Work& work);
Outcome answer(const protocol::ExplainPlan& query, const Work& work);
Outcome answer(const protocol::ListSteps& query, const Work& work);
Outcome answer(const protocol::FindRepairs& query, const Work& work);
Outcome answer(const protocol::LoadPlan& query, const Work& work);
Outcome answer(const protocol::DrawGraph& query, const Work& work);
Outcome answer(const protocol::ShowMemory& query, const Work& work);
Outcome answer(const protocol::ShowSource& query, const Work& work);
Outcome answer(const protocol::FindReceptiveField& query, const Work& work);
Outcome answer(const protocol::PreviewExport& query, const Work& work);
Outcome answer(const protocol::FindNonFinite& query, const Work& work);
Outcome answer(const protocol::CompareStaged& query, const Work& work);
Outcome answer(const protocol::CompareModels& query, const Work& work);
Outcome answer(const protocol::WatchValues& query, const Work& work);
Outcome answer(const protocol::SeeTensor& query, const Work& work);
Outcome answer(const protocol::ReadRows& query, const Work& work);
Outcome answer(const protocol::SaveTensor& query, const Work& work);

// Returns the plan that a request names.
base::Result<plan::Plan> planOf(const Document& document, const protocol::JsonObject& plan);
// Keeps a tensor for debug/rows and debug/save, and returns the answer of debug/tensor.
json::Value keepTensor(Document& document, debugger::SeenTensor seen);
std::vector<debugger::Breakpoint> breakpointsOf(const std::vector<protocol::Breakpoint>& asked);
pipeline::ModelOptions modelOptionsOf(const protocol::ModelFiles& files, const base::Settings& settings = {});

}  // namespace hopscope::engine
