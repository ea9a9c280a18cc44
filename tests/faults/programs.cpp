#include "faults/programs.h"

#include <stdexcept>

#include "loader/archive/archive.h"
#include "json/json.h"

namespace hopscope::faults {

namespace {

using json::Value;

// A value inside of `root`, any of them as likely as its neighbours, and the way to it.
Value* choose(Value& root, std::string& pointer, Random& random)
{
    Value* at = &root;
    for (int depth = 0; depth < 12 && at->size() > 0; ++depth) {
        const std::size_t item = random() % at->size();
        if (json::Array* const list = at->asArray()) {
            pointer += "/" + std::to_string(item);
            at = &(*list)[item];
        } else if (json::Object* const object = at->asObject()) {
            const auto member = std::next(object->begin(), static_cast<std::ptrdiff_t>(item));
            pointer += "/" + member->first;
            at = &member->second;
        }
        if (depth > 1 && random() % 6 == 0) break;
    }
    return at;
}

Value replacement(Random& random)
{
    static const Value values[] = {Value(),
                                   Value(true),
                                   Value(0),
                                   Value(-1),
                                   Value(12),
                                   Value(1LL << 40),
                                   Value(-1.5),
                                   Value(""),
                                   Value("x"),
                                   Value("Infinity"),
                                   Value("add"),
                                   Value::array(),
                                   Value(json::Array{Value(7)}),
                                   Value::object(),
                                   Value("torch.ops.aten.relu.default"),
                                   Value("torch.ops.aten.zeros.default"),
                                   Value("_operator.floordiv")};
    return values[random() % std::size(values)];
}

// Chooses a value, and removes one of its items or members, if it has any, or replaces it.
std::string change(Value& root, Random& random)
{
    std::string pointer;
    Value& chosen = *choose(root, pointer, random);
    json::Array* const list = chosen.asArray();
    json::Object* const object = chosen.asObject();
    if (list && !list->empty() && random() % 2) {
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(random() % list->size()));
        return "remove an item of " + pointer;
    }
    if (object && !object->empty() && random() % 2) {
        object->erase(std::next(object->begin(), static_cast<std::ptrdiff_t>(random() % object->size())));
        return "remove a member of " + pointer;
    }
    chosen = replacement(random);
    return "replace " + pointer + " by " + json::write(chosen);
}

template <class T>
T require(base::Result<T> result)
{
    if (!result) throw std::runtime_error(base::describe(result.error()));
    return std::move(*result);
}

bool isJson(const std::string& name) { return name.ends_with(".json"); }

}  // namespace

std::string mutateProgram(const std::string& source, const std::string& target, Random& random)
{
    const auto file = require(loader::MappedFile::open(source));
    const loader::Archive archive = require(loader::scanArchive(file.bytes(), source));
    std::vector<std::string> contents;
    for (const loader::Record& record : archive.records)
        contents.push_back(require(loader::readRecord(file.bytes(), record)));
    std::string story;
    for (std::size_t i = 0; i < archive.records.size(); ++i) {
        const std::string& name = archive.records[i].name;
        const bool isProgram = name.find("/models/") != std::string::npos;
        if (!isJson(name) || (!isProgram && random() % 4 != 0)) continue;
        Value root = require(json::parse(contents[i], name));
        for (std::size_t n = 1 + random() % 3; n > 0; --n) story += change(root, random) + "; ";
        contents[i] = json::write(root);
    }
    std::vector<loader::StoredRecord> records;
    for (std::size_t i = 0; i < contents.size(); ++i) records.push_back({archive.records[i].name, contents[i]});
    const base::Status written = loader::writeArchive(target, records);
    if (!written) throw std::runtime_error(base::describe(written.error()));
    return story;
}

}  // namespace hopscope::faults
