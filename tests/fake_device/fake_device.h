#pragma once

// A GPU that is not there. LibTorch's PrivateUse1 device takes CUDA's place behind executor::accelerator(), with two
// devices of 4 GiB, so that the executor's way through a GPU runs and is tested without one. It is stricter than a GPU:
//
// - The host cannot touch device memory: the addresses that tensors carry are mapped without any rights. Fresh memory
//   holds 0xFF: not-a-numbers, and indices out of range.
// - Every stream has a vector clock. What is not ordered by events, by the host's waits or by a stream is found whatever
//   the timing, with allocator blocks as the unit: two streams that use different parts of one block without order
//   count as a race.
// - A block that is freed while another stream's use of it is neither ordered nor recorded (record_stream) is found.
// - Pinned memory under an asynchronous copy is protected until the host has waited for that copy: an upload's source
//   cannot be written, a download's target not even be read (SIGSEGV). The unit is a page of 4,096 bytes.
// - Pinned memory that a kernel reads (HostRows) cannot be written until the host has waited for the kernel, and is
//   refused to kernels while a copy into it is not ordered before them. Other memory of the host ends the context.
// - An asynchronous download into pageable memory, tensors of two devices in one operator, a kernel with memory or a
//   stream of another device, a statistic before initialisation: refused.
// - What cuBLAS and cuDNN refuse and the CPU computes is refused in CUDA's words: products of half types where settings
//   rule out split-K, states of recurrent layers that are not contiguous.
// - The first matrix product on a stream allocates a workspace, as cuBLAS's handle does, and only reset() frees it.
//
// What is found is remembered as a sentence (`findings`). Where an exception may be thrown it is thrown as well
// (c10::Error). Where none may be thrown, in deleters, the process ends, unless a `Findings` is alive.
//
// Operators run on one core of the CPU, in the order in which they are launched: results depend neither on the clocks nor
// on the number of cores.
// Kernel launches of `Accelerator::segment` go to kernels::segmentCpu, those of `Accelerator::strips` and those that read
// rows on the host to the CUDA source compiled for the host; strips that give other bits than kernels::stripCpu are
// refused. All calls are safe from any thread; device calls
// of one run are expected from one thread for each device. To the vector clocks all threads are one host; on the virtual
// clock each device's thread has a time of its own.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/executor.h"

namespace hopscope::fake_device {

inline constexpr int deviceCount = 2;

// Registers the device with LibTorch and replaces the accelerator; once per process, before any device is used. A
// process may fork afterwards as long as no device has been used.
void install();

// Latency, faults, mutations, listing, counters, clock and findings as after install(). Memory stays as it is, except
// workspaces; a dead context comes alive again.
void reset();

// ---- findings

std::vector<std::string> findings();  // since install() or reset(), oldest first

// While alive, findings where nothing can be thrown do not end the process.
class Findings {
public:
    Findings();
    ~Findings();
    Findings(const Findings&) = delete;
    Findings& operator=(const Findings&) = delete;

    [[nodiscard]] std::vector<std::string> sentences() const;  // since this was made
    [[nodiscard]] bool tell(const std::string& words) const;   // whether one of them contains `words`

private:
    std::size_t m_first;
};

// Bytes of a device's workspaces, among the allocated ones.
std::int64_t workspaceBytes(int device);
// Bytes of host memory that is pinned, used or kept for later.
std::int64_t bytesPinned();

// ---- counters

struct Counts {
    std::int64_t operators = 0;  // kernels of operators, segments and strips; copies not
    std::int64_t segments = 0;   // those of Accelerator::segment and Accelerator::strips
    std::int64_t shaped = 0;     // strips by the kernel of a shape
    std::int64_t read = 0;       // strips by the kernel that reads the steps
    std::int64_t sorts = 0;      // operators for which CUDA sorts all indices, where sums have to be deterministic
    std::int64_t uploads = 0, pageableUploads = 0, downloads = 0;
    std::int64_t bytesUp = 0, bytesDown = 0, bytesBetween = 0;  // the last: from device to device
    std::int64_t hostReads = 0;                                 // bytes that kernels read in pinned memory
    std::int64_t hostWaits = 0;    // blocking copies, .item(), operators that wait for their result's size, synchronize
    std::int64_t allocations = 0;  // on the devices
    std::int64_t largest = 0;      // of these, in bytes
    std::int64_t pinnedAllocations = 0;
    std::int64_t pinnedWaste = 0;  // bytes beyond what was asked for: CUDA's allocator pins powers of two
};

Counts counts();
void resetCounts();

// ---- time

// A virtual clock. What is queued starts when its stream, the host's call and (for copies) the copy engine of its
// direction are there, and the host goes on. Rates of 0 are infinite. With all zero, everything has passed at once.
// The host's own work takes no time, except for launches and waits: reading and writing files, numbering rows, pinning.
struct Latency {
    double launchSeconds = 0;  // of the host, for each kernel and copy
    double copyLatency = 0;    // of each copy between host and device
    double h2dBytesPerSecond = 0, d2hBytesPerSecond = 0;
    double peerBytesPerSecond = 0;      // from each device to others
    double kernelSeconds = 0;           // of each kernel
    double kernelBytesPerSecond = 0;    // of what a kernel reads and writes
    double gatherBytesPerSecond = 0;    // of rows that segments and strips read along edges; 0: as the other bytes
    double operationsPerSecond = 0;     // floating-point operations of matrix products, beside which bytes move
    double hostReadBytesPerSecond = 0;  // of the rows that kernels read in pinned memory
};

struct BusySeconds {
    double h2d = 0, compute = 0, d2h = 0, peer = 0;
};

void setLatency(const Latency& latency);
double virtualSeconds();           // the host's time, of the thread that is furthest
void advanceHost(double seconds);  // the host computes meanwhile
BusySeconds busySeconds();         // of all devices
void hostsMeet();                  // the threads of all devices wait for each other
void resetClock();                 // back to 0; everything has passed

// ---- faults

// The nth allocation from now on a device throws c10::OutOfMemoryError; 0: none. Counted over both devices.
void failAllocation(std::int64_t nth);
// The nth pinned allocation from now throws a c10::Error as a failing cudaHostAlloc does; 0: none.
void failPinned(std::int64_t nth);
void failEveryPinned(bool fails);
// The nth Accelerator::segment or strips from now gives this CUDA error code; 0: none. 700 and above end the context:
// from then on every call throws.
void failSegment(std::int64_t nth, int code);
// Whether memory that several streams have used throws where it is freed, once a kernel has ended the context, as CUDA's
// allocator does, which then records events. Tensors free it in destructors: this ends the process.
void throwWhereFreed(bool throws);
void setTotalMemory(std::int64_t bytes);            // of each device; 4 GiB
void takeByOthers(int device, std::int64_t bytes);  // other processes' share of it

// Whether the devices can copy to each other.
void setPeerAccess(bool possible);

// nullopt: both devices, as they are.
void setListing(std::optional<executor::GpuListing> listing);

// ---- what a product would do that forgot a call

enum class Call : std::uint8_t {
    StreamWaits,     // a stream waits for an event
    HostWaits,       // the host waits for an event
    StreamFinishes,  // the host waits for a stream
    RecordStream,
    SetDevice,       // and exchangeDevice: the guard
    ExchangeStream,  // the stream guard
};

void drop(Call call, int everyNth);  // 1: all, 0: none
std::int64_t dropped(Call call);     // how many were, since the last `drop` of this call

}  // namespace hopscope::fake_device
