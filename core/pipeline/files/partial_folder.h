#pragma once

#include <string>

#include "base/result.h"

namespace hopscope::pipeline {

// A temporary folder next to the requested path, to which publish() renames it. The destructor removes it unless it has
// been published.
class PartialFolder {
public:
    // Creates the folder. Fails with Input if `wanted` exists already, or if no folder can be created there.
    static base::Result<PartialFolder> make(const std::string& wanted);
    PartialFolder(PartialFolder&& other) noexcept;
    PartialFolder& operator=(PartialFolder&&) = delete;
    ~PartialFolder() { abandon(); }

    void abandon();
    // Returns the path of the folder before it is published.
    [[nodiscard]] const std::string& partial() const { return m_partial; }
    base::Status publish();

private:
    PartialFolder(std::string path, std::string partial) : m_path(std::move(path)), m_partial(std::move(partial)) {}

    std::string m_path, m_partial;
};

}  // namespace hopscope::pipeline
