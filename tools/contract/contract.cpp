// Writes JSON Schemas (resources/schemas), tables of docs/ and the settings of the Python package from the tables of described
// structs, and copies the readers of data files that run.py and the package share.
//     contract ROOT            writes them
//     contract ROOT --check    writes nothing, names the stale files, and fails if there are any
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "graph/formats.h"
#include "protocol/failures_contract.h"
#include "protocol/figures_contract.h"
#include "protocol/messages_contract.h"
#include "protocol/requests_contract.h"
#include "protocol/settings_contract.h"
#include "schema/contract.h"

namespace {

using namespace hopscope;

std::string contentOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The page with the table between its marks; empty where it has none.
std::string withTable(std::string page, const schema::DocumentedStruct& documented)
{
    const std::string begin = "<!-- members " + documented.name + " -->\n", end = "<!-- end -->";
    const std::size_t from = page.find(begin);
    const std::size_t to = from == std::string::npos ? from : page.find(end, from);
    if (to == std::string::npos) return {};
    return page.replace(from + begin.size(), to - from - begin.size(), documented.table);
}

class Keeper {
public:
    explicit Keeper(bool check) : m_check(check) {}

    void keep(const std::string& path, const std::string& text)
    {
        if (contentOf(path) == text) return;
        if (!m_check) {
            std::ofstream(path, std::ios::binary) << text;
            return;
        }
        complain(path + " is stale: run build/dev/bin/contract . and look at the difference");
    }

    void complain(const std::string& text)
    {
        std::fprintf(stderr, "%s\n", text.c_str());
        m_ok = false;
    }

    [[nodiscard]] bool ok() const { return m_ok; }

private:
    bool m_check, m_ok = true;
};

// The page with all of its tables.
void keepPage(Keeper& keeper, const std::string& path, const std::vector<schema::DocumentedStruct>& tables)
{
    std::string page = contentOf(path);
    for (const schema::DocumentedStruct& documented : tables) {
        std::string text = withTable(page, documented);
        if (text.empty()) keeper.complain(path + " has no <!-- members " + documented.name + " -->");
        else page = std::move(text);
    }
    keeper.keep(path, page);
}

}  // namespace

int main(int count, char** arguments)
{
    if (count < 2 || (count > 2 && std::strcmp(arguments[2], "--check") != 0)) {
        std::fprintf(stderr, "usage: contract ROOT [--check]\n");
        return 2;
    }
    const std::string root = arguments[1];
    Keeper keeper(count > 2);
    for (const schema::Contract& document : schema::contracts()) {
        keeper.keep(root + "/resources/schemas/" + document.file, json::write(document.schema, true));
        if (!document.page.empty()) keepPage(keeper, root + "/docs/reference/" + document.page, document.structs);
    }
    keeper.keep(root + "/resources/schemas/requests-1.schema.json", json::write(protocol::requestsSchema(), true));
    std::vector<schema::DocumentedStruct> messages = protocol::messageTables();
    for (schema::DocumentedStruct& table : protocol::requestTables()) messages.push_back(std::move(table));
    keepPage(keeper, root + "/docs/reference/protocol.md", messages);
    keepPage(keeper, root + "/docs/reference/format-plan-answers.md", protocol::planAnswerTables());
    keepPage(keeper, root + "/docs/reference/exit-codes.md", {{"exit codes", protocol::failuresTable()}});
    keepPage(keeper, root + "/docs/reference/glossary.md", {{"strategies", schema::strategiesTable()}});
    keepPage(keeper, root + "/docs/explain/placement.md", {{"pins", schema::pinsTable()}});
    keepPage(keeper, root + "/docs/guides/data.md",
             {{"formats", graph::formatsTable()}, {"roles", schema::rolesTable()}});
    keepPage(keeper, root + "/docs/reference/settings.md", {{"settings", protocol::settingsTable()}});
    const std::string python = root + "/packaging/python/src/hopscope/";
    keeper.keep(python + "_contract.py", protocol::pythonSettings());
    keeper.keep(python + "_failures.py", protocol::pythonFailures());
    keeper.keep(python + "_figures.py", protocol::pythonFigures());
    keeper.keep(python + "_formats.py", contentOf(root + "/core/export/runner/formats.py"));
    return keeper.ok() ? 0 : 1;
}
