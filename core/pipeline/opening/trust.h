#pragma once

// Decides whether the code of a model file may be run. The user agrees once: to a file, which is then identified by its
// SHA-256, or to a folder with all files below it. The samples of Hopscope need no agreement, nor do exported programs
// (.pt2), which contain no code. Drawing a model needs none either.
//
// The list is a text file of the user, like known_hosts: a line of sha256sum for each file ("HASH  PATH"), and the path
// of each folder. Other lines are ignored.

#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::pipeline {

// Returns the path of the list: hopscope/trusted in $XDG_CONFIG_HOME or, if that is not set, in ~/.config. Empty if neither
// XDG_CONFIG_HOME nor HOME is set.
std::string trustFile();

struct TrustedFile {
    std::string sha256, path;  // the path at the time of the agreement; the file may have been moved since
};
std::string lineOf(const TrustedFile& file);  // its line in the list

struct TrustList {
    std::vector<TrustedFile> files;
    std::vector<std::string> folders;  // absolute, without links
};
// Reads the list. Without a file, the list is empty. Fails with Input if the file cannot be read.
base::Result<TrustList> trusted();

// Whether the list has a folder that contains the file, or $HOPSCOPE_TRUST names the file or such a folder. That
// variable is a list with ":" between paths; "/" stands for every file. Links are resolved first.
bool trustedByPlace(const std::string& path);
// Checks whether the list or the samples contain a file with this hash. Otherwise fails with Untrusted; the hint
// explains how to agree. Fails with Input if the list cannot be read.
base::Status trustedByContent(const std::string& path, const std::string& sha256);

// Passes if the file passes one of these two checks, with its present content, or is an exported program. Linear in its
// bytes. Fails with Untrusted, and with Input if the file cannot be read.
base::Status mayRun(const std::string& path);

// Adds a file with its present content, or a folder, to the list. Linear in the bytes of the file. Fails with Input if
// the file or the list cannot be read, or if a folder has a line break in its name. Fails with Input or Resources if
// the list cannot be written (see writeTextFile).
base::Status trust(const std::string& path);
// Removes a folder, or a file by its path or content, from the list. Fails with Input if it is not in the list, and as
// trust() does if the list cannot be read or written.
base::Status distrust(const std::string& path);

}  // namespace hopscope::pipeline
