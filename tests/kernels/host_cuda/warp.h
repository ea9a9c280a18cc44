#pragma once

// The threads of a warp, each with a stack of its own, for kernels in which threads wait for each other. They run in turn,
// between two waits in any order, and one that is not let go on, as on a GPU, ends the launch.

#include <functional>

// Runs `work` for `count` threads, the last of them first if `backwards`. Returns false if threads wait for others that
// have ended, wait elsewhere, or name other threads.
bool runWarp(unsigned count, bool backwards, const std::function<void(unsigned thread)>& work);

// CUDA's functions of these names, between threads of a running warp.
void __syncwarp(unsigned mask);
float __shfl_down_sync(unsigned mask, float value, unsigned apart, int width);
double __shfl_down_sync(unsigned mask, double value, unsigned apart, int width);
