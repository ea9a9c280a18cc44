#pragma once

// A file for the lifetime of an object.

#include <string>

namespace hopscope::base {

// Makes an empty file with a new name that ends with `suffix`, which only this user may read; the destructor removes it.
// If it cannot be made, writing to the path fails with the reason.
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
