#include "loader/exported/tree.h"

namespace hopscope::loader::exported {

namespace {

constexpr std::size_t mostParts = 100'000;

std::string keyOf(const json::Value& key)
{
    if (const std::string* const name = key.asString()) return *name;
    if (const std::int64_t* const count = key.asInt()) return std::to_string(*count);
    std::string joined;
    for (std::size_t i = 0; i < key.size() && key.isArray(); ++i)
        joined += (i > 0 ? "__" : "") + keyOf((*key.asArray())[i]);
    return joined;
}

// The context of a dictionary lists its keys; that of a defaultdict has them as its second element.
std::vector<std::string> keysOf(const std::string& context, const std::string& place)
{
    const base::Result<json::Value> parsed = json::parse(context, place);
    if (!parsed) throw Refusal{parsed.error()};
    const json::Array* list = parsed->asArray();
    if (list != nullptr && list->size() == 2 && (*list)[1].isArray() && (*list)[0].isObject())
        list = (*list)[1].asArray();
    std::vector<std::string> keys;
    if (list != nullptr)
        for (const json::Value& key : *list) keys.push_back(keyOf(key));
    return keys;
}

Tree treeOf(const json::Reader& spec, const std::string& place)
{
    Tree tree;
    if (!spec.has("type")) return tree;
    const std::string type = text(spec, "type");
    for (const json::Reader& part : items(spec, "children_spec")) tree.parts.push_back(treeOf(part, place));
    tree.kind = Tree::Kind::Sequence;
    if (type.find("dict") == std::string::npos && type.find("Dict") == std::string::npos) return tree;
    tree.kind = Tree::Kind::Dictionary;
    tree.keys = keysOf(textOr(spec, "context"), place);
    if (tree.keys.size() != tree.parts.size()) spec.refuse("does not have one key for each of its values");
    check(spec);
    return tree;
}

void collect(const Tree& tree, const std::string& name, std::vector<std::string>& out)
{
    if (tree.kind == Tree::Kind::Leaf) out.push_back(name);
    for (std::size_t i = 0; i < tree.parts.size(); ++i) {
        const std::string key = tree.kind == Tree::Kind::Dictionary ? tree.keys[i] : std::to_string(i);
        collect(tree.parts[i], name.empty() ? key : name + "." + key, out);
    }
}

}  // namespace

Tree parseTree(const std::string& text, const std::string& place)
{
    const base::Result<json::Value> parsed = json::parse(text, place);
    if (!parsed) throw Refusal{parsed.error()};
    const json::Reader root(*parsed, place);
    const std::vector<json::Reader> parts = items(root);  // the version of the format, and the structure
    if (parts.size() != 2)
        refuse(base::ErrorCode::Input, place + " is not a structure of tensors", "save the program again");
    return treeOf(parts[1], place);
}

std::vector<std::string> leafNames(const Tree& in, const std::vector<std::string>& names)
{
    std::vector<std::string> leaves;
    if (in.parts.size() != 2 || in.parts[0].parts.size() > mostParts) return leaves;
    const Tree &positional = in.parts[0], &named = in.parts[1];
    for (std::size_t i = 0; i < positional.parts.size(); ++i)
        collect(positional.parts[i], i < names.size() ? names[i] : "arg" + std::to_string(i), leaves);
    collect(named, "", leaves);
    return leaves;
}

}  // namespace hopscope::loader::exported
