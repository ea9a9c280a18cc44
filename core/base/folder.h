#pragma once

// A folder that others can write, too. Names lead to what lies below it, never through a link or "..", so that nobody who
// has prepared the folder makes this process read, write or remove anything elsewhere.

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

    // Input: the name is a link or leads through one, is no regular file, or, to be written, has another name elsewhere.
    // Resources: the system says why. Never waits.
    [[nodiscard]] Result<int> openFile(const std::string& name, int flags) const;
    // Whether `name` is a folder itself.
    [[nodiscard]] Result<Folder> below(const std::string& name) const;
    // Replaces what has the new name, except for a folder. Input: as openFile().
    [[nodiscard]] Status rename(const std::string& from, const std::string& to) const;
    // Of a file, or of a folder with all that is in it. What a link leads to stays.
    void remove(const std::string& name) const;
    // What lies in the folder itself, by name.
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

// Moves a file to where another right writes: `path` appears whole or stays as it was. Input: it cannot be written; Resources.
Status placeFile(const std::string& from, const std::string& path);

// A folder with all that is in it. What links lead to stays. Takes no more than the right to remove folders where it lies.
void removeFolder(const std::string& path);

// A name that is one part of a path: not empty, no slash, not "." or "..".
bool isPlainName(const std::string& name);

// A new file beside `path` to be renamed to it; `temporary` is its path. -1 and errno on failure.
int openTemporary(const std::string& path, std::string& temporary);

}  // namespace hopscope::base
