#include "cli/commands.h"
#include "pipeline/opening/trust.h"
#include "json/json.h"

namespace hopscope::engine {

namespace {

json::Value listValue(const pipeline::TrustList& list)
{
    json::Value document;
    document["list"] = pipeline::trustFile();
    document["folders"] = json::Value(list.folders);
    document["files"] = json::Value::array();
    for (const pipeline::TrustedFile& file : list.files) {
        json::Value item;
        item["sha256"] = file.sha256;
        item["path"] = file.path;
        document["files"].push(std::move(item));
    }
    return document;
}

std::string listText(const pipeline::TrustList& list)
{
    std::string text;
    for (const std::string& folder : list.folders) text += folder + "/\n";
    for (const pipeline::TrustedFile& file : list.files) text += lineOf(file) + "\n";
    return text.empty() ? "No file or folder is trusted.\n" : text;
}

}  // namespace

base::Result<int> execute(const TrustCommand& command, Session& session)
{
    for (const std::string& path : command.paths) {
        const base::Status done = command.remove ? pipeline::distrust(path) : pipeline::trust(path);
        if (!done) return base::forward(done);
    }
    const base::Result<pipeline::TrustList> list = pipeline::trusted();
    if (!list) return base::forward(list);
    if (session.console.json()) session.console.print(json::write(listValue(*list), true));
    else if (command.paths.empty()) session.console.print(listText(*list));
    return 0;
}

}  // namespace hopscope::engine
