#pragma once

// A folder that others may also write to. Names lead to files below it, never through a link or "..", so that a
// prepared folder cannot make this process read, write or remove anything elsewhere.

#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::base {

// Names are relative to the folder and may have several parts. Not copied.
class Folder {
public:
    // `path` is the user's: there may be links on the way to the folder. Input: there is no such folder.
    static Result<Folder> open(const std::string& path);
    Folder(Folder&& other) noexcept;
    Folder& operator=(Folder&& other) noexcept;
    ~Folder();

    // Input: the name is a link or leads through one, is not a regular file, or, to be written, has another name elsewhere.
    // Resources: the system refuses it. Never waits.
    [[nodiscard]] Result<int> openFile(const std::string& name, int flags) const;
    // Whether `name` is a folder itself.
    [[nodiscard]] Result<Folder> below(const std::string& name) const;
    // Replaces a file of the new name, but not a folder. Input: as openFile().
    [[nodiscard]] Status rename(const std::string& from, const std::string& to) const;
    // Removes a file, or a folder with its contents. Targets of links stay.
    void remove(const std::string& name) const;
    // The names in the folder itself, in order.
    [[nodiscard]] std::vector<std::string> names() const;
    // Input: something below the folder is neither a folder nor a file that has no other name elsewhere.
    [[nodiscard]] Status onlyOwnFiles() const;
    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::string path(const std::string& name) const { return m_path + "/" + name; }

private:
    Folder(std::string path, int handle) : m_path(std::move(path)), m_handle(handle) {}
    [[nodiscard]] tl::unexpected<Error> refuse(const std::string& name, int error) const;

    std::string m_path;
    int m_handle = -1;
};

// Moves a file by copying it, which also works between folders that this process may write to but not rename across:
// `path` appears as a whole or does not change. Input: it cannot be written; Resources.
Status placeFile(const std::string& from, const std::string& path);

// Removes a folder with its contents. Targets of links remain. Needs only the right to remove folders from its parent.
void removeFolder(const std::string& path);

// A name that is one part of a path: not empty, no slash, not "." or "..".
bool isPlainName(const std::string& name);

// A new file next to `path` to be renamed to it; `temporary` is its path. -1 and errno on failure.
int openTemporary(const std::string& path, std::string& temporary);

}  // namespace hopscope::base
