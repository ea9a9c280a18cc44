#pragma once

// Locks the lock file of an output folder for one process alone, or for the shards of a run together. The kernel
// releases the locks of a process when it ends in any way. Names are relative to `folder` and are not links
// (base::Folder).

#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "base/folder.h"
#include "base/result.h"

namespace hopscope::pipeline {

// Takes the lock for this process alone, and records the process in the file. Fails with Input if another process holds
// the lock for more than half a second ("locked by pid 12 on host"). On a local file system, the kernel's lock decides.
// Other file systems may not propagate locks to other machines: there, the process named in the file also holds the
// lock, as long as its heartbeat continues (LockHeartbeat).
base::Result<int> lockAlone(const base::Folder& folder, const std::string& name);

// The result of an attempt to take the lock together with other shards.
struct LockAttempt {
    enum Outcome : std::uint8_t {
        Alone,   // no other process holds it; call shareLock() when the folder is in order
        Shared,  // it is shared with other shards of the same run
        Busy,    // another process holds it alone
    } outcome = Busy;
    int descriptor = -1;
    std::string holder;                  // the text of the file
    std::optional<base::Error> problem;  // the file is a link, or not a regular file
};
// Tries to take the lock as one of `shards` processes (0: of any number).
LockAttempt tryToShare(const base::Folder& folder, const std::string& name, int shards);
// Allows other shards to share the lock. Returns false if the file was removed in the meantime, since flock() may
// release a lock while it converts it.
base::Result<bool> shareLock(int descriptor, const base::Folder& folder, const std::string& name, int shards);
// Tries to convert a shared lock to one for this process alone. If that fails, the shared lock may be lost.
bool becomesAlone(int descriptor, const base::Folder& folder, const std::string& name);
// Whether the file still names this process as the only holder.
bool saysThisProcess(int descriptor);

// Returns the text of the file while this number of shards holds it (0: any number of workers).
std::string sharersOf(int shards);
// Whether a lock file names a fixed number of shards as its holders.
bool heldByShards(const std::string& holder);

// Takes a lock for this process alone, regardless of the text of the file, which is returned in `holder`. Returns -1 if
// another process holds the lock.
int tryToLock(const base::Folder& folder, const std::string& name, std::string& holder);
// Whether any process holds the lock.
bool isLocked(const base::Folder& folder, const std::string& name);

// Updates the time of a lock file every few seconds while this object exists, as a heartbeat for other machines.
class LockHeartbeat {
public:
    explicit LockHeartbeat(int descriptor);

private:
    std::jthread m_thread;
};

// Sets whether file systems are assumed not to propagate locks to other machines. For tests.
void doubtLocks(bool doubt);

}  // namespace hopscope::pipeline
