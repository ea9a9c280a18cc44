#include "docks.h"

#include <QTabBar>
#include <QTimer>

namespace hopscope::window {

const QStringList& perspectiveNames()
{
    static const QStringList names{QStringLiteral("analyse"), QStringLiteral("run"), QStringLiteral("compare"),
                                   QStringLiteral("explain")};
    return names;
}

QString perspectiveTitle(const QString& name)
{
    if (name == u"run") return Docks::tr("Run");
    if (name == u"compare") return Docks::tr("Compare");
    if (name == u"explain") return Docks::tr("Explain");
    return Docks::tr("Analyse");
}

Docks::Docks(QMainWindow& window, const QVector<DockSpec>& specs)
    : QObject(&window),
      m_window(window),
      m_perspective(perspectiveNames().first())
{
    window.setDockNestingEnabled(true);
    window.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window.setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    for (const DockSpec& spec : specs) {
        auto* dock = new QDockWidget(spec.title, &window);
        dock->setObjectName(QStringLiteral("dock.%1").arg(spec.name));
        dock->setAccessibleName(spec.title);
        dock->setWidget(spec.widget);
        connect(dock, &QDockWidget::dockLocationChanged, this, &Docks::quietTitles);
        connect(dock, &QDockWidget::topLevelChanged, this, &Docks::quietTitles);
        m_all.append(dock);
        m_docks[spec.name] = dock;
        m_titles[spec.name] = spec.title;
    }
    arrange();
}

QMap<QString, QByteArray> Docks::layouts() const
{
    QMap<QString, QByteArray> layouts = m_layouts;
    if (m_shown) layouts[m_perspective] = m_window.saveState();
    return layouts;
}

void Docks::setPerspective(const QString& name)
{
    if (!perspectiveNames().contains(name)) return;
    m_layouts = layouts();
    m_perspective = name;
    if (m_shown) restore();
    emit perspectiveChanged(name);
}

void Docks::reset()
{
    m_layouts.remove(m_perspective);
    if (m_shown) arrange();
}

void Docks::setShown(bool shown)
{
    if (shown == m_shown) return;
    m_layouts = layouts();
    m_shown = shown;
    if (shown) return restore();
    for (QDockWidget* dock : m_all) dock->hide();
}

void Docks::setFindings(const QString& name, int count)
{
    const QString& title = m_titles[name];
    m_docks[name]->setWindowTitle(count > 0 ? tr("%1 (%2)").arg(title).arg(count) : title);
}

void Docks::bring(const QString& name)
{
    QDockWidget* dock = m_docks.value(name);
    if (!dock || !m_shown) return;
    dock->show();
    dock->raise();
    quietTitles();
    QTimer::singleShot(0, this, [this, name] { makeRoom(name); });  // its size is known after the layout
}

// Enlarges a dock that other docks have squeezed.
void Docks::makeRoom(const QString& name)
{
    const QDockWidget* const dock = m_docks[name];
    const int usable = std::min(240, m_window.height() * 3 / 10);
    if (m_shown && dock->isVisible() && !dock->isFloating() && dock->height() < usable)
        share({name}, {lowHeight()}, Qt::Vertical);
}

void Docks::reveal(const QString& name)
{
    bring(name);
    QDockWidget* dock = m_docks.value(name);
    if (dock && m_shown && dock->widget()) dock->widget()->setFocus(Qt::OtherFocusReason);
}

void Docks::restore()
{
    const QByteArray state = m_layouts.value(m_perspective);
    if (state.isEmpty() || !m_window.restoreState(state)) return arrange();
    quietTitles();
}

void Docks::place(const QString& name, Qt::DockWidgetArea area)
{
    m_window.addDockWidget(area, m_docks[name]);
    m_docks[name]->show();
}

void Docks::arrange()
{
    for (QDockWidget* dock : m_all) {
        dock->setFloating(false);
        m_window.removeDockWidget(dock);
    }
    for (QDockWidget* dock : m_all) m_window.addDockWidget(Qt::BottomDockWidgetArea, dock);
    for (QDockWidget* dock : m_all) dock->hide();
    if (m_perspective == u"run") arrangeRun();
    else if (m_perspective == u"compare") arrangeCompare();
    else if (m_perspective == u"explain") arrangeExplain();
    else arrangeAnalyse();
    tabifyHidden();
    quietTitles();
}

// Hidden docks need a place for when they are opened: as tabs at the bottom, together with the run if
// that is visible.
void Docks::tabifyHidden()
{
    QDockWidget* const run = m_docks[QStringLiteral("run")];
    QDockWidget* front = run->isHidden() ? nullptr : run;
    for (QDockWidget* dock : m_all) {
        if (!dock->isHidden()) continue;
        if (front != nullptr) m_window.tabifyDockWidget(front, dock);
        else front = dock;
        dock->hide();
    }
    if (!run->isHidden()) run->raise();
}

void Docks::arrangeAnalyse()
{
    place(QStringLiteral("outline"), Qt::LeftDockWidgetArea);
    place(QStringLiteral("inspector"), Qt::RightDockWidgetArea);
    place(QStringLiteral("plan"), Qt::RightDockWidgetArea);
    constexpr int roomForBoth = 600;
    QDockWidget *inspector = m_docks[QStringLiteral("inspector")], *plan = m_docks[QStringLiteral("plan")];
    if (m_window.height() < roomForBoth) m_window.tabifyDockWidget(inspector, plan);
    else m_window.splitDockWidget(inspector, plan, Qt::Vertical);
    for (const QString& name :
         {QStringLiteral("why"), QStringLiteral("tradeOff"), QStringLiteral("history"), QStringLiteral("problems")}) {
        place(name, Qt::RightDockWidgetArea);
        m_window.tabifyDockWidget(plan, m_docks[name]);
    }
    plan->raise();
    const int width = m_window.width();
    share({QStringLiteral("outline"), QStringLiteral("inspector")},
          {std::min(250, width / 5), std::min(400, width * 3 / 10)}, Qt::Horizontal);
    share({QStringLiteral("inspector"), QStringLiteral("plan")}, {560, 360}, Qt::Vertical);
}

// In a low window at least half of the height is left to the graph.
int Docks::lowHeight() const { return std::min(330, m_window.height() * 2 / 5); }

void Docks::arrangeRun()
{
    place(QStringLiteral("plots"), Qt::RightDockWidgetArea);
    place(QStringLiteral("run"), Qt::BottomDockWidgetArea);
    for (const QString& name : {QStringLiteral("log"), QStringLiteral("problems")}) {
        place(name, Qt::BottomDockWidgetArea);
        m_window.tabifyDockWidget(m_docks[QStringLiteral("run")], m_docks[name]);
    }
    m_docks[QStringLiteral("run")]->raise();
    share({QStringLiteral("plots")}, {std::min(760, m_window.width() / 2)}, Qt::Horizontal);
    share({QStringLiteral("run")}, {lowHeight()}, Qt::Vertical);
}

void Docks::arrangeCompare()
{
    place(QStringLiteral("plan"), Qt::RightDockWidgetArea);
    place(QStringLiteral("plots"), Qt::RightDockWidgetArea);
    constexpr int roomForBoth = 950;
    QDockWidget *plan = m_docks[QStringLiteral("plan")], *plots = m_docks[QStringLiteral("plots")];
    if (m_window.width() < roomForBoth) m_window.tabifyDockWidget(plan, plots);
    else m_window.splitDockWidget(plan, plots, Qt::Horizontal);
    for (const QString& name : {QStringLiteral("why"), QStringLiteral("tradeOff"), QStringLiteral("inspector")}) {
        place(name, Qt::RightDockWidgetArea);
        m_window.tabifyDockWidget(m_docks[QStringLiteral("plan")], m_docks[name]);
    }
    m_docks[QStringLiteral("plan")]->raise();
    place(QStringLiteral("run"), Qt::BottomDockWidgetArea);
    const int width = m_window.width();
    share({QStringLiteral("plan"), QStringLiteral("plots")}, {std::min(400, width * 3 / 10), std::min(490, width / 3)},
          Qt::Horizontal);
    share({QStringLiteral("run")}, {lowHeight()}, Qt::Vertical);
}

void Docks::arrangeExplain()
{
    place(QStringLiteral("receptive"), Qt::RightDockWidgetArea);
    for (const QString& name : {QStringLiteral("animation"), QStringLiteral("debugger"), QStringLiteral("tensor"),
                                QStringLiteral("follow"), QStringLiteral("monitor"), QStringLiteral("breakpoints"),
                                QStringLiteral("rules"), QStringLiteral("inspector"), QStringLiteral("plan")}) {
        place(name, Qt::RightDockWidgetArea);
        m_window.tabifyDockWidget(m_docks[QStringLiteral("receptive")], m_docks[name]);
    }
    m_docks[QStringLiteral("receptive")]->raise();
    share({QStringLiteral("receptive")}, {std::min(680, m_window.width() * 17 / 40)}, Qt::Horizontal);
}

// Sets the sizes now and again after the layout of the window: before it is shown sizes do not hold.
void Docks::share(const QStringList& names, const QList<int>& sizes, Qt::Orientation direction)
{
    QList<QDockWidget*> docks;
    for (const QString& name : names) docks.append(m_docks[name]);
    m_window.resizeDocks(docks, sizes, direction);
    QTimer::singleShot(0, this, [this, docks, sizes, direction] { m_window.resizeDocks(docks, sizes, direction); });
}

// A tab already shows the name of its dock, which needs no second title below it.
void Docks::quietTitles()
{
    for (QDockWidget* dock : m_all) {
        const bool tabbed = !dock->isFloating() && !m_window.tabifiedDockWidgets(dock).isEmpty();
        QWidget* bar = dock->titleBarWidget();
        if (tabbed && !bar) {
            bar = new QWidget(dock);
            bar->setObjectName(QStringLiteral("noTitle"));
            dock->setTitleBarWidget(bar);
        } else if (!tabbed && bar) {
            dock->setTitleBarWidget(nullptr);
            bar->deleteLater();
        }
    }
    for (QTabBar* tabs : m_window.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (tabs->objectName().isEmpty()) tabs->setObjectName(QStringLiteral("dockTabs"));
        tabs->setAccessibleName(tr("Panels"));
        // A narrow window shows whole titles with scrolling instead of truncating all.
        tabs->setUsesScrollButtons(true);
        tabs->setElideMode(Qt::ElideNone);
    }
}

// The centre, then every visible panel in the order of the docks.
void Docks::focusNext(QWidget& centre, int step)
{
    QVector<QWidget*> stops{&centre};
    for (QDockWidget* dock : m_all)
        if (dock->isVisible() && !dock->visibleRegion().isEmpty()) stops.append(dock->widget());
    qsizetype at = 0;
    for (qsizetype i = 0; i < stops.size(); ++i)
        if (stops[i] == m_window.focusWidget() || stops[i]->isAncestorOf(m_window.focusWidget())) at = i;
    QWidget* next = stops[(at + step + stops.size()) % stops.size()];
    QWidget* target = next->focusPolicy() == Qt::NoFocus ? next->nextInFocusChain() : next;
    while (target != next &&
           !(next->isAncestorOf(target) && target->focusPolicy() != Qt::NoFocus && target->isVisible()))
        target = target->nextInFocusChain();
    target->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace hopscope::window
