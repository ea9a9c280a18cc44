#include "support/program_text.h"

#include <cctype>
#include <sstream>
#include <stdexcept>

namespace hopscope::test {

namespace {

using ir::Arg;
using ir::ArgList;
using ir::ArgType;

std::string trim(const std::string& s)
{
    const std::size_t a = s.find_first_not_of(" \t"), b = s.find_last_not_of(" \t");
    return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

// Splits at commas outside brackets and quotes.
std::vector<std::string> split(const std::string& s)
{
    std::vector<std::string> parts;
    int depth = 0;
    std::string part;
    bool quoted = false;
    for (char c : s) {
        quoted = quoted != (c == '\'');
        depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
        if (c == ',' && depth == 0 && !quoted) {
            parts.push_back(trim(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!trim(part).empty()) parts.push_back(trim(part));
    return parts;
}

class Reader {
public:
    DrawnProgram out;

    void line(const std::string& text)
    {
        const std::size_t equals = text.find(" = ");
        if (equals == std::string::npos) throw std::runtime_error("no ' = ' in: " + text);
        const std::string left = trim(text.substr(0, equals)), right = trim(text.substr(equals + 3));
        if (left == "out") return outputs(right);
        const std::size_t paren = right.find('(');
        if (paren == std::string::npos) return input(left, right);
        op(split(left), right, paren);
    }

private:
    ir::Value typed(const std::string& type)
    {
        ir::Value v;
        v.id = ir::ValueId(out.program.values.size());
        if (type[0] == 'n') {
            v.kind = ir::ValueKind::Int;
            v.number = std::stod(type.substr(1));
            return v;
        }
        v.dtype = type[0] == 'i'   ? base::DType::Int64
                  : type[0] == 'b' ? base::DType::Bool
                  : type[0] == 'd' ? base::DType::Float64
                                   : base::DType::Float32;
        const std::size_t open = type.find('[');
        for (const std::string& d : split(type.substr(open + 1, type.size() - open - 2)))
            v.shape.push_back(std::stoll(d));
        return v;
    }

    void input(const std::string& name, const std::string& right)
    {
        std::istringstream in(right);
        std::string kind, type;
        in >> kind >> type;
        ir::Value v = typed(type);
        v.name = name;
        v.origin = kind == "weight" ? ir::Origin::Parameter : ir::Origin::Input;
        if (kind != "weight") out.program.inputs.push_back({name, v.id});
        out.names[name] = v.id;
        declare(name, kind);
        out.program.values.push_back(v);
    }

    void declare(const std::string& name, const std::string& kind)
    {
        using analysis::RoleKind;
        const auto read = analysis::parseRole(name + "=" + kind);
        if (!read || read->second.kind == RoleKind::Plain) return;
        analysis::InputRole role = read->second;
        role.overridden = false;
        if (role.kind == RoleKind::Index) role.relation = name;
        if (role.first.empty())
            role.first = role.kind == RoleKind::Edge ? "e" : role.kind == RoleKind::Graph ? "g" : "v";
        if (role.second.empty() && role.kind == RoleKind::Index) role.second = "v";
        if (role.second.empty() && role.kind == RoleKind::Key) role.second = "g";
        out.schema.roles[name] = role;
    }

    Arg argument(const std::string& text, ArgType& type)
    {
        type = ArgType::Other;
        if (text == "none") return Arg{};
        if (text == "true" || text == "false") return type = ArgType::Bool, Arg{text == "true"};
        if (text[0] == '\'') return Arg{text.substr(1, text.size() - 2)};
        if (text[0] == '[') {
            ArgList items;
            ArgType inner = ArgType::Int;
            for (const std::string& s : split(text.substr(1, text.size() - 2))) items.push_back(argument(s, inner));
            type = inner == ArgType::Tensor ? ArgType::TensorList : ArgType::IntList;
            return Arg{std::move(items)};
        }
        if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-') {
            if (text.find('.') != std::string::npos) return type = ArgType::Number, Arg{std::stod(text)};
            return type = ArgType::Int, Arg{static_cast<std::int64_t>(std::stoll(text))};
        }
        const ir::ValueId v = out.names.at(text);
        type = out.program.value(v).kind == ir::ValueKind::Tensor ? ArgType::Tensor : ArgType::Int;
        return Arg{v};
    }

    void op(const std::vector<std::string>& names, const std::string& right, std::size_t paren)
    {
        ir::Op o;
        o.id = ir::OpId(out.program.ops.size());
        o.name = right.substr(0, paren);
        if (const std::size_t dot = o.name.find('.'); dot != std::string::npos) {
            o.overload = o.name.substr(dot + 1);
            o.name.resize(dot);
        }
        const std::size_t arrow = right.find(") -> ");
        for (const std::string& a : split(right.substr(paren + 1, arrow - paren - 1))) {
            const std::size_t eq = a.find('=');
            ir::ArgInfo info{.name = a.substr(0, eq)};
            info.given = info.name.ends_with(':');
            if (info.given) info.name.pop_back();
            o.args.push_back(argument(a.substr(eq + 1), info.type));
            o.argInfo.push_back(info);
        }
        results(o, names, right.substr(arrow + 5));
        out.program.ops.push_back(std::move(o));
    }

    void results(ir::Op& o, const std::vector<std::string>& names, std::string types)
    {
        if (const std::size_t w = types.find(" writes "); w != std::string::npos) {
            std::istringstream in(types.substr(w + 8));
            std::string as;
            in >> o.mutatedArg >> as >> o.functionalName;
            types.resize(w);
        }
        if (types.ends_with(" list")) {
            o.listOutput = true;
            types.resize(types.size() - 5);
        }
        const std::vector<std::string> each = split(types);
        for (std::size_t i = 0; i < names.size(); ++i) {
            ir::Value v = typed(each[i]);
            v.producer = o.id;
            v.output = static_cast<int>(i);
            out.names[names[i]] = v.id;
            o.outputs.push_back(v.id);
            out.program.values.push_back(std::move(v));
        }
    }

    void outputs(const std::string& right)
    {
        const std::vector<std::string> names = split(right);
        for (std::size_t i = 0; i < names.size(); ++i)
            out.program.outputs.push_back(
                {names.size() == 1 ? "out" : "out." + std::to_string(i), out.names.at(names[i])});
    }
};

}  // namespace

DrawnProgram drawProgram(const std::string& text)
{
    Reader reader;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        if (!trim(line).empty()) reader.line(trim(line));
    return std::move(reader.out);
}

}  // namespace hopscope::test
