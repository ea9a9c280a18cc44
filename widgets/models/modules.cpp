#include "models/modules.h"

#include <QHash>
#include <algorithm>
#include <functional>

namespace hopscope::models {

namespace {

class Builder {
public:
    explicit Builder(const protocol::ModelRecord& model) : m_model(model) { m_tree.modules.emplace_back(); }
    ModuleTree build();

private:
    int moduleAt(const QString& path);
    void addOps();
    void sumUp(int module);
    void markIdentical(int module);

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
        if (!op.structureOnly) module.ops.emplace_back(i);
    }
}

std::size_t mix(std::size_t seed, std::size_t value) { return (seed ^ value) * 0x9E3779B97F4A7C15ull + (seed >> 29); }

void Builder::sumUp(int index)
{
    const std::vector<int> children = m_tree.modules[index].children;
    for (int child : children) sumUp(child);
    Module& module = m_tree.modules[index];
    module.opCount = static_cast<int>(module.ops.size());
    module.firstOp = module.ops.empty() ? protocol::OpId() : module.ops.front();
    module.signature = qHash(module.type);
    for (const protocol::OpId op : module.ops)
        module.signature = mix(module.signature, std::hash<std::string>{}(m_model.ops[op].name));
    for (int child : children) {
        const Module& part = m_tree.modules[child];
        module.opCount += part.opCount;
        module.signature = mix(mix(module.signature, qHash(part.name)), part.signature);
        if (!module.firstOp.valid() || (part.firstOp.valid() && part.firstOp < module.firstOp))
            module.firstOp = part.firstOp;
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

ModuleTree Builder::build()
{
    addOps();
    sumUp(0);
    const auto earlier = [this](int a, int b) { return m_tree.modules[a].firstOp < m_tree.modules[b].firstOp; };
    for (Module& module : m_tree.modules) std::stable_sort(module.children.begin(), module.children.end(), earlier);
    markIdentical(0);
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

}  // namespace hopscope::models
