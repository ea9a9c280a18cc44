// test_models: see models/run_models.h.

#include "models/run_models.h"

int main(int argc, char** argv) { return hopscope::models::runModels(argc, argv); }
