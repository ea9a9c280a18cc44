#include "graphview/fold/module_runs.h"

namespace hopscope::graphview {

namespace {

// Shorter runs are as easily read one by one, and more so where all of the model is small.
constexpr std::size_t shortRun = 4, longRun = longestRow + 1;
constexpr int largeModel = 260;  // operators

std::size_t mix(std::size_t seed, std::size_t value) { return (seed ^ value) * 0x9E3779B97F4A7C15ull + (seed >> 29); }

class Runs {
public:
    explicit Runs(models::ModuleTree& tree)
        : m_tree(tree),
          m_least(tree.modules.front().opCount >= largeModel ? shortRun : longRun)
    {}
    void makeRuns(int module);

private:
    std::vector<int> grouped(int module);
    int makeRun(int parent, const std::vector<int>& members);

    models::ModuleTree& m_tree;
    std::size_t m_least;  // layers in a run
};

int Runs::makeRun(int parent, const std::vector<int>& members)
{
    const int index = static_cast<int>(m_tree.modules.size());
    const auto& modules = m_tree.modules;
    models::Module run;
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

// The children with runs of identical neighbours put together.
std::vector<int> Runs::grouped(int index)
{
    const std::vector<int> children = m_tree.modules[index].children;
    std::vector<int> result;
    for (std::size_t begin = 0; begin < children.size();) {
        std::size_t end = begin + 1;
        const auto& first = m_tree.modules[children[begin]];
        while (end < children.size() && m_tree.modules[children[end]].signature == first.signature) ++end;
        const std::vector<int> members(children.begin() + begin, children.begin() + end);
        if (members.size() >= m_least && first.opCount > 1) result.push_back(makeRun(index, members));
        else result.insert(result.end(), members.begin(), members.end());
        begin = end;
    }
    return result;
}

void Runs::makeRuns(int index)
{
    for (int child : std::vector<int>(m_tree.modules[index].children)) makeRuns(child);
    std::vector<int> children = grouped(index);
    m_tree.modules[index].children = std::move(children);
}

}  // namespace

models::ModuleTree withRuns(models::ModuleTree tree)
{
    Runs(tree).makeRuns(0);
    return tree;
}

}  // namespace hopscope::graphview
