// Stands in for HiGHS where it was not found.
#include "solver/mip.h"

namespace hopscope::solver {

namespace {

tl::unexpected<base::Error> none()
{
    return base::fail(base::ErrorCode::Unsupported, "this program was built without an integer programming solver",
                      "run packaging/setup.sh and rebuild");
}

}  // namespace

bool available() { return false; }
const char* solverName() { return "none"; }

base::Result<Solution> solveRelaxation(const Problem&, const Limits&) { return none(); }
base::Result<Solution> solveInteger(const Problem&, const std::vector<double>&, const Limits&) { return none(); }

}  // namespace hopscope::solver
