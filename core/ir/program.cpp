#include "ir/program.h"

namespace hopscope::ir {

std::string modulePath(const std::vector<ModuleFrame>& modules)
{
    std::string path;
    for (const ModuleFrame& frame : modules) path += (path.empty() ? "" : ".") + frame.name;
    return path;
}

std::string valueName(ValueId id) { return "v" + std::to_string(id.index); }
std::string opName(OpId id) { return "op" + std::to_string(id.index); }

std::string describeSource(const Source& source)
{
    if (source.kind == SourceKind::None || source.file.empty()) return {};
    const std::string file = source.file.substr(source.file.find_last_of('/') + 1);
    return file + ":" + std::to_string(source.line);
}

std::string describeOp(const Op& op)
{
    std::string text = op.name;
    const std::string path = modulePath(op.modules);
    if (!path.empty()) text += " in " + path;
    const std::string source = describeSource(op.source);
    if (source.empty()) return text;
    text += " (" + source;
    if (!op.source.text.empty()) text += ": `" + op.source.text + "`";
    return text + ")";
}

const Arg* argument(const Op& op, std::string_view name) { return argument(op, {name}); }

const Arg* argument(const Op& op, std::initializer_list<std::string_view> names)
{
    for (std::size_t i = 0; i < op.argInfo.size() && i < op.args.size(); ++i)
        for (const std::string_view name : names)
            if (op.argInfo[i].name == name) return &op.args[i];
    return nullptr;
}

}  // namespace hopscope::ir
