#pragma once

// Provides files that exist for the lifetime of an object.

#include <string>

namespace hopscope::base {

// An empty file with a new name that ends with `suffix`. Only this user may read it, and the destructor removes it. If
// the file cannot be created, writing to its path fails with the reason.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& folder, const std::string& suffix = {});
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile();
    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

}  // namespace hopscope::base
