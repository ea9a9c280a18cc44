#include "base/temporary_file.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace hopscope::base {

TemporaryFile::TemporaryFile(const std::string& folder, const std::string& suffix)
    : m_path(folder + "/hopscope-XXXXXX" + suffix)
{
    const int handle = ::mkstemps(m_path.data(), static_cast<int>(suffix.size()));
    if (handle >= 0) ::close(handle);
}

TemporaryFile::~TemporaryFile()
{
    std::error_code ignored;
    std::filesystem::remove(m_path, ignored);
}

}  // namespace hopscope::base
