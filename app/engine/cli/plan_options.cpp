#include "cli/plan_options.h"

#include <CLI/CLI.hpp>

namespace hopscope::engine {

void addPlanOptions(CLI::App& command, PlanTexts& texts)
{
    command
        .add_option(
            "--explain", texts.explain,
            "Report what each decision costs and saves, and where the rules decide differently; also as JSON to FILE")
        ->type_name("FILE");
    command.add_option("--steps", texts.steps, "Show how each strategy arrives at its plan; also as JSON to FILE")
        ->type_name("FILE");
}

void addSandbox(CLI::App& command, bool& without)
{
    command.add_flag("--no-sandbox", without, "Keep all rights of the user while a model is open");
}

void addTrusted(CLI::App& command, pipeline::ModelOptions& model)
{
    command.add_flag("--trust", model.trusted, "Run the code of the model file without having agreed to it before");
}

void addTrustOptions(CLI::App& command, TrustCommand& trust)
{
    CLI::Option* const paths =
        command.add_option("PATH", trust.paths, "Model files, known by their content from then on, or folders of them");
    command.add_flag("--remove", trust.remove, "Take them off the list")->needs(paths);
}

}  // namespace hopscope::engine
