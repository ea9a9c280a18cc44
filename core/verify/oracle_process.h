#pragma once

// Runs the oracle, a child process that may run out of memory, crash or hang without affecting this process.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace hopscope::verify {

enum class OracleEnd : std::uint8_t {
    Done,         // the output file is complete
    Refused,      // forward failed, or the inputs could not be read; see the message
    OutOfMemory,  // killed because of its memory limit, or by the kernel for lack of memory
    Died,         // killed by a signal
    TimedOut,
};

struct OracleOutcome {
    OracleEnd end = OracleEnd::Died;
    std::string message;          // the reason as a sentence; empty if Done
    std::int64_t peakMemory = 0;  // bytes: the highest anonymous resident memory observed
    double seconds = 0;
};

struct OracleChild {
    std::vector<std::string> program;  // command line; empty: this program with the argument `oracle`
    std::string folder;                // for the request file, which is removed at the end
    std::int64_t memory = 0;           // anonymous bytes above which the child is killed
    std::optional<double> seconds;     // time limit
};

// Starts the child with `request`, whose member "output" names the file to write, and waits for its end. Fails only
// with Internal if the child cannot be started, with Resources if the disk is full, and with Cancelled, after killing
// the child, if the caller cancels.
base::Result<OracleOutcome> runOracle(const OracleChild& child, json::Value request, std::stop_token stop);

}  // namespace hopscope::verify
