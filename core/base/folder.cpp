#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace hopscope::base {

namespace {

constexpr int notOwn = EMLINK;  // a file that has another name elsewhere
constexpr int mostTemporaries = 100;

// `access`: O_PATH, or O_RDONLY to list it.
int openFolderAt(int folder, const std::string& name, int access)
{
    return ::openat(folder, name.c_str(), access | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// The folder in which the last part of `name` lies, part by part; closed by the caller. -1 and errno. As openat2() with
// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, which old kernels and some containers do not have.
int openParent(int folder, const std::string& name, std::string& last)
{
    int at = ::fcntl(folder, F_DUPFD_CLOEXEC, 0);
    std::size_t begin = 0;
    for (std::size_t end = name.find('/'); at >= 0; begin = end + 1, end = name.find('/', begin)) {
        last = name.substr(begin, end == std::string::npos ? end : end - begin);
        const bool plain = isPlainName(last);
        if (plain && end == std::string::npos) return at;
        const int next = plain ? openFolderAt(at, last, O_PATH) : -1;
        const int error = plain ? errno : ELOOP;
        ::close(at);
        at = next;
        errno = error;
    }
    return -1;
}

// 0, or an errno: ELOOP for anything but a regular file.
int reasonAgainst(int file, bool written)
{
    struct stat facts {};
    if (::fstat(file, &facts) != 0) return errno;
    if (!S_ISREG(facts.st_mode)) return ELOOP;
    return written && facts.st_nlink > 1 ? notOwn : 0;
}

void removeAt(int folder, const std::string& name);

void removeContent(int folder, const std::string& name)
{
    const int handle = openFolderAt(folder, name, O_RDONLY);
    if (handle < 0) return;
    DIR* const entries = ::fdopendir(handle);
    if (entries == nullptr) {
        ::close(handle);
        return;
    }
    while (const dirent* const entry = ::readdir(entries))
        if (isPlainName(entry->d_name)) removeAt(handle, entry->d_name);
    ::closedir(entries);
}

void removeAt(int folder, const std::string& name)
{
    if (::unlinkat(folder, name.c_str(), 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
    removeContent(folder, name);
    ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
}

}  // namespace

Status placeFile(const std::string& from, const std::string& path)
{
    std::string temporary;
    const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW), out = openTemporary(path, temporary);
    const ErrorCode code = out < 0 ? ErrorCode::Input : ErrorCode::Resources;
    ssize_t size = in < 0 || out < 0 ? -1 : 1;
    while (size > 0) size = ::sendfile(out, in, nullptr, std::size_t{1} << 30);
    const bool placed = size == 0 && ::fsync(out) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0;
    const int error = errno;
    for (const int handle : {in, out})
        if (handle >= 0) ::close(handle);
    ::unlink(placed ? from.c_str() : temporary.c_str());
    if (placed) return {};
    return fail(code, path + ": cannot be written: " + std::strerror(error), "choose another folder or free some space",
                path);
}

void removeFolder(const std::string& path)
{
    removeContent(AT_FDCWD, path);
    ::rmdir(path.c_str());
}

bool isPlainName(const std::string& name)
{
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

int openTemporary(const std::string& path, std::string& temporary)
{
    int handle = -1;
    errno = EEXIST;
    for (int attempt = 0; handle < 0 && errno == EEXIST && attempt < mostTemporaries; ++attempt) {
        temporary =
            path + ".partial." + std::to_string(::gettid()) + (attempt > 0 ? "-" + std::to_string(attempt) : "");
        handle = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    return handle;
}

Result<Folder> Folder::open(const std::string& path)
{
    const int handle = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (handle >= 0) return Folder(path, handle);
    return fail(ErrorCode::Input, path + ": cannot be opened as a folder: " + std::strerror(errno), {}, path);
}

Folder::Folder(Folder&& other) noexcept : m_path(std::move(other.m_path)), m_handle(std::exchange(other.m_handle, -1))
{}

Folder& Folder::operator=(Folder&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_handle, other.m_handle);
    return *this;
}

Folder::~Folder()
{
    if (m_handle >= 0) ::close(m_handle);
}

namespace {

const char* hintOn(int error)
{
    if (error == ENOENT) return "was it, or its folder, removed in the meantime?";
    if (error == EACCES || error == EPERM) return "change its permissions, or choose another folder";
    return "choose another folder or free some space";
}

}  // namespace

tl::unexpected<Error> Folder::refuse(const std::string& name, int error) const
{
    const std::string file = path(name);
    if (error == ELOOP || error == ENOTDIR || error == ENXIO || error == EISDIR)
        return fail(
            ErrorCode::Input,
            file +
                ": is not used, because it, or a folder on the way to it, is a link or of another kind than expected",
            "remove it, or choose another folder", file);
    if (error == notOwn)
        return fail(ErrorCode::Input, file + ": has another name elsewhere (a hard link), and is not written",
                    "remove it, or choose another folder", file);
    const bool closed = error == EACCES || error == EPERM || error == EROFS;
    return fail(closed ? ErrorCode::Input : ErrorCode::Resources, file + ": cannot be opened: " + std::strerror(error),
                hintOn(error), file);
}

Result<int> Folder::openFile(const std::string& name, int flags) const
{
    std::string last;
    const int parent = openParent(m_handle, name, last);
    if (parent < 0) return refuse(name, errno);
    const int file = ::openat(parent, last.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    const int error = file < 0 ? errno : reasonAgainst(file, (flags & O_ACCMODE) != O_RDONLY);
    ::close(parent);
    if (error == 0) return file;
    if (file >= 0) ::close(file);
    return refuse(name, error);
}

Result<Folder> Folder::below(const std::string& name) const
{
    std::string last;
    const int parent = openParent(m_handle, name, last);
    if (parent < 0) return refuse(name, errno);
    const int handle = openFolderAt(parent, last, O_PATH), error = errno;
    ::close(parent);
    if (handle < 0) return refuse(name, error);
    return Folder(path(name), handle);
}

Status Folder::rename(const std::string& from, const std::string& to) const
{
    const Result<int> file = openFile(from, O_RDONLY);
    if (!file) return forward(file);
    ::close(*file);
    std::string oldName, newName;
    const int source = openParent(m_handle, from, oldName),
              target = source < 0 ? -1 : openParent(m_handle, to, newName);
    const bool done = target >= 0 && ::renameat(source, oldName.c_str(), target, newName.c_str()) == 0;
    const int error = errno;
    for (const int handle : {source, target})
        if (handle >= 0) ::close(handle);
    if (done) return {};
    if (target < 0) return refuse(to, error);
    return fail(ErrorCode::Resources, path(to) + ": cannot be written: " + std::strerror(error),
                "does something else with this name exist?", path(to));
}

void Folder::remove(const std::string& name) const
{
    std::string last;
    const int parent = openParent(m_handle, name, last);
    if (parent < 0) return;
    removeAt(parent, last);
    ::close(parent);
}

std::vector<std::string> Folder::names() const
{
    std::vector<std::string> found;
    const int handle = ::openat(m_handle, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(handle < 0 ? nullptr : ::fdopendir(handle), &::closedir);
    if (!entries) return found;
    while (const dirent* const entry = ::readdir(entries.get()))
        if (isPlainName(entry->d_name)) found.emplace_back(entry->d_name);
    std::ranges::sort(found);
    return found;
}

Status Folder::onlyOwnFiles() const
{
    for (const std::string& name : names()) {
        struct stat facts {};
        if (::fstatat(m_handle, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;  // it is gone
        if (S_ISDIR(facts.st_mode)) {
            const Result<Folder> folder = below(name);
            if (const Status own = folder ? folder->onlyOwnFiles() : Status(forward(folder)); !own) return own;
        } else if (!S_ISREG(facts.st_mode)) return refuse(name, ELOOP);
        else if (facts.st_nlink > 1) return refuse(name, notOwn);
    }
    return {};
}

}  // namespace hopscope::base
