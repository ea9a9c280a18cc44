#include "graphview/module_tree.h"

#include <QHash>
#include <algorithm>
#include <functional>

namespace hopscope::graphview {

namespace {

constexpr int minRun = 4;           // shorter runs are as easily read one by one
constexpr int minOpsForRuns = 260;  // small models show every layer

class Builder {
public:
    explicit Builder(const protocol::ModelRecord& model) : m_model(model) { m_tree.modules.emplace_back(); }
    ModuleTree build();

private:
    int moduleAt(const QString& path);
    void addOps();
    void sumUp(int module);
    void markIdentical(int module);
    void makeRuns(int module);
    std::vector<int> grouped(int module);
    int makeRun(int parent, const std::vector<int>& members);

    const protocol::ModelRecord& m_model;
    ModuleTree m_tree;
    QHash<QString, int> m_byPath;
};

int Builder::moduleAt(const QString& path)
{
    if (path.isEmpty()) return 0;
    if (const auto known = m_byPath.constFind(path); known != m_byPath.constEnd()) return *known;
    const auto dot = path.lastIndexOf(QLatin1Char('.'));
    const int parent = dot < 0 ? 0 : moduleAt(path.left(dot));
    const int index = static_cast<int>(m_tree.modules.size());
    Module module;
    module.path = path;
    module.name = path.mid(dot + 1);
    module.parent = parent;
    m_tree.modules.push_back(std::move(module));
    m_tree.modules[parent].children.push_back(index);
    m_byPath.insert(path, index);
    return index;
}

void Builder::addOps()
{
    for (std::size_t i = 0; i < m_model.ops.size(); ++i) {
        const auto& op = m_model.ops[i];
        const int index = moduleAt(QString::fromStdString(op.module));
        m_tree.moduleOf.push_back(index);
        Module& module = m_tree.modules[index];
        if (module.type.isEmpty()) module.type = QString::fromStdString(op.moduleType);
        if (!op.structureOnly) module.ops.push_back(static_cast<int>(i));
    }
}

std::size_t mix(std::size_t seed, std::size_t value) { return (seed ^ value) * 0x9E3779B97F4A7C15ull + (seed >> 29); }

void Builder::sumUp(int index)
{
    const std::vector<int> children = m_tree.modules[index].children;
    for (int child : children) sumUp(child);
    Module& module = m_tree.modules[index];
    module.opCount = static_cast<int>(module.ops.size());
    module.firstOp = module.ops.empty() ? -1 : module.ops.front();
    module.signature = qHash(module.type);
    for (int op : module.ops) module.signature = mix(module.signature, std::hash<std::string>{}(m_model.ops[op].name));
    for (int child : children) {
        const Module& part = m_tree.modules[child];
        module.opCount += part.opCount;
        module.signature = mix(mix(module.signature, qHash(part.name)), part.signature);
        if (module.firstOp < 0 || (part.firstOp >= 0 && part.firstOp < module.firstOp)) module.firstOp = part.firstOp;
    }
}

void Builder::markIdentical(int index)
{
    QHash<quint64, int> counts;
    for (int child : m_tree.modules[index].children) ++counts[m_tree.modules[child].signature];
    for (int child : m_tree.modules[index].children) {
        Module& module = m_tree.modules[child];
        if (module.opCount > 1) module.identical = counts[module.signature];
        markIdentical(child);
    }
}

int Builder::makeRun(int parent, const std::vector<int>& members)
{
    const int index = static_cast<int>(m_tree.modules.size());
    const auto& modules = m_tree.modules;
    Module run;
    run.name = QStringLiteral("[%1\u2013%2]").arg(modules[members.front()].name, modules[members.back()].name);
    run.path = modules[parent].path.isEmpty() ? run.name : modules[parent].path + QLatin1Char('.') + run.name;
    run.type = modules[members.front()].type;
    run.parent = parent;
    run.children = members;
    run.repeat = static_cast<int>(members.size());
    run.firstOp = modules[members.front()].firstOp;
    run.signature = mix(modules[members.front()].signature, members.size());
    for (int member : members) run.opCount += modules[member].opCount;
    m_tree.modules.push_back(run);
    for (int member : members) m_tree.modules[member].parent = index;
    return index;
}

// The children with runs of at least `minRun` identical neighbours put together.
std::vector<int> Builder::grouped(int index)
{
    const std::vector<int> children = m_tree.modules[index].children;
    std::vector<int> result;
    for (std::size_t begin = 0; begin < children.size();) {
        std::size_t end = begin + 1;
        const auto& first = m_tree.modules[children[begin]];
        while (end < children.size() && m_tree.modules[children[end]].signature == first.signature) ++end;
        const std::vector<int> members(children.begin() + begin, children.begin() + end);
        if (members.size() >= minRun && first.opCount > 1) result.push_back(makeRun(index, members));
        else result.insert(result.end(), members.begin(), members.end());
        begin = end;
    }
    return result;
}

void Builder::makeRuns(int index)
{
    for (int child : std::vector<int>(m_tree.modules[index].children)) makeRuns(child);
    std::vector<int> children = grouped(index);
    m_tree.modules[index].children = std::move(children);
}

ModuleTree Builder::build()
{
    addOps();
    sumUp(0);
    const auto earlier = [this](int a, int b) { return m_tree.modules[a].firstOp < m_tree.modules[b].firstOp; };
    for (Module& module : m_tree.modules) std::stable_sort(module.children.begin(), module.children.end(), earlier);
    markIdentical(0);
    if (m_tree.modules[0].opCount >= minOpsForRuns) makeRuns(0);
    return std::move(m_tree);
}

}  // namespace

int ModuleTree::find(const QString& path) const
{
    for (std::size_t i = 0; i < modules.size(); ++i)
        if (modules[i].path == path) return static_cast<int>(i);
    return -1;
}

bool ModuleTree::isInside(int module, int ancestor) const
{
    while (module >= 0 && module != ancestor) module = modules[module].parent;
    return module == ancestor;
}

ModuleTree buildModuleTree(const protocol::ModelRecord& model) { return Builder(model).build(); }

}  // namespace hopscope::graphview
