#pragma once

// The panels around the graph and the perspectives: named arrangements of the panels, each remembered as the user left
// it.

#include <QDockWidget>
#include <QMainWindow>
#include <QMap>
#include <QObject>
#include <QVector>

namespace hopscope::window {

struct DockSpec {
    QString name, title;  // "outline"
    QWidget* widget;
};

// Returns "analyse", "run", "compare", "explain", in the order of the switcher.
const QStringList& perspectiveNames();
QString perspectiveTitle(const QString& name);

class Docks : public QObject {
    Q_OBJECT
public:
    Docks(QMainWindow& window, const QVector<DockSpec>& specs);

    void setLayouts(const QMap<QString, QByteArray>& layouts) { m_layouts = layouts; }
    [[nodiscard]] QMap<QString, QByteArray> layouts() const;  // including the current one
    [[nodiscard]] const QString& perspective() const { return m_perspective; }
    void setPerspective(const QString& name);
    void reset();                                      // restores the initial state of the current perspective
    void setShown(bool shown);                         // false: shows only the centre, while no model is open
    void setFindings(const QString& name, int count);  // shows a number in the title; 0: none
    void bring(const QString& name);            // in front of the panels at the same position; does not move the focus
    void reveal(const QString& name);           // the same, and moves the focus there
    void focusNext(QWidget& centre, int step);  // +1, -1: through the centre and the visible panels
    [[nodiscard]] QDockWidget* dock(const QString& name) const { return m_docks.value(name); }
    [[nodiscard]] const QVector<QDockWidget*>& all() const { return m_all; }

signals:
    void perspectiveChanged(const QString& name);

private:
    void arrange();
    void place(const QString& name, Qt::DockWidgetArea area);
    void arrangeAnalyse();
    void arrangeRun();
    void tabifyHidden();
    void makeRoom(const QString& name);
    [[nodiscard]] int lowHeight() const;  // the height of panels below the graph
    void arrangeCompare();
    void arrangeExplain();
    void share(const QStringList& names, const QList<int>& sizes, Qt::Orientation direction);
    void restore();
    void quietTitles();

    QMainWindow& m_window;
    QVector<QDockWidget*> m_all;
    QMap<QString, QDockWidget*> m_docks;
    QMap<QString, QString> m_titles;
    QMap<QString, QByteArray> m_layouts;
    QString m_perspective;
    bool m_shown = true;
};

}  // namespace hopscope::window
