#pragma once

// The index arithmetic shared by all trees: the nodes are in one list, and each names its parent and children. The list
// is replaced as a whole.

#include <QAbstractItemModel>
#include <vector>

#include "models/roles.h"

namespace hopscope::models {

// A tree model. `Node` has `int parent` (-1: top level; always before its children) and `std::vector<int> children`.
// `Column` is an enum class whose last member is Count.
template <class Node, class Column>
class TreeModel : public QAbstractItemModel {
public:
    using QAbstractItemModel::QAbstractItemModel;

    void setNodes(std::vector<Node> nodes)
    {
        beginResetModel();
        m_nodes = std::move(nodes);
        link();
        endResetModel();
    }
    [[nodiscard]] const std::vector<Node>& nodes() const { return m_nodes; }
    [[nodiscard]] const Node& node(const QModelIndex& index) const { return m_nodes[index.internalId()]; }
    // Returns an invalid index if a number is out of range.
    [[nodiscard]] QModelIndex indexOf(int node, int column = 0) const
    {
        if (node < 0 || static_cast<std::size_t>(node) >= m_nodes.size()) return {};
        return createIndex(m_places[static_cast<std::size_t>(node)], column, static_cast<quintptr>(node));
    }

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const final
    {
        const std::vector<int>& siblings = parent.isValid() ? node(parent).children : m_top;
        if (parent.isValid() && parent.column() != 0) return {};
        if (row < 0 || static_cast<std::size_t>(row) >= siblings.size() || column < 0 || column >= columnCount())
            return {};
        return createIndex(row, column, static_cast<quintptr>(siblings[static_cast<std::size_t>(row)]));
    }
    [[nodiscard]] QModelIndex parent(const QModelIndex& index) const final
    {
        return index.isValid() ? indexOf(node(index).parent) : QModelIndex();
    }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final
    {
        if (parent.column() > 0) return 0;
        return static_cast<int>(parent.isValid() ? node(parent).children.size() : m_top.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex& = {}) const final { return static_cast<int>(Column::Count); }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const final
    {
        if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
        return cell(node(index), static_cast<Column>(index.column()), role);
    }
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const final
    {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
        return header(static_cast<Column>(section), role);
    }

protected:
    [[nodiscard]] virtual QVariant cell(const Node& node, Column column, int role) const = 0;
    [[nodiscard]] virtual QVariant header(Column column, int role) const = 0;

private:
    void link()
    {
        m_top.clear();
        m_places.assign(m_nodes.size(), 0);
        for (Node& each : m_nodes) each.children.clear();
        for (std::size_t at = 0; at < m_nodes.size(); ++at) {
            const int above = m_nodes[at].parent;
            std::vector<int>& siblings = above < 0 ? m_top : m_nodes[static_cast<std::size_t>(above)].children;
            m_places[at] = static_cast<int>(siblings.size());
            siblings.push_back(static_cast<int>(at));
        }
    }

    std::vector<Node> m_nodes;
    std::vector<int> m_top, m_places;  // m_places: the row of each node under its parent
};

}  // namespace hopscope::models
