#pragma once

// A Folder accesses a folder that others may also write to. Names lead to files below it, and never through a link or
// "..", so that a maliciously prepared folder cannot make this process write or remove anything elsewhere. Other
// functions place files and remove folders by their path.

#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::base {

// An open folder. Names are relative to it and may have several parts.
class Folder {
public:
    // Opens a folder. `path` is chosen by the user and may lead through links. Fails with Input if it cannot be opened
    // as a folder.
    static Result<Folder> open(const std::string& path);
    Folder(Folder&& other) noexcept;
    Folder& operator=(Folder&& other) noexcept;
    ~Folder();

    // Opens a file without blocking and returns its descriptor. Fails with Input if the name is a link, leads through
    // one or "..", or is not a regular file. Also fails with Input if a file to be written has another hard link, or if
    // this process may not open the file. Fails with Resources if it cannot be opened for another reason.
    [[nodiscard]] Result<int> openFile(const std::string& name, int flags) const;
    // Opens a folder below this one. Fails like openFile(), except that `name` must be a folder.
    [[nodiscard]] Result<Folder> below(const std::string& name) const;
    // Renames a file. An existing file of the new name is replaced, but not a folder. Fails like openFile(), and with
    // Resources if the new name cannot be given.
    [[nodiscard]] Status rename(const std::string& from, const std::string& to) const;
    // Removes a file, or a folder with its contents. The targets of links remain.
    void remove(const std::string& name) const;
    // Returns the names in the folder itself, sorted.
    [[nodiscard]] std::vector<std::string> names() const;
    // Fails with Input if anything below the folder is neither a folder nor a file without other hard links. Fails like
    // below() if a folder cannot be opened.
    [[nodiscard]] Status onlyOwnFiles() const;
    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::string path(const std::string& name) const { return m_path + "/" + name; }

private:
    Folder(std::string path, int handle) : m_path(std::move(path)), m_handle(handle) {}
    [[nodiscard]] tl::unexpected<Error> refuse(const std::string& name, int error) const;

    std::string m_path;
    int m_handle = -1;
};

// Moves a file by copying it, which also works between folders that this process may write to but not rename across.
// `path` appears as a whole or does not change. Fails with Input if no file can be created next to `path`, and otherwise
// with Resources.
Status placeFile(const std::string& from, const std::string& path);

// Removes a folder with its contents; does nothing if `path` itself is a link. The targets of links in it remain. In the
// parent, only the right to remove folders is needed.
void removeFolder(const std::string& path);

// Returns whether a name is one component of a path: not empty, without a slash or a zero byte, and neither "." nor
// "..".
bool isPlainName(const std::string& name);

// Creates a file next to `path`, to be renamed to it later, and stores its path in `temporary`. Returns its descriptor,
// or -1 with errno set.
int openTemporary(const std::string& path, std::string& temporary);

}  // namespace hopscope::base
