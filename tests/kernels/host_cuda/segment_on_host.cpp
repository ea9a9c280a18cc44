#include "kernels/host_cuda/segment_on_host.h"

// Under other names, so that a program can hold both.
#define segmentCuda segmentOnHost
#define cudaErrorText errorTextOnHost
#include "kernels/segment.cu"
