#include <doctest/doctest.h>

#include "device_runs.h"
