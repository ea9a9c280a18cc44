#pragma once

// The lock file of an output folder: held by one process alone, or by the shards of a run together. The kernel releases
// what a process holds when it ends, however it ends.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hopscope::pipeline {

// Takes it alone and says so in the file. Input: somebody else holds it ("locked by pid 12 on host"), also on another
// machine, as far as the file says.
base::Result<int> lockAlone(const std::string& folder, const std::string& file);

// An attempt of one of `shards` processes (0: of any number).
struct LockAttempt {
    enum Outcome : std::uint8_t {
        Alone,   // nobody else holds it: to be shared (shareLock) when the folder is in order
        Shared,  // with other shards of the same run
        Busy,    // somebody else holds it alone
    } outcome = Busy;
    int descriptor = -1;
    std::string holder;  // what the file says
};
LockAttempt tryToShare(const std::string& file, int shards);
// Lets others share the lock. False if the file was removed meanwhile: flock() does not promise that a lock is held while it
// changes.
base::Result<bool> shareLock(int descriptor, const std::string& file, int shards);
// Whether the lock on `file` is held alone now. If not, one that was shared before is lost.
bool becomesAlone(int descriptor, const std::string& file);

// What the file says where so many shards hold it; 0: any number of workers.
std::string sharersOf(int shards);
// Whether a lock file says that a fixed number of shards hold it.
bool heldByShards(const std::string& holder);

// Takes a lock for this process alone, without looking at what the file says; -1 if somebody else has it. `holder`: what
// the file said.
int tryToLock(const std::string& file, std::string& holder);
// Whether somebody has it.
bool isLocked(const std::string& file);

}  // namespace hopscope::pipeline
