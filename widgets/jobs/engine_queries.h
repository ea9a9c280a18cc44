#pragma once

// What panels ask the engine by themselves, each for its own use: nothing of it changes the document.

#include <functional>

#include "jobs/engine_client.h"
#include "protocol/machine.h"
#include "protocol/model.h"

namespace hopscope::jobs {

class RunControl;
struct WorkbenchState;

class EngineQueries {
public:
    EngineQueries(const WorkbenchState& state, const RunControl& runs) : m_state(state), m_runs(runs) {}

    // Where an operator comes from: the answer of model/source.
    void source(protocol::OpId op, QObject* context, EngineClient::Answer answer);
    // Rows `begin` to `end` of a value that the latest run has computed.
    void peek(const QString& value, qint64 begin, qint64 end, QObject* context, EngineClient::Answer answer);
    // "machine/rates", "machine/measure" or "machine/forget" for the chosen device. Returns a number for cancel().
    using Machine = std::function<void(base::Result<protocol::MachineRates>)>;
    std::int64_t machine(const QString& method, QObject* context, Machine answer);
    // Exports of the plan that is shown, by their methods of the protocol: what the folder would hold, and writing it; the
    // record of a folder, and whether it holds for the files that are open. The last three return a number for cancel().
    void exportPreview(QObject* context, EngineClient::Answer answer);
    std::int64_t exportTo(const QString& folder, QObject* context, EngineClient::Answer answer);
    std::int64_t exportRecord(const QString& folder, QObject* context, EngineClient::Answer answer);
    std::int64_t exportCheck(const QString& folder, QObject* context, EngineClient::Answer answer);
    void cancel(std::int64_t request);

private:
    const WorkbenchState& m_state;
    const RunControl& m_runs;
};

}  // namespace hopscope::jobs
