#pragma once

// A run without loops, for parts of the executor that need one.

#include "executor/session/session.h"
#include "support/temporary_folder.h"

namespace hopscope::tests {

struct BareSession {
    // Analysis and journal must outlive this object.
    explicit BareSession(const analysis::Analysis& a, executor::Journal* journal = nullptr)
        : structure(walk, a, inputs, folder.path, 1, {}),
          session(structure, a, plan, options, silent, {})
    {
        options.journal = journal;
        options.folder = folder.path;
    }

    test::TemporaryFolder folder;
    loader::Walk walk;
    base::TensorMap inputs;
    plan::Plan plan;
    executor::Options options;
    executor::Observer silent;
    executor::Structure structure;
    executor::Session session;
};

}  // namespace hopscope::tests
