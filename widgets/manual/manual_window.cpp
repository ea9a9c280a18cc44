#include "manual/manual_window.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScreen>
#include <QShortcut>
#include <QSplitter>
#include <QVBoxLayout>
#include <functional>

#include "style/icon.h"

namespace hopscope::manual {

namespace {

constexpr int pageRole = Qt::UserRole;

QString pageOf(const QTreeWidgetItem* item) { return item->data(0, pageRole).toString(); }

QVector<QTreeWidgetItem*> itemsOf(const QTreeWidget* tree)
{
    QVector<QTreeWidgetItem*> all;
    for (QTreeWidgetItemIterator at(const_cast<QTreeWidget*>(tree)); *at != nullptr; ++at) all.append(*at);
    return all;
}

}  // namespace

ManualWindow::ManualWindow(QWidget* parent)
    : QDialog(parent, Qt::Window),
      m_view(new PageView(this)),
      m_contents(new QTreeWidget(this)),
      m_search(new QLineEdit(this))
{
    setObjectName(QStringLiteral("manual"));
    setWindowIcon(style::applicationIcon());
    setAttribute(Qt::WA_QuitOnClose, false);
    m_view->setObjectName(QStringLiteral("manualPage"));
    m_view->setAccessibleName(tr("Page"));
    auto* middle = new QSplitter(this);
    middle->setObjectName(QStringLiteral("manualSplit"));
    middle->addWidget(m_contents);
    middle->addWidget(m_view);
    middle->setStretchFactor(1, 1);
    middle->setSizes({230, 810});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeTools());
    column->addWidget(middle, 1);
    fillContents();
    makeKeys();
    connect(m_view, &PageView::placeChanged, this, &ManualWindow::placeChanged);
    resize(QSize(1040, 780).boundedTo(screen()->availableSize()));
}

QWidget* ManualWindow::makeTools()
{
    auto* bar = new QWidget(this);
    bar->setObjectName(QStringLiteral("manualTools"));
    bar->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 6, 8, 6);
    m_back = addTool(*row, QStringLiteral("manualBack"), tr("Back"), QStringLiteral("Alt+Left"));
    m_forward = addTool(*row, QStringLiteral("manualForward"), tr("Forward"), QStringLiteral("Alt+Right"));
    connect(m_back, &QToolButton::clicked, this, [this] { m_view->go(-1); });
    connect(m_forward, &QToolButton::clicked, this, [this] { m_view->go(+1); });
    row->addStretch(1);
    m_search->setObjectName(QStringLiteral("manualSearch"));
    m_search->setPlaceholderText(tr("Search all pages (Ctrl+F)"));
    m_search->setAccessibleName(tr("Search all pages"));
    m_search->setClearButtonEnabled(true);
    m_search->setFixedWidth(300);
    connect(m_search, &QLineEdit::textChanged, this, &ManualWindow::search);
    connect(m_search, &QLineEdit::returnPressed, this, [this] { findNext(); });
    row->addWidget(m_search);
    return bar;
}

QToolButton* ManualWindow::addTool(QLayout& row, const QString& name, const QString& text, const QString& keys)
{
    auto* tool = new QToolButton(this);
    tool->setObjectName(name);
    tool->setAccessibleName(text);
    tool->setToolTip(QStringLiteral("%1 (%2)").arg(text, QKeySequence(keys).toString(QKeySequence::NativeText)));
    tool->setShortcut(QKeySequence(keys));
    row.addWidget(tool);
    return tool;
}

void ManualWindow::makeKeys()
{
    const std::pair<const char*, std::function<void()>> keys[] = {
        {"Ctrl+F", [this] { m_search->setFocus(), m_search->selectAll(); }},
        {"F3", [this] { findNext(); }},
        {"Shift+F3", [this] { findNext(true); }},
        {"Ctrl+W", [this] { close(); }},
    };
    for (const auto& [key, act] : keys)
        connect(new QShortcut(QKeySequence(QLatin1String(key)), this), &QShortcut::activated, this, act);
}

