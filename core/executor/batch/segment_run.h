#pragma once

// Private to executor: executes segment instructions.

#include <functional>

#include <ATen/ATen.h>

#include "executor/program/loop_program.h"
#include "executor/session/session.h"
#include "kernels/segment.h"

namespace hopscope::executor {

struct SegmentInputs {
    at::Tensor source;   // rows to gather from, or one row per message
    at::Tensor columns;  // source row of each message; undefined: messages in order
    at::ScalarType computed =
        at::kFloat;                // type of the result and the weight; the source may be stored in a narrower one
    at::Tensor weight;             // undefined: none
    at::Tensor offsets;            // destinations + 1
    std::int64_t first = 0;        // the first offset: not 0 if offsets are a slice of the whole graph's
    std::int64_t count = -1;       // number of messages in such a slice
    std::int64_t columnFirst = 0;  // `first` if columns, or a source without columns, are those of the slice alone
    at::Tensor pieces;  // GPU: the result of kernels::hubPieces; undefined if no destination has that many messages
    std::int64_t pieceFirst = 0;  // see kernels::SegmentArguments
    // GPU: `source` has the first rows by these places, which are defined if some rows are only in `host`.
    at::Tensor places, host;
};

// Returns the destination of each message, in the type of the offsets, without asking a GPU for the number of messages.
at::Tensor ownersOf(const at::Tensor& offsets, std::int64_t messages);

// Returns one row per destination, on the session's device. Uses a segment kernel if there is one (float32 and half
// types, contiguous rows), else LibTorch's operators. Both are deterministic. If the kernels cannot run on this GPU, a
// note says so once; any other failed launch raises Internal.
at::Tensor runSegment(const Segment& segment, const SegmentInputs& inputs, Session& session);

// GPU: returns rows of a table with places, by number. Uses LibTorch's operators if there is no kernel.
at::Tensor pickDivided(const DividedTable& table, const at::Tensor& rows, Session& session);

// Returns the arguments of a kernel that reads `table`, all of whose rows lie on the device if it has no places.
kernels::HostRows hostRows(const DividedTable& table);
// GPU: returns rows by number as the host gathers them.
at::Tensor gatheredOnHost(const at::Tensor& host, const at::Tensor& rows);

// GPU: returns whether a launch of kernels was accepted, given its code; false if they cannot run on this GPU, which a
// note says once. Any other failed launch raises Internal.
bool launched(int code, Session& session);
// Raises Internal if another GPU is current: a launch goes to that one, whatever memory it is given.
void checkCurrent(c10::Device device);

// Returns the numbers in the form that the kernels take, with 32 or 64 bits; no data if the tensor is undefined.
kernels::Index index(const at::Tensor& numbers);

// CPU: calls `work` on all cores, for ranges of destinations with about equally many edges each. `width` is the number
// of elements of a row.
void inShares(const kernels::Index& offsets, std::int64_t destinations, std::int64_t width,
              const std::function<void(std::int64_t first, std::int64_t last)>& work);

}  // namespace hopscope::executor
