#include "cli/commands.h"
#include "cli/observers.h"
#include "schema/split_diff.h"
#include "json/json.h"

namespace hopscope::engine {

namespace {

std::string describeExport(const std::string& folder, const schema::Split& split)
{
    const auto methods = std::to_string(split.code->loops.size());
    return folder + ": " + methods + (methods == "1" ? " stage method" : " stage methods") +
           ", verified; run it with\n  python " + folder + "/run.py --data DATA -o results\n";
}

}  // namespace

base::Result<int> execute(const ExportCommand& command, Session& session)
{
    ProgressObserver progress(session.console);
    const base::Result<schema::Split> split =
        pipeline::exportFolder(command, *session.outputs.exported, progress, session.console, session.stop);
    if (!split) return base::forward(split);
    if (session.console.json()) session.console.print(schema::writeSplit(*split));
    else if (!session.console.quiet()) session.console.print(describeExport(command.folder, *split));
    return 0;
}

base::Result<int> execute(const DiffCommand& command, Session& session)
{
    const base::Result<schema::Split> a = pipeline::readExported(command.a);
    if (!a) return base::forward(a);
    const base::Result<schema::Split> b = pipeline::readExported(command.b);
    if (!b) return base::forward(b);
    const std::vector<std::string> found = schema::differences(*a, *b);
    if (session.console.json()) {
        json::Value document;
        document["differences"] = json::Value(found);
        session.console.print(json::write(document, true));
        return 0;
    }
    std::string text = found.empty() ? "no differences\n" : "";
    for (const std::string& sentence : found) text += sentence + "\n";
    session.console.print(text);
    return 0;
}

}  // namespace hopscope::engine
