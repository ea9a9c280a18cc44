#pragma once

#include <memory>
#include <string>

#include "base/ending.h"
#include "base/result.h"

namespace hopscope::pipeline {

// The engine's own folder for scratch files and for results that are not to be kept. It lies below the system's
// temporary folder, is locked during the lifetime of the process and is removed when it ends. The next engine removes
// the folder of one that was killed.
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
    std::unique_ptr<base::BeforeEnding> m_removal;  // if the process ends without destructors
};

}  // namespace hopscope::pipeline
