#pragma once

#include <string>

#include "base/result.h"

namespace hopscope::pipeline {

// A folder next to the requested one, which it becomes once it is complete. The destructor removes it unless it has
// been published.
class PartialFolder {
public:
    // Input: there is something at `wanted` already, or no folder can be made there.
    static base::Result<PartialFolder> make(const std::string& wanted);
    PartialFolder(PartialFolder&& other) noexcept;
    PartialFolder& operator=(PartialFolder&&) = delete;
    ~PartialFolder() { abandon(); }

    void abandon();
    // The path of the folder until it is published.
    [[nodiscard]] const std::string& partial() const { return m_partial; }
    base::Status publish();

private:
    PartialFolder(std::string path, std::string partial) : m_path(std::move(path)), m_partial(std::move(partial)) {}

    std::string m_path, m_partial;
};

}  // namespace hopscope::pipeline
