#pragma once

// Private to executor: publishes the outputs of a run, which are its results and the stored values that were kept, in
// the order of the input.

#include <memory>
#include <unordered_map>
#include <vector>

#include "executor/loop/prologue.h"
#include "executor/session/session.h"

namespace hopscope::executor {

class Results {
public:
    explicit Results(Session& session) : m_session(session) {}

    // Puts results and stored values into the report, then gives the files of results their final names: all of them or
    // none, unless the run has a journal, from which a later process can continue. Throws Failure.
    void publish();

private:
    StoredTensor output(const ir::NamedValue& o);
    at::Tensor number(ir::ValueId value);
    static StoredTensor inMemory(const ir::NamedValue& o, const at::Tensor& value);
    Store* stored(ir::ValueId value);
    Store& copied(const ir::NamedValue& o);
    void addCheckpoints();

    Session& m_session;
    std::unordered_map<ir::ValueId, std::shared_ptr<Store>> m_stored;
    std::vector<std::unique_ptr<Store>> m_copies;
    std::vector<Store*> m_publish;
    std::vector<std::string> m_published;
};

// Begins with the results that the loops of a run on a GPU write, unless it has a journal. Results are prepared only
// if they take little of the free memory, and if the disk has room for all files of the run at the same time.
void prepareResults(Session& session, const StagePrograms& programs);

}  // namespace hopscope::executor
