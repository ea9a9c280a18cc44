#pragma once

// Private to executor: empties files of inputs that are not read after the run (Options::transientInputs).
//
// Stores take over the pages of these files, which costs less than fresh memory, and the run needs less memory in
// total. Whether an input is still needed is determined by address: a value, a key column or a table in a different
// order may be a view of an input or a copy of it.

#include <string>
#include <thread>
#include <vector>

#include "executor/loop/prologue.h"
#include "executor/session/session.h"

namespace hopscope::executor {

class TransientInputs {
public:
    // Create it after the prologue. Both arguments must outlive this object.
    TransientInputs(Session& session, const StagePrograms& programs);

    // Empties the files that no stage from `stage` on (counted from 0) and no output needs. Linear in the
    // programs; the files are emptied in the background (the system takes some 100 ms per GiB to free pages). A file
    // that cannot be emptied is left unchanged.
    void release(std::size_t stage);

private:
    struct File {
        ir::ValueId input;
        std::string path;
        const std::byte* begin = nullptr;
        const std::byte* end = nullptr;
    };

    Session& m_session;
    const StagePrograms& m_programs;
    std::vector<File> m_files;
    std::jthread m_emptying;
};

}  // namespace hopscope::executor