void ManualWindow::fillContents()
{
    m_contents->setObjectName(QStringLiteral("manualContents"));
    m_contents->setAccessibleName(tr("Contents"));
    m_contents->setHeaderHidden(true);
    m_contents->setIndentation(14);
    m_contents->setMinimumWidth(150);
    m_contents->header()->setAccessibleName(tr("Contents"));
    QVector<QTreeWidgetItem*> above{m_contents->invisibleRootItem()};
    for (const Entry& entry : contents()) {
        above.resize(std::min<qsizetype>(entry.level + 1, above.size()));
        auto* item = new QTreeWidgetItem(above.last(), {entry.title});
        item->setData(0, pageRole, entry.page);
        item->setToolTip(0, entry.title);
        if (!entry.page.isEmpty()) continue;
        item->setFlags(Qt::ItemIsEnabled);
        QFont font = item->font(0);
        font.setWeight(QFont::DemiBold);
        item->setFont(0, font);
        above.append(item);
    }
    m_contents->expandAll();
    connect(m_contents, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
        if (item != nullptr && !pageOf(item).isEmpty() && pageOf(item) != m_view->place().page)
            m_view->open({pageOf(item), {}});
    });
}

void ManualWindow::openAt(const Place& place)
{
    m_view->open(place);
    if (isMinimized()) showNormal();
    show();
    raise();
    activateWindow();
    m_view->setFocus();
}

void ManualWindow::setTheme(const style::Theme& theme)
{
    m_back->setIcon(style::icon(QStringLiteral("back"), theme));
    m_forward->setIcon(style::icon(QStringLiteral("forward"), theme));
    m_view->setTheme(theme);
}

void ManualWindow::placeChanged(const Place& place)
{
    m_back->setEnabled(m_view->canGo(-1));
    m_forward->setEnabled(m_view->canGo(+1));
    setWindowTitle(tr("%1 – Documentation").arg(title(place.page)));
    const QSignalBlocker quiet(m_contents);
    for (QTreeWidgetItem* item : itemsOf(m_contents))
        if (pageOf(item) == place.page) m_contents->setCurrentItem(item);
}

void ManualWindow::search(const QString& text)
{
    const QString wanted = text.simplified();
    for (QTreeWidgetItem* item : itemsOf(m_contents))
        item->setHidden(!pageOf(item).isEmpty() && !words(pageOf(item)).contains(wanted, Qt::CaseInsensitive));
    const QVector<QTreeWidgetItem*> all = itemsOf(m_contents);
    for (qsizetype i = all.size(); i-- > 0;) {  // a section is shown with its pages
        bool filled = false;
        for (int child = 0; child < all[i]->childCount(); ++child) filled = filled || !all[i]->child(child)->isHidden();
        if (pageOf(all[i]).isEmpty()) all[i]->setHidden(!filled);
    }
    m_view->setMarked(wanted);
}

QStringList ManualWindow::shownPages() const
{
    QStringList pages;
    for (const QTreeWidgetItem* item : itemsOf(m_contents))
        if (!pageOf(item).isEmpty() && !item->isHidden()) pages << pageOf(item);
    return pages;
}

bool ManualWindow::findIn(bool backwards)
{
    return m_view->find(m_search->text().simplified(),
                        backwards ? QTextDocument::FindBackward : QTextDocument::FindFlags());
}

void ManualWindow::findNext(bool backwards)
{
    if (m_search->text().simplified().isEmpty() || findIn(backwards)) return;
    const QStringList pages = shownPages();
    qsizetype at = pages.indexOf(m_view->place().page);
    for (qsizetype tried = 0; tried < pages.size(); ++tried) {
        at = (at + (backwards ? -1 : 1) + pages.size()) % pages.size();
        if (pages[at] != m_view->place().page) m_view->open({pages[at], {}});
        m_view->moveCursor(backwards ? QTextCursor::End : QTextCursor::Start);
        if (findIn(backwards)) return;
    }
}

}  // namespace hopscope::manual
