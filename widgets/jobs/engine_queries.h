#pragma once

// Requests that single panels send to the engine. They do not change the document.

#include <functional>

#include "jobs/engine_client.h"
#include "protocol/model.h"

namespace hopscope::jobs {

class RunControl;
struct WorkbenchState;

// Asks for the receptive field of a node, with or without the averages over all nodes.
struct FieldQuestion {
    QString table{};               // empty: the table of the outputs' rows
    std::optional<qint64> node{};  // none: drawn at random with the seed
    qint64 seed = 1;
    bool average = false;
};

// Asks for the rows of values for some nodes, and for the messages into these nodes at aggregations. The values and the
// operators of the aggregations are given by id.
struct WatchQuestion {
    std::vector<std::int64_t> nodes;
    QStringList values{}, aggregations{};
};

// Asks for all rows of a value, for the rows of some nodes, or for the rows of the batch that computes a node.
struct TensorQuestion {
    QString value;  // its id
    std::vector<std::int64_t> nodes{};
    std::optional<qint64> batchOf{};
};

class EngineQueries {
public:
    EngineQueries(const WorkbenchState& state, const RunControl& runs) : m_state(state), m_runs(runs) {}

    // Records that the user agrees to run the code of the open model's file, or of all files in its folder. `done` is
    // not called if that fails.
    void trustModel(bool folder, QObject* context, std::function<void()> done);
    // Asks for the source lines of an operator.
    using Source = std::function<void(base::Result<protocol::SourceLines>)>;
    void source(protocol::OpId op, QObject* context, Source answer);
    // Sends "machine/rates", "machine/measure" or "machine/forget" for the chosen device. Returns a number for
    // cancel().
    using Machine = std::function<void(base::Result<schema::MachineRates>)>;
    std::int64_t machine(const QString& method, QObject* context, Machine answer);
    // These queries preview the export of the current plan, write it, read the record of an exported folder, and check
    // whether such a folder is valid for the open files. The last three return a number for cancel().
    using Preview = std::function<void(base::Result<protocol::ExportPreview>)>;
    using Record = std::function<void(base::Result<protocol::ExportRecord>)>;
    using Verdict = std::function<void(base::Result<protocol::ExportVerdict>)>;
    void exportPreview(QObject* context, Preview answer);
    std::int64_t exportTo(const QString& folder, QObject* context, Record answer);
    std::int64_t exportRecord(const QString& folder, QObject* context, Record answer);
    std::int64_t exportCheck(const QString& folder, QObject* context, Verdict answer);
    // Asks for the receptive field of a node. The answer is parsed on another thread, because it may list many rows.
    // Returns a number for cancel().
    using Field = std::function<void(base::Result<schema::ReceptiveField>)>;
    std::int64_t receptiveField(const FieldQuestion& question, QObject* context, Field answer);
    // These are the queries of the debugger. compareStaged() finds the operator at which the run of the current plan and
    // the model diverge, and compareWith() the one at which the model and another one do. In a run of the current plan,
    // huntNonFinite() finds the operators that produce NaN or infinity, and watch() records the rows and messages of some
    // nodes. All return a number for cancel().
    using Divergence = std::function<void(base::Result<schema::DivergenceRecord>)>;
    using NonFinite = std::function<void(base::Result<schema::NonFiniteReport>)>;
    using Watched = std::function<void(base::Result<schema::WatchReport>)>;
    std::int64_t compareStaged(const schema::ToleranceRecord& tolerance, QObject* context, Divergence answer);
    std::int64_t compareWith(const QString& model, const schema::ToleranceRecord& tolerance, QObject* context,
                             Divergence answer);
    std::int64_t huntNonFinite(QObject* context, NonFinite answer);
    std::int64_t watch(const WatchQuestion& question, QObject* context, Watched answer);
    // Asks for statistics of a value as the plan computes it. The number in the answer identifies the tensor when its
    // rows are fetched or it is saved; the engine keeps the last few tensors. tensor() and stoppedTensor() return a
    // number for cancel().
    using Tensor = std::function<void(base::Result<schema::TensorSummary>)>;
    using Rows = std::function<void(base::Result<protocol::NumberRows>)>;
    std::int64_t tensor(const TensorQuestion& question, QObject* context, Tensor answer);
    // Asks for the tensor of the operator at which the current run is stopped.
    std::int64_t stoppedTensor(QObject* context, Tensor answer);
    void tensorRows(std::int64_t tensor, qint64 begin, qint64 end, QObject* context, Rows answer);
    void saveTensor(std::int64_t tensor, const QString& file, QObject* context, EngineClient::Answer answer);
    // Asks for the steps by which the rules and the optimum find their plans, for the settings of the document. Returns
    // a number for cancel().
    using Steps = std::function<void(base::Result<plan::Walkthroughs>)>;
    std::int64_t planSteps(QObject* context, Steps answer);
    // Asks for the nodes and edges from which the batches of the current plan gather, around the given node or one
    // drawn with the seed. Returns a number for cancel().
    using Part = std::function<void(base::Result<schema::GraphPart>)>;
    std::int64_t planGraph(std::optional<qint64> node, qint64 seed, QObject* context, Part answer);
    // Asks for the memory of a stage's batches in the current plan, for the settings of the document. Returns a number
    // for cancel().
    using Memory = std::function<void(base::Result<schema::StageMemoryRecord>)>;
    std::int64_t stageMemory(plan::StageId stage, QObject* context, Memory answer);
    void cancel(std::int64_t request);

private:
    const WorkbenchState& m_state;
    const RunControl& m_runs;
};

}  // namespace hopscope::jobs
