#include "schema/split_diff.h"

#include <algorithm>
#include <map>

namespace hopscope::schema {

namespace {

std::string hashOf(const Split& split, const std::string& what)
{
    const auto it = split.hashes.find(what);
    return it == split.hashes.end() ? std::string() : it->second;
}

std::string shapeText(const TensorSpec& spec)
{
    std::string text = base::dtypeName(spec.dtype);
    for (const Dim& dim : spec.shape) {
        text += text.find('[') == std::string::npos ? " [" : ", ";
        text += std::holds_alternative<std::int64_t>(dim) ? std::to_string(std::get<std::int64_t>(dim))
                                                          : std::get<std::string>(dim);
    }
    return spec.shape.empty() ? text : text + "]";
}

const TensorSpec* specOf(const Split& split, ir::ValueId value)
{
    const auto it = std::ranges::find(split.tensors, value, &TensorSpec::value);
    return it == split.tensors.end() ? nullptr : &*it;
}

// Documents of earlier versions have none.
bool hasLabels(const Split& split)
{
    return std::ranges::none_of(split.tensors, [](const TensorSpec& spec) { return spec.label.empty(); });
}

// The names of values: the readable ones, or, if one of two documents lacks them, the ids.
struct Naming {
    const Split& split;
    bool labels = true;

    std::string operator()(ir::ValueId value) const
    {
        const TensorSpec* const spec = specOf(split, value);
        if (spec != nullptr && !spec->name.empty()) return spec->name;
        return spec == nullptr || !labels ? ir::valueName(value) : spec->label;
    }
};

using Named = std::map<std::string, std::string>;  // descriptions by name

Named tensorsOf(const Split& split, const std::vector<ir::ValueId>& values)
{
    Named named;
    for (const ir::ValueId value : values)
        if (const TensorSpec* spec = specOf(split, value)) named[spec->name] = shapeText(*spec);
    return named;
}

Named checkpointsOf(const Naming& naming)
{
    Named named;
    for (const SplitCheckpoint& c : naming.split.checkpoints)
        named[naming(c.value)] = "stored by stage " + std::to_string(c.stage.number);
    return named;
}

std::string listOf(const Naming& naming, const std::vector<ir::ValueId>& values)
{
    std::string text;
    for (const ir::ValueId v : values) text += (text.empty() ? " " : ", ") + naming(v);
    return text;
}

Named stagesOf(const Naming& naming)
{
    Named named;
    for (const SplitStage& stage : naming.split.stages) {
        std::string text = "in batches of";
        for (const std::string& type : stage.destinations) text += " " + type;
        text += "; reads" + listOf(naming, stage.inputs) + "; produces" + listOf(naming, stage.outputs);
        named[std::to_string(stage.index.number)] = text;
    }
    return named;
}

std::string verdictOf(const Split& split)
{
    return split.verification ? base::nameOf(split.verification->verdict) : "not verified";
}

class Differences {
public:
    void compare(const std::string& what, const std::string& a, const std::string& b)
    {
        if (a != b) m_found.push_back(what + ": " + orNone(a) + " there, " + orNone(b) + " here");
    }

    void compare(const std::string& what, const Named& a, const Named& b)
    {
        for (const auto& [name, text] : a) {
            const auto other = b.find(name);
            if (other == b.end()) m_found.push_back(what + " " + name + ": only there (" + text + ")");
            else compare(what + " " + name, text, other->second);
        }
        for (const auto& [name, text] : b)
            if (!a.contains(name)) m_found.push_back(what + " " + name + ": only here (" + text + ")");
    }

    void files(const Split& a, const Split& b)
    {
        const std::pair<const char*, const char*> kinds[] = {{"model", "the model files differ"},
                                                             {"data", "the data differ"},
                                                             {"roles", "the roles of inputs differ"},
                                                             {"plan", "the plans differ"}};
        for (const auto& [what, sentence] : kinds)
            if (hashOf(a, what) != hashOf(b, what)) m_found.emplace_back(sentence);
    }

    std::vector<std::string> take() { return std::move(m_found); }

private:
    static std::string orNone(const std::string& text) { return text.empty() ? "nothing" : text; }

    std::vector<std::string> m_found;
};

}  // namespace

std::vector<std::string> differences(const Split& a, const Split& b)
{
    const bool labels = hasLabels(a) && hasLabels(b);
    const Naming there{a, labels}, here{b, labels};
    Differences found;
    found.files(a, b);
    found.compare("tool", a.tool, b.tool);
    found.compare("strategy", base::nameOf(a.strategy), base::nameOf(b.strategy));
    found.compare("input", tensorsOf(a, a.inputs), tensorsOf(b, b.inputs));
    found.compare("output", tensorsOf(a, a.outputs), tensorsOf(b, b.outputs));
    found.compare("stage", stagesOf(there), stagesOf(here));
    found.compare("value", checkpointsOf(there), checkpointsOf(here));
    found.compare("verdict", verdictOf(a), verdictOf(b));
    return found.take();
}

}  // namespace hopscope::schema
