#include "keys_overview.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "dialog_size.h"

namespace hopscope::window {

namespace {

QTreeWidgetItem* groupItem(QTreeWidget* tree, const QString& group)
{
    for (int i = 0; i < tree->topLevelItemCount(); ++i)
        if (tree->topLevelItem(i)->text(0) == group) return tree->topLevelItem(i);
    auto* item = new QTreeWidgetItem(tree, {group});
    QFont font = item->font(0);
    font.setBold(true);
    item->setFont(0, font);
    return item;
}

void fill(QTreeWidget* tree, const ActionBook& actions)
{
    for (const QAction* action : actions.all()) {
        const QString keys = QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText);
        if (keys.isEmpty()) continue;
        new QTreeWidgetItem(groupItem(tree, ActionBook::groupOf(action)),
                            {plainText(action), keys, action->statusTip()});
    }
    tree->expandAll();
    for (int column = 0; column < 2; ++column) tree->resizeColumnToContents(column);
}

}  // namespace

KeysOverview::KeysOverview(const ActionBook& actions, QWidget* parent) : QDialog(parent)
{
    setObjectName(QStringLiteral("keysOverview"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Keys"));
    auto* tree = new QTreeWidget(this);
    tree->setObjectName(QStringLiteral("keysTree"));
    tree->setAccessibleName(tr("Keyboard shortcuts by menu"));
    tree->setHeaderLabels({tr("Action"), tr("Keys"), tr("Description")});
    tree->setSelectionMode(QAbstractItemView::NoSelection);
    fill(tree, actions);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(tree);
    column->addWidget(buttons);
    sizeDialog(*this, {760, 560});
}

}  // namespace hopscope::window
