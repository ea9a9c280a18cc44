#include <doctest/doctest.h>

#include "fake_device/on_device.h"

using namespace hopscope;
using namespace hopscope::fake_device;

// Of this program's files the first one: nothing has been initialised yet.
TEST_CASE_FIXTURE(Fresh, "Statistics are refused before the device is initialised")
{
    CHECK_THROWS_WITH_AS(stats(), doctest::Contains("did you call init?"), c10::Error);
    executor::accelerator().initialise();
    CHECK(stats().reserved_bytes[0].current == 0);
}
