#include "graphview/fold/fold.h"

#include <algorithm>
#include <map>

#include "graphview/fold/fold_builder.h"

namespace hopscope::graphview {

namespace {

// How many nodes a module shows if it is open and all below it are closed.
int shownCount(const FoldModel& fold, int module)
{
    int count = 0;
    for (const OpId op : fold.tree.modules[module].ops) count += fold.leaders[op] == op ? 1 : 0;
    for (int child : fold.tree.modules[module].children) count += fold.foldable(child) ? 1 : shownCount(fold, child);
    return count;
}

// The modules below `level` of open modules, identical ones in one group, in order of their first operator.
std::vector<std::vector<int>> nextGroups(const FoldModel& fold, const std::vector<int>& level)
{
    std::vector<std::vector<int>> groups;
    std::map<std::size_t, std::size_t> bySignature;
    for (int module : level)
        for (int child : fold.tree.modules[module].children) {
            const auto [place, fresh] = bySignature.try_emplace(fold.tree.modules[child].signature, groups.size());
            if (fresh) groups.emplace_back();
            groups[place->second].push_back(child);
        }
    return groups;
}

QSet<QString> pathsOf(const FoldModel& fold, const std::vector<int>& modules)
{
    QSet<QString> paths;
    for (int module : modules) paths.insert(fold.tree.modules[module].path);
    return paths;
}

// The modules and all that are below them.
std::vector<int> withAllBelow(const FoldModel& fold, std::vector<int> modules)
{
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const std::vector<int>& children = fold.tree.modules[modules[i]].children;
        modules.insert(modules.end(), children.begin(), children.end());
    }
    return modules;
}

// A closed long run says more than a row of boxes: it is opened together with all its contents, or not at all.
FoldState openedWithin(const FoldModel& fold, int budget)
{
    FoldState state;
    std::vector<int> level{0};
    int shown = shownCount(fold, 0);
    while (!level.empty()) {
        std::vector<int> opened;
        for (const auto& group : nextGroups(fold, level)) {
            const bool run = fold.tree.modules[group.front()].repeat > longestRow;
            int opening = shown;
            for (int module : group)
                if (fold.foldable(module)) opening += (run ? fold.leaderCount[module] : shownCount(fold, module)) - 1;
            if ((opening > budget && (run || shown > 3)) || opening > 4 * budget) continue;
            shown = opening;
            state.expanded.unite(pathsOf(fold, run ? withAllBelow(fold, group) : group));
            if (!run) opened.insert(opened.end(), group.begin(), group.end());
        }
        level = std::move(opened);
    }
    return state;
}

// The length of the longest chain of nodes, without the prologue, which is laid out in rows.
int longestPath(const VisibleGraph& graph)
{
    std::vector<int> length(graph.nodes.size(), 1), open(graph.nodes.size(), 0);
    std::vector<std::vector<int>> targets(graph.nodes.size());
    for (const VisibleEdge& edge : graph.edges) {
        targets[edge.from].push_back(edge.to);
        ++open[edge.to];
    }
    std::vector<int> ready;
    for (std::size_t node = 0; node < open.size(); ++node)
        if (open[node] == 0) ready.push_back(static_cast<int>(node));
    int longest = 0;
    while (!ready.empty()) {
        const int node = ready.back();
        ready.pop_back();
        if (!graph.nodes[node].prologue) longest = std::max(longest, length[node]);
        for (const int target : targets[node]) {
            length[target] = std::max(length[target], graph.nodes[node].prologue ? 1 : length[node] + 1);
            if (--open[target] == 0) ready.push_back(target);
        }
    }
    return longest;
}

// The number of stages that a module takes part in, by the plan that came with the model.
int stagesIn(const FoldModel& fold, int module)
{
    const protocol::ModelRecord& model = *fold.model;
    int first = std::numeric_limits<int>::max(), last = 0;
    std::vector<int> below{module};
    while (!below.empty()) {
        const models::Module& record = fold.tree.modules[below.back()];
        below.pop_back();
        for (const protocol::OpId op : record.ops) {
            if (!model.ops[op].stage.valid() || model.ops[op].structureOnly) continue;
            first = std::min(first, model.ops[op].stage.number);
            last = std::max(last, model.ops[op].stage.number);
        }
        below.insert(below.end(), record.children.begin(), record.children.end());
    }
    return last == 0 ? 0 : last - first + 1;
}

// If modules do not fit when all are open, single ones may: those that hide a cut while closed are opened even if this
// makes the picture a bit smaller. Identical modules are treated alike.
FoldState openedSingly(const FoldModel& fold, FoldState state, int longest)
{
    constexpr std::size_t mostTries = 6;
    std::vector<std::pair<int, int>> order;
    for (const VisibleNode& node : visibleGraph(fold, state).nodes) {
        if (node.module <= 0 || node.prologue || node.repeat > longestRow || !fold.foldable(node.module)) continue;
        const int stages = fold.tree.modules[node.module].identical > 1 ? 0 : stagesIn(fold, node.module);
        if (stages > 1) order.emplace_back(-stages, node.module);
    }
    std::ranges::sort(order);
    for (std::size_t i = 0; i < std::min(order.size(), mostTries); ++i) {
        FoldState wider = state;
        wider.expanded.insert(fold.tree.modules[order[i].second].path);
        if (longestPath(visibleGraph(fold, wider)) <= longest + longest / 7) state = std::move(wider);
    }
    return state;
}

}  // namespace

int VisibleGraph::nodeByKey(const QString& key) const
{
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].key == key) return static_cast<int>(i);
    return -1;
}

FoldState initialFold(const FoldModel& fold, int budget, int longest)
{
    constexpr int smallest = 7;
    FoldState first = openedWithin(fold, budget);
    if (longest == std::numeric_limits<int>::max()) return first;
    FoldState state = first;
    for (int nodes = budget; longestPath(visibleGraph(fold, state)) > longest; nodes /= 2) {
        if (nodes < smallest) return first;
        state = openedWithin(fold, nodes / 2);
    }
    return state == first ? first : openedSingly(fold, std::move(state), longest);
}

FoldState modulesExpanded(const FoldModel& fold)
{
    FoldState state;
    for (std::size_t i = 1; i < fold.tree.modules.size(); ++i) state.expanded.insert(fold.tree.modules[i].path);
    return state;
}

FoldState fullyExpanded(const FoldModel& fold)
{
    FoldState state = modulesExpanded(fold);
    for (const auto& module : fold.tree.modules) state.expanded.insert(structureKey(module.path));
    state.expanded.insert(wholePrologueKey());
    return state;
}

QString enclosing(const FoldModel& fold, const FoldState& state, const VisibleNode& node)
{
    if (node.prologue) return enclosingStructure(fold, state, node);
    if (!node.op.valid()) return {};
    int module = node.module >= 0 ? fold.tree.modules[node.module].parent : fold.tree.moduleOf[node.op];
    while (module > 0 && !(fold.foldable(module) && state.expanded.contains(fold.tree.modules[module].path)))
        module = fold.tree.modules[module].parent;
    return module > 0 ? fold.tree.modules[module].path : QString();
}

VisibleGraph visibleGraph(const FoldModel& fold, const FoldState& state, const VisibleGraph* before)
{
    return FoldBuilder(fold, state, before).build();
}

}  // namespace hopscope::graphview
