#pragma once

// Shows the module tree: a searchable mirror of the graph for keyboard and screen reader.

#include <QLineEdit>
#include <QStyledItemDelegate>
#include <QTreeView>

#include "models/outline_model.h"
#include "panels/panels.h"

namespace hopscope::panels {

// Paints the depth of a row as a chip at its right end.
class DepthDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void setTheme(const style::Theme& theme) { m_theme = theme; }
    void setDeepest(int depth) { m_deepest = depth; }  // the largest depth of the model, the end of the colour scale
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    style::Theme m_theme;
    int m_deepest = 0;
};

class Outline : public Panel {
    Q_OBJECT
public:
    Outline(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

private:
    void setupTree();
    void reload();
    void search(const QString& text);
    void follow(const models::Target& target);
    void select(const QModelIndex& index);

    Context m_context;
    QLineEdit* m_search;
    QTreeView* m_tree;
    DepthDelegate* m_delegate;
    models::OutlineModel m_model;
    models::OutlineFilter m_filter;
    bool m_following = false;
};

}  // namespace hopscope::panels
