#pragma once

#include <functional>
#include <string>

namespace hopscope::models {

// What is wrong after a model although its numbers are right; empty: nothing.
using Complaint = std::function<std::string()>;

// LIST... [--only NAME]... [-j CHILDREN] [--device DEVICE[,DEVICE]...] [--no-fork] [--quick]
//         [--configurations COUNT | --configuration NAME | --features]
// Runs every model of the lists in a child process of its own and prints one row each; gives 1 if one is not as expected. A row
// that fails names its configuration and the command that repeats it.
// --quick: only the models that the list marks. --configurations: at most so many for each model (chooseFor()), else all of
// them. --features: prints what each model has the engine do (featuresOf()) instead of running it.
int runModels(int argc, char** argv, const Complaint& complaint = {});

}  // namespace hopscope::models
