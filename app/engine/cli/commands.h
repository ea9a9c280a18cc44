#pragma once

// One function per subcommand. Each prints its result and returns the exit code; the caller prints errors.

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/console.h"

namespace hopscope::engine {

base::Result<int> execute(const InspectCommand& command, Session& session);
base::Result<int> execute(const PlanCommand& command, Session& session);
base::Result<int> execute(const RunCommand& command, Session& session);
base::Result<int> execute(const VerifyCommand& command, Session& session);
base::Result<int> execute(const ExportCommand& command, Session& session);
base::Result<int> execute(const DiffCommand& command, Session& session);
base::Result<int> execute(const GenerateCommand& command, Session& session);
base::Result<int> execute(const MachineCommand& command, Session& session);
base::Result<int> execute(const ReceptiveFieldCommand& command, Session& session);
base::Result<int> execute(const DebugCommand& command, Session& session);
base::Result<int> execute(const DevicesCommand& command, Session& session);
base::Result<int> execute(const ServeCommand& command, Session& session);
base::Result<int> execute(const WorkerCommand& command, Session& session);
base::Result<int> execute(const TrustCommand& command, Session& session);
base::Result<int> execute(const OracleCommand& command, Session& session);
base::Result<int> execute(const ShowText& command, Session& session);

}  // namespace hopscope::engine
