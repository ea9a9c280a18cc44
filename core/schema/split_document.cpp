#include <algorithm>
#include <set>
#include <utility>

#include "schema/described_document.h"
#include "schema/forms.h"
#include "schema/split.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using Known = std::set<std::string>;

constexpr const char* format = "hopscope-schema";

// The texts of a list.
Known textsOf(const Reader& list)
{
    const auto texts = list.as<std::vector<std::string>>();
    return {texts.begin(), texts.end()};
}

void check(const Reader& name, const Known& known, const char* complaint)
{
    const std::string* const text = name.value().asString();
    if (text != nullptr && !known.contains(*text)) name.refuse(complaint);
}

void checkAll(const Reader& list, const Known& known, const char* complaint)
{
    for (const Reader& name : list.items()) check(name, known, complaint);
}

// The names in a list of objects; no two have the same.
Known namesIn(const std::vector<Reader>& list, const char* member)
{
    Known names;
    for (const Reader& item : list)
        if (!names.insert(item.get<std::string>(member)).second) item.child(member).refuse("is listed twice");
    return names;
}

// Stages are in order, and each reads only values that are there before it.
void checkStages(const Reader& root, const Known& values, const Known& spaces)
{
    Known made = textsOf(root.child("inputs"));
    made.merge(textsOf(root.child("prologue")));
    int last = 0;
    for (const Reader& stage : root.items("stages")) {
        const int index = stage.get<int>("index");
        if (index <= std::exchange(last, index)) stage.child("index").refuse("does not follow the stage before it");
        checkAll(stage.child("destinations"), spaces, "is not a row space");
        checkAll(stage.child("inputs"), made, "is not produced by an earlier stage");
        checkAll(stage.child("outputs"), values, "is not a tensor");
        made.merge(textsOf(stage.child("outputs")));
    }
}

void checkCheckpoint(const Split& split, const SplitCheckpoint& checkpoint, const Reader& item)
{
    const auto stage = std::ranges::find(split.stages, checkpoint.stage, &SplitStage::index);
    if (stage == split.stages.end()) return item.child("stage").refuse("is not a stage");
    if (std::ranges::find(stage->outputs, checkpoint.value) == stage->outputs.end())
        item.child("value").refuse("is not written by its stage");
}

// Finds tables by name.
class Tables {
public:
    explicit Tables(Known names) : m_names(std::move(names)) {}

    void check(const Reader& item, const char* member) const
    {
        schema::check(item.child(member), m_names, "is not a table");
    }

    void checkArguments(const Reader& list) const
    {
        for (const Reader& argument : list.items())
            for (const Reader& rows : argument.items("rows")) check(rows, "table");
    }

    void checkLoop(const Reader& loop) const
    {
        check(loop, "destination");
        for (const Reader& frontier : loop.items("frontier")) {
            for (const char* const member : {"target", "table"}) check(frontier, member);
            check(frontier.child("owner"), "table");
        }
        checkArguments(loop.child("arguments"));
        for (const Reader& result : loop.items("results")) check(result.child("rows"), "table");
    }

private:
    Known m_names;
};

}  // namespace

static void checkRead(const Code&, const Reader& code)
{
    const Tables tables(namesIn(code.items("tables"), "name"));
    for (const Reader& column : code.items("columns"))
        for (const char* const member : {"table", "target"}) tables.check(column, member);
    for (const Reader& loop : code.items("loops")) tables.checkLoop(loop);
    tables.checkArguments(code.child("results"));
}

static void checkRead(const TensorSpec& tensor, const Reader& item)
{
    if (tensor.rowSpaces.size() != tensor.shape.size())
        item.child("row_spaces").refuse("must have one entry per dimension");
}

static void checkRead(const Split& split, const Reader& root)
{
    const Known spaces(split.rowSpaces.begin(), split.rowSpaces.end());
    const Known values = namesIn(root.items("tensors"), "value");
    for (const Reader& tensor : root.items("tensors"))
        checkAll(tensor.child("row_spaces"), spaces, "is not a row space");
    for (const char* const list : {"inputs", "outputs", "prologue"})
        checkAll(root.child(list), values, "is not a tensor");
    checkStages(root, values, spaces);
    const std::vector<Reader> checkpoints = root.items("checkpoints");
    for (std::size_t i = 0; i < checkpoints.size(); ++i) checkCheckpoint(split, split.checkpoints[i], checkpoints[i]);
}

std::string writeSplit(const Split& split) { return json::write(documentOf(split, format), true); }

base::Result<Split> readSplit(const std::string& text, const std::string& file)
{
    return parseDocument<Split>(text, format, file);
}

}  // namespace hopscope::schema
