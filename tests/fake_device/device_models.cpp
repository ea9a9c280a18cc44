// test_models_device: as test_models, with GPUs that are not there: --device cuda:0 or cuda:1. What they find counts as
// a failure.

#include "fake_device/fake_device.h"
#include "models/run_models.h"

namespace {

std::string firstFinding()
{
    const auto found = hopscope::fake_device::findings();
    return found.empty() ? "" : found.front();
}

}  // namespace

int main(int argc, char** argv)
{
    hopscope::fake_device::install();
    const hopscope::fake_device::Findings collected;
    return hopscope::models::runModels(argc, argv, firstFinding);
}
