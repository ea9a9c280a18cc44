#include "panels/outline.h"

#include <QHeaderView>
#include <QPainter>
#include <QShortcut>

#include "models/labels.h"
#include "style/depth_scale.h"

namespace hopscope::panels {

namespace {

constexpr int chipWidth = 26;
constexpr int chipMargin = 8;
constexpr std::size_t mostOpened = 1500;  // operators found; above that only their modules are expanded

QRect chipRect(const QRect& row, int textHeight)
{
    const int height = std::min(row.height() - 4, textHeight + 2);
    return {row.right() - chipWidth - chipMargin, row.center().y() - height / 2 + 1, chipWidth, height};
}

}  // namespace

void DepthDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->font.setBold(index.model()->hasChildren(index) && !index.data(models::MutedRole).toBool());
    if (index.data(models::MutedRole).toBool()) option->palette.setColor(QPalette::Text, m_theme.textMuted);
    option->textElideMode = Qt::ElideRight;
}

void DepthDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyleOptionViewItem text = option;
    const QVariant depth = index.data(models::DepthRole);
    if (depth.isValid()) {
        QStyleOptionViewItem row = option;
        initStyleOption(&row, index);
        row.text.clear();
        option.widget->style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &row, painter, option.widget);
        text.rect.setRight(chipRect(option.rect, option.fontMetrics.height()).left() - 4);
    }
    QStyledItemDelegate::paint(painter, text, index);
    if (!depth.isValid()) return;
    const QRect chip = chipRect(option.rect, option.fontMetrics.height());
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(m_theme.nodeBorder, 1));
    const int step = style::depthStep(depth.toInt(), m_deepest, static_cast<int>(m_theme.depth.size()));
    painter->setBrush(m_theme.depthColour(step));
    painter->drawRoundedRect(QRectF(chip).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    painter->setPen(m_theme.depthTextColour(step));
    painter->drawText(chip, Qt::AlignCenter, depth.toString());
    painter->restore();
}

QSize DepthDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(std::max(size.height(), option.fontMetrics.height() + 8));
    return size;
}

Outline::Outline(const Context& context, QWidget* parent)
    : Panel(parent),
      m_context(context),
      m_search(new QLineEdit(this)),
      m_tree(new QTreeView(this)),
      m_delegate(new DepthDelegate(m_tree))
{
    setObjectName(QStringLiteral("outline"));
    m_search->setObjectName(QStringLiteral("outlineSearch"));
    m_search->setPlaceholderText(tr("Search name, module, shape…"));
    m_search->setAccessibleName(tr("Search the outline"));
    m_search->setClearButtonEnabled(true);
    setupTree();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 8, 0, 0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(10, 0, 10, 0);
    top->addWidget(m_search);
    layout->addLayout(top);
    layout->addWidget(m_tree, 1);
    connect(&context.document, &models::Document::modelChanged, this, &Outline::reload);
    connect(&context.selection, &models::Selection::changed, this, &Outline::follow);
    connect(m_search, &QLineEdit::textChanged, this, &Outline::search);
    connect(m_search, &QLineEdit::returnPressed, m_tree, [this] {
        m_tree->setFocus();
        if (!m_tree->currentIndex().isValid()) m_tree->setCurrentIndex(m_filter.index(0, 0));
    });
    reload();
}

void Outline::setupTree()
{
    m_filter.setSourceModel(&m_model);
    m_tree->setObjectName(QStringLiteral("outlineTree"));
    m_tree->setAccessibleName(tr("Modules and operators"));
    m_tree->setModel(&m_filter);
    m_tree->setItemDelegate(m_delegate);
    m_tree->setHeaderHidden(true);
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(10);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_tree->setExpandsOnDoubleClick(true);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &Outline::select);
}

void Outline::setTheme(const style::Theme& theme)
{
    m_delegate->setTheme(theme);
    m_tree->viewport()->update();
}

// Expands small models fully, large ones to their layers; structure-only groups stay folded.
void Outline::reload()
{
    const models::ModelPtr& model = m_context.document.model();
    const QSignalBlocker quiet(m_tree->selectionModel());
    m_model.setModel(model, m_context.document.parts());
    m_delegate->setDeepest(m_model.nodes().empty() ? 0 : m_model.nodes().front().depth);
    search(m_search->text());
}

void Outline::search(const QString& text)
{
    const models::PartsPtr& parts = m_context.document.parts();
    const bool searching = parts && !text.trimmed().isEmpty();
    const auto found = searching ? parts->search.find(text) : std::vector<protocol::OpId>();
    m_filter.setKept(searching ? m_model.withOps(found) : std::vector<char>());
    if (searching) return found.size() <= mostOpened ? m_tree->expandAll() : m_tree->expandToDepth(1);
    m_tree->collapseAll();
    const bool small = m_model.nodes().size() < 200;
    for (std::size_t at = 0; at < m_model.nodes().size(); ++at) {
        const models::OutlineNode& node = m_model.nodes()[at];
        const bool open = node.kind == models::OutlineNode::Kind::Module && (small || node.parent < 0);
        if (open) m_tree->expand(m_filter.mapFromSource(m_model.indexOf(static_cast<int>(at))));
    }
    follow(m_context.selection.current());
}

void Outline::follow(const models::Target& target)
{
    const models::ModelPtr& model = m_context.document.model();
    if (!model || m_following) return;
    const QModelIndex index = m_filter.mapFromSource(m_model.indexOf(m_model.find(target)));
    const QSignalBlocker quiet(m_tree->selectionModel());
    m_tree->setCurrentIndex(index);
    if (index.isValid()) m_tree->scrollTo(index);
    m_tree->viewport()->update();
}

void Outline::select(const QModelIndex& index)
{
    const QVariant target = index.data(models::TargetRole);
    if (!target.isValid()) return;
    m_following = true;
    m_context.selection.reveal(target.value<models::Target>());
    m_following = false;
}

Panel* makeOutline(const Context& context, QWidget* parent) { return new Outline(context, parent); }

}  // namespace hopscope::panels
