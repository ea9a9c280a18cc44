#include "cli/plan_options.h"

#include <CLI/CLI.hpp>

#include "cli/command_tree.h"

namespace hopscope::engine {

void addPlanOptions(CLI::App& command, PlanTexts& texts)
{
    command
        .add_option(
            "--explain", texts.explain,
            "Show the costs and savings of each decision, and where the heuristics differ; also as JSON in FILE")
        ->type_name("FILE");
    command
        .add_option("--steps", texts.steps,
                    "Show how the rules and the optimum arrive at their plans; also as JSON in FILE")
        ->type_name("FILE");
}

void addSandbox(CLI::App& command, bool& without)
{
    command.add_flag("--no-sandbox", without, "Do not restrict the process while a model is open");
}

void addTrusted(CLI::App& command, pipeline::ModelOptions& model)
{
    command.add_flag("--trust", model.trusted, "Agree to run the code of the model file, for this command only");
}

void addTrustOptions(CLI::App& command, TrustCommand& trust)
{
    startGroup(command, base::nameOf(base::Group::Inputs));
    CLI::Option* const paths = command.add_option(
        "PATH", trust.paths, "Model files, recognised by their content from then on, or folders of model files");
    command.add_flag("--remove", trust.remove, "Withdraw the agreement for these paths")->needs(paths);
}

}  // namespace hopscope::engine
