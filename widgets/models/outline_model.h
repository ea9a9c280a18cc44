#pragma once

// The modules of a model with their operators as leaves, for the outline.

#include <QSortFilterProxyModel>

#include "models/document.h"
#include "models/selection.h"
#include "models/tree_model.h"

namespace hopscope::models {

struct OutlineNode {
    enum class Kind { Module, Structure, Op };  // Structure: the structure-only operators of a module, folded together
    int parent = -1;
    std::vector<int> children;
    Kind kind = Kind::Module;
    int module = 0;  // index into the tree; for operators: the module they are in
    protocol::OpId op;
    int depth = 0;  // for a module: the largest depth in it
};

// Returns modules and operators in execution order, with structure-only operators last in their module. Takes linear
// time.
std::vector<OutlineNode> outlineNodes(const protocol::ModelRecord& model, const ModuleTree& tree);

enum class OutlineColumn { Name, Count };

// Shows the outline. Labels are computed only when they are shown, so that a large model appears at once.
class OutlineModel : public TreeModel<OutlineNode, OutlineColumn> {
    Q_OBJECT
public:
    using TreeModel::TreeModel;
    void setModel(ModelPtr model, PartsPtr parts);  // null: nothing is open

    // Returns the node that shows a target; for a value, the node of its operator. -1 if there is none.
    [[nodiscard]] int find(const Target& target) const;
    // Returns, for each node, whether it shows one of the operators or contains a node that does.
    [[nodiscard]] std::vector<char> withOps(const std::vector<protocol::OpId>& ops) const;

protected:
    [[nodiscard]] QVariant cell(const OutlineNode& node, OutlineColumn column, int role) const override;
    [[nodiscard]] QVariant header(OutlineColumn column, int role) const override;

private:
    [[nodiscard]] const Module& moduleOf(const OutlineNode& node) const;
    [[nodiscard]] QString label(const OutlineNode& node) const;
    [[nodiscard]] QString tip(const OutlineNode& node) const;
    [[nodiscard]] Target targetOf(const OutlineNode& node) const;

    ModelPtr m_model;
    PartsPtr m_parts;
    base::IdVector<protocol::OpId, int> m_nodeOfOp;
    std::vector<int> m_nodeOfModule;
};

// Filters the outline to the results of a search.
class OutlineFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setKept(std::vector<char> kept);  // by node of the OutlineModel; empty: everything

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    std::vector<char> m_kept;
};

}  // namespace hopscope::models
