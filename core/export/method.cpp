#include "export/method.h"

#include <algorithm>

namespace hopscope::exporter {

std::string Method::fresh(const std::string& wanted)
{
    const std::string stem = identifier(wanted);
    std::string name = stem;
    for (int n = 2; !m_taken.insert(name).second; ++n) name = stem + "_" + std::to_string(n);
    return name;
}

std::string Method::parameter(const std::string& wanted, bool number)
{
    m_parameters.push_back({fresh(wanted), number});
    return m_parameters.back().name;
}

std::string Method::assign(const std::string& wanted, const Text& value) { return unpack({wanted}, value).front(); }

std::vector<std::string> Method::unpack(const std::vector<std::string>& wanted, const Text& value)
{
    std::vector<std::string>& known = m_assigned[std::to_string(wanted.size()) + " " + value.python];
    if (!known.empty()) return known;
    Statement statement{.targets = {}, .value = value, .comment = m_comment};
    for (const std::string& name : wanted) statement.targets.push_back(fresh(name));
    m_statements.push_back(statement);
    return known = statement.targets;
}

void Method::check(const Text& condition, const std::string& complaint)
{
    m_statements.push_back({.targets = {}, .value = condition + ", " + quoted(complaint), .comment = m_comment});
}

void Method::prune()
{
    std::set<std::string> live;
    const auto need = [&live](const std::string& code) {
        for (std::string& name : namesIn(code)) live.insert(std::move(name));
    };
    need(m_result.python);
    std::vector<Statement> kept;
    for (auto each = m_statements.rbegin(); each != m_statements.rend(); ++each) {
        const auto wanted = [&live](const std::string& name) { return live.contains(name); };
        if (!each->targets.empty() && std::ranges::none_of(each->targets, wanted)) continue;
        for (std::string& target : each->targets)
            if (each->targets.size() > 1 && !wanted(target)) target = "_";
        need(each->value.python);
        kept.push_back(std::move(*each));
    }
    m_statements.assign(kept.rbegin(), kept.rend());
    std::erase_if(m_parameters, [&live](const Parameter& p) { return !live.contains(p.name); });
    if (live.contains("device")) findDevice();
}

// New tensors lie where the method's others do.
void Method::findDevice()
{
    const auto tensor = std::ranges::find(m_parameters, false, &Parameter::number);
    const Text device = tensor == m_parameters.end() ? Text("torch.device(\"cpu\")") : Text(tensor->name + ".device");
    m_statements.insert(m_statements.begin(), Statement{.targets = {"device"}, .value = device, .comment = {}});
}

}  // namespace hopscope::exporter
