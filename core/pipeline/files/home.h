#pragma once

#include <memory>
#include <string>

#include "base/ending.h"
#include "base/result.h"

namespace hopscope::pipeline {

// The engine's own folder for scratch files and temporary results, in the system's temporary folder. It is locked until
// the object is destroyed or the process ends, and then removed. If a process was killed, the next engine removes its
// folder.
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
    std::unique_ptr<base::BeforeEnding> m_removal;  // removes the folder if the process ends without destructors
};

}  // namespace hopscope::pipeline
