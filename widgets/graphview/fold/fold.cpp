#include "graphview/fold/fold.h"

#include <algorithm>
#include <map>

#include "graphview/fold/fold_builder.h"
#include "graphview/fold/words.h"

namespace hopscope::graphview {

namespace {

int countLeaders(FoldModel& fold, int module)
{
    int count = 0;
    for (const auto [op] : fold.tree.modules[module].ops) count += fold.leaders[op] == op ? 1 : 0;
    for (int child : fold.tree.modules[module].children) count += countLeaders(fold, child);
    return fold.leaderCount[module] = count;
}

// How many nodes a module shows if it is open and all below it are closed.
int shownCount(const FoldModel& fold, int module)
{
    int count = 0;
    for (const auto [op] : fold.tree.modules[module].ops) count += fold.leaders[op] == op ? 1 : 0;
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

}  // namespace

int VisibleGraph::nodeByKey(const QString& key) const
{
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].key == key) return static_cast<int>(i);
    return -1;
}

FoldModel prepareFold(const protocol::ModelRecord& model, const models::ModuleTree* tree)
{
    FoldModel fold{&model, withRuns(tree ? *tree : models::buildModuleTree(model)), leadersOf(model), {}};
    fold.leaderCount.resize(fold.tree.modules.size());
    countLeaders(fold, 0);
    return fold;
}

FoldState initialFold(const FoldModel& fold, int budget)
{
    FoldState state;
    std::vector<int> level{0};
    int shown = shownCount(fold, 0);
    while (!level.empty()) {
        std::vector<int> opened;
        for (const auto& group : nextGroups(fold, level)) {
            int opening = shown;
            for (int module : group)
                if (fold.foldable(module)) opening += shownCount(fold, module) - 1;
            if ((opening > budget && shown > 3) || opening > 4 * budget) continue;
            shown = opening;
            state.expanded.unite(pathsOf(fold, group));
            opened.insert(opened.end(), group.begin(), group.end());
        }
        level = std::move(opened);
    }
    return state;
}

FoldState fullyExpanded(const FoldModel& fold)
{
    FoldState state;
    for (std::size_t i = 1; i < fold.tree.modules.size(); ++i) {
        state.expanded.insert(fold.tree.modules[i].path);
        state.expanded.insert(structureKey(fold.tree.modules[i].path));
    }
    state.expanded.insert(structureKey({}));
    state.expanded.insert(wholePrologueKey());
    return state;
}

QString enclosing(const FoldModel& fold, const FoldState& state, const VisibleNode& node)
{
    if (node.prologue) return enclosingStructure(fold, state, node);
    if (node.op < 0) return {};
    int module = node.module >= 0 ? fold.tree.modules[node.module].parent : fold.tree.moduleOf[node.op];
    while (module > 0 && !(fold.foldable(module) && state.expanded.contains(fold.tree.modules[module].path)))
        module = fold.tree.modules[module].parent;
    return module > 0 ? fold.tree.modules[module].path : QString();
}

VisibleGraph visibleGraph(const FoldModel& fold, const FoldState& state) { return FoldBuilder(fold, state).build(); }

}  // namespace hopscope::graphview
