#include "analysis/naming/value_namer.h"

#include <map>
#include <set>
#include <string_view>

namespace hopscope::analysis {

namespace {

bool within(std::string_view path, std::string_view module)
{
    return path.starts_with(module) && (path.size() == module.size() || path[module.size()] == '.');
}

class Namer {
public:
    Namer(const std::vector<OpToName>& ops, const std::vector<ValueToName>& values)
        : m_ops(ops),
          m_values(values),
          m_producers(values.size(), -1),
          m_consumers(values.size())
    {
        for (std::size_t op = 0; op < ops.size(); ++op) {
            m_modules.insert(ops[op].module);
            for (const ir::ValueId v : ops[op].outputs) m_producers[v.at()] = static_cast<int>(op);
            for (const ir::ValueId v : ops[op].inputs) m_consumers[v.at()].push_back(static_cast<int>(op));
        }
    }

    // The names that values have of their own are never given to others.
    std::vector<std::string> run()
    {
        std::vector<std::string> names(m_values.size());
        for (std::size_t v = 0; v < m_values.size(); ++v) names[v] = unique(ownName(v));
        for (std::size_t v = 0; v < m_values.size(); ++v)
            if (names[v].empty()) names[v] = unique(madeName(v));
        return names;
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    [[nodiscard]] std::string ownName(std::size_t v) const
    {
        if (!m_values[v].name.empty()) return m_values[v].name;
        if (m_producers[v] >= 0 && m_ops[at(m_producers[v])].kind == NodeKind::Input)
            return m_ops[at(m_producers[v])].name;
        for (const int op : m_consumers[v])
            if (m_ops[at(op)].kind == NodeKind::Output) return m_ops[at(op)].name;
        return {};
    }

    [[nodiscard]] std::string madeName(std::size_t v) const
    {
        if (m_producers[v] < 0) return "constant";
        const OpToName& op = m_ops[at(m_producers[v])];
        const std::string word = resultWord(op.kind, op.name);
        if (op.module.empty()) {
            const std::string before = moduleBefore(op);
            return before.empty() ? word : word + " after " + before;
        }
        const std::string left = m_values[v].structureOnly ? std::string() : outermostLeft(v, op.module);
        return left.empty() ? op.module + " " + word : left + " output";
    }

    // The outermost module around the value that something outside of it reads its numbers; empty: none.
    [[nodiscard]] std::string outermostLeft(std::size_t v, const std::string& path) const
    {
        for (std::size_t end = path.find('.'); !path.empty(); end = path.find('.', end + 1)) {
            const std::string module = path.substr(0, end);
            if (m_modules.contains(module) && isReadOutside(v, module)) return module;
            if (end == std::string::npos) break;
        }
        return {};
    }

    [[nodiscard]] bool isReadOutside(std::size_t v, const std::string& module) const
    {
        for (const int op : m_consumers[v])
            if (!m_ops[at(op)].name.starts_with("scalar::") && !within(m_ops[at(op)].module, module)) return true;
        return false;
    }

    // The module whose result an operator outside of all modules works on, where there is one such operand. A few
    // operators back at most.
    [[nodiscard]] std::string moduleBefore(const OpToName& op) const
    {
        constexpr int furthest = 4;
        const OpToName* here = &op;
        for (int steps = 0; steps < furthest; ++steps) {
            const ir::ValueId operand = onlyOperand(*here);
            if (!operand.valid()) return {};
            here = &m_ops[at(m_producers[operand.at()])];
            if (here->module.empty()) continue;
            const std::string left = outermostLeft(operand.at(), here->module);
            return left.empty() ? here->module : left;
        }
        return {};
    }

    // The only operand that an operator has made of features, or none.
    [[nodiscard]] ir::ValueId onlyOperand(const OpToName& op) const
    {
        ir::ValueId found;
        for (const ir::ValueId input : op.inputs) {
            if (m_producers[input.at()] < 0 || m_values[input.at()].structureOnly) continue;
            if (found.valid() && found != input) return {};
            found = input;
        }
        return found;
    }

    // "sum", "sum (2)", ..: the first that is free. No name becomes free again: the search goes on behind the last number.
    std::string unique(const std::string& name)
    {
        if (name.empty() || m_taken.insert(name).second) return name;
        int& number = m_numbers.try_emplace(name, 1).first->second;
        std::string full;
        do full = name + " (" + std::to_string(++number) + ")";
        while (!m_taken.insert(full).second);
        return full;
    }

    const std::vector<OpToName>& m_ops;
    const std::vector<ValueToName>& m_values;
    std::vector<int> m_producers;
    std::vector<std::vector<int>> m_consumers;
    std::set<std::string> m_modules, m_taken;
    std::map<std::string, int> m_numbers;  // the last one given to each name
};

}  // namespace

std::string resultWord(NodeKind kind, std::string_view name)
{
    static const std::map<std::string, std::string> results{{"add", "sum"},
                                                            {"subtract", "difference"},
                                                            {"multiply", "product"},
                                                            {"divide", "quotient"},
                                                            {"negate", "negative"}};
    std::string word = opWord(kind, name);
    const auto it = results.find(word);
    return it == results.end() ? word : it->second;
}

std::vector<std::string> nameValues(const std::vector<OpToName>& ops, const std::vector<ValueToName>& values)
{
    return Namer(ops, values).run();
}

}  // namespace hopscope::analysis
