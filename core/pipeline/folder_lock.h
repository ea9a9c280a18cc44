#pragma once

// The lock file of an output folder, held by one process alone or by the shards of a run together. The kernel releases
// the locks of a process in any case when it ends. Names are below `folder` and are not links (base::Folder).

#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "base/folder.h"
#include "base/result.h"

namespace hopscope::pipeline {

// Takes the lock alone and records this process in the file. Input: another process holds it for more than half a
// second ("locked by pid 12 on host"). On a local file system the kernel's lock decides. On others, which may not pass locks on to other machines,
// the holder named in the file counts as well, as long as its heartbeat continues (LockHeartbeat).
base::Result<int> lockAlone(const base::Folder& folder, const std::string& name);

// An attempt of one of `shards` processes (0: of any number).
struct LockAttempt {
    enum Outcome : std::uint8_t {
        Alone,   // no other process holds it: to be shared (shareLock) when the folder is in order
        Shared,  // with other shards of the same run
        Busy,    // another process holds it alone
    } outcome = Busy;
    int descriptor = -1;
    std::string holder;                  // the text of the file
    std::optional<base::Error> problem;  // a link, or no regular file
};
LockAttempt tryToShare(const base::Folder& folder, const std::string& name, int shards);
// Lets others share the lock. False if the file was removed meanwhile: flock() does not promise that a lock is held while it
// changes.
base::Result<bool> shareLock(int descriptor, const base::Folder& folder, const std::string& name, int shards);
// Whether this process is now the only holder. If not, a lock that was shared before is lost.
bool becomesAlone(int descriptor, const base::Folder& folder, const std::string& name);
// Whether the file still names this process as the only holder.
bool saysThisProcess(int descriptor);

// The text of the file while this many shards hold it; 0: any number of workers.
std::string sharersOf(int shards);
// Whether a lock file names a fixed number of shards as its holders.
bool heldByShards(const std::string& holder);

// Takes a lock for this process alone, ignoring the text of the file; -1 if another process holds it. `holder` receives
// that text.
int tryToLock(const base::Folder& folder, const std::string& name, std::string& holder);
// Whether any process holds the lock.
bool isLocked(const base::Folder& folder, const std::string& name);

// Sets the time of a lock file every few seconds during its lifetime, as a sign of life for other machines.
class LockHeartbeat {
public:
    explicit LockHeartbeat(int descriptor);

private:
    std::jthread m_thread;
};

// Whether all file systems are assumed not to pass locks on to other machines: for tests.
void doubtLocks(bool doubt);

}  // namespace hopscope::pipeline
