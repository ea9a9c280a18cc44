#pragma once

// Whether the code of a model file may be run. The user agrees once: to a file, which is known by its SHA-256 from then on, or
// to a folder with everything below it. No agreement is needed for the samples of Hopscope, for exported programs
// (.pt2), which contain no code, and for drawing a model.
//
// The list is a text file of the user, like known_hosts: a line of sha256sum for each file ("HASH PATH"), and the path
// of each folder. Other lines are ignored.

#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::pipeline {

// $XDG_CONFIG_HOME/hopscope/trusted, or that in ~/.config; empty if there is neither.
std::string trustFile();

struct TrustedFile {
    std::string sha256, path;  // the path is the one that was agreed to; the file may lie elsewhere by now
};
std::string lineOf(const TrustedFile& file);  // of the list

struct TrustList {
    std::vector<TrustedFile> files;
    std::vector<std::string> folders;  // absolute, without links
};
// Empty if there is no list. Input: it cannot be read.
base::Result<TrustList> trusted();

// Whether the list has a folder that contains the file, or $HOPSCOPE_TRUST names the file or such a folder (":" between
// them; "/" means every file). Links are followed first.
bool trustedByPlace(const std::string& path);
// Fails with Untrusted and a hint how to agree, unless the list or the samples contain these bytes.
base::Status trustedByContent(const std::string& path, const std::string& sha256);

// Both for the present content of the file, unless it is an exported program; linear in its bytes. Input: it cannot be
// read.
base::Status mayRun(const std::string& path);

// Puts a file, by its content at this moment, or a folder on the list. Linear in the bytes of the file. Input: it cannot be
// read, or is a folder with a line break in its name; Resources: the list cannot be written.
base::Status trust(const std::string& path);
// Takes a folder, or a file by its path or content, off the list. Input: it is not on it.
base::Status distrust(const std::string& path);

}  // namespace hopscope::pipeline
