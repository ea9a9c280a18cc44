#pragma once

// The modules of a model with their operators as leaves: what the outline shows.

#include <QSortFilterProxyModel>

#include "models/document.h"
#include "models/selection.h"
#include "models/tree_model.h"

namespace hopscope::models {

struct ModuleNode {
    enum class Kind { Module, Structure, Op };  // Structure: the structure-only operators of a module, folded together
    int parent = -1;
    std::vector<int> children;
    Kind kind = Kind::Module;
    QString label, detail;  // "0", "GCNConv"
    QString path;           // of the module; of operators: the one they are in
    int op = -1;            // index into the model
    int depth = 0;          // of a module: the largest below it
    QString search;         // everything a search may mean
};

// Modules and operators in the order of execution, structure-only operators last in their module.
std::vector<ModuleNode> moduleNodes(const protocol::ModelRecord& model);

enum class ModuleColumn { Name, Count };

class ModuleTree : public TreeModel<ModuleNode, ModuleColumn> {
    Q_OBJECT
public:
    static constexpr int SearchRole = Qt::UserRole + 40;
    using TreeModel::TreeModel;

    // The node that shows a target; operators stand for their values. -1: none.
    [[nodiscard]] int find(const Target& target, const protocol::ModelRecord& model) const;

protected:
    [[nodiscard]] QVariant cell(const ModuleNode& node, ModuleColumn column, int role) const override;
    [[nodiscard]] QVariant header(ModuleColumn column, int role) const override;
};

// Keeps what contains every word of the text, with its ancestors; descendants of a match too.
class ModuleFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit ModuleFilter(QObject* parent = nullptr);
    void setText(const QString& text);

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

}  // namespace hopscope::models
