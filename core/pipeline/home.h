#pragma once

#include <memory>
#include <string>

#include "base/ending.h"
#include "base/result.h"

namespace hopscope::pipeline {

// A folder of the engine's own for scratch files and for results that nobody has asked to keep: below the system's
// temporary folder, locked while the process lives, removed at its end. What an engine that was killed has left is removed
// by the next one.
class EngineHome {
public:
    static base::Result<EngineHome> make();
    EngineHome(EngineHome&& other) noexcept;
    EngineHome& operator=(EngineHome&&) = delete;
    ~EngineHome();

    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    EngineHome(std::string path, int lock);

    std::string m_path;
    int m_lock = -1;
    std::unique_ptr<base::BeforeEnding> m_removal;  // where the process ends without destructors
};

}  // namespace hopscope::pipeline
