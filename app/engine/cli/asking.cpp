#include "cli/asking.h"

#include <unistd.h>

#include <iostream>
#include <string>

#include "base/text.h"
#include "pipeline/opening/trust.h"

namespace hopscope::engine {

namespace {

// The model whose code the command runs; null if it runs none.
const pipeline::ModelOptions* runBy(const Command& command)
{
    return std::visit(
        [](const auto& chosen) -> const pipeline::ModelOptions* {
            if constexpr (requires { chosen.model.trusted; }) return &chosen.model;
            else return nullptr;
        },
        command);
}

bool saysYes(const std::string& question)
{
    std::cerr << base::oneLine(question) << " [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void askToTrust(const Command& command)
{
    const pipeline::ModelOptions* const model = runBy(command);
    if (model == nullptr || model->trusted || isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return;
    const base::Status may = pipeline::mayRun(model->model);
    if (may || may.error().code != base::ErrorCode::Untrusted) return;
    if (saysYes(model->model + " contains code that Hopscope has not run for you before. Run it now and in future?"))
        (void)pipeline::trust(model->model);  // where that fails, the command is refused with the reason
}

}  // namespace hopscope::engine
