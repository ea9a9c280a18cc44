#pragma once

// The parent's side of an oracle: a child process that may run out of memory, crash or hang without harming this one.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace hopscope::verify {

enum class OracleEnd : std::uint8_t {
    Done,         // the output file is there
    Refused,      // the model's own forward, or reading its inputs, failed: see the message
    OutOfMemory,  // it reached its memory limit, or the kernel killed it for memory
    Died,         // a signal
    TimedOut,
};

struct OracleOutcome {
    OracleEnd end = OracleEnd::Died;
    std::string message;          // a sentence; empty if Done
    std::int64_t peakMemory = 0;  // highest anonymous resident memory seen
    double seconds = 0;
};

struct OracleChild {
    std::vector<std::string> program;  // empty: this program with `oracle`
    std::string folder;                // scratch: the request file goes there and is removed
    std::int64_t memory = 0;           // anonymous bytes after which the child is killed
    std::optional<double> seconds;
};

// Starts the child on `request` (its member "output" names the file it makes) and waits. Only a child that cannot be
// started (Internal), a full disk (Resources) and cancellation (Cancelled; the child is killed) are failures.
base::Result<OracleOutcome> runOracle(const OracleChild& child, json::Value request, std::stop_token stop);

// Bytes the machine has free, as the kernel estimates them; 0 if unknown.
std::int64_t availableMemory();

// Anonymous resident bytes of a process ("self" or its id); 0 if it is gone.
std::int64_t anonymousMemory(const std::string& process);

}  // namespace hopscope::verify
