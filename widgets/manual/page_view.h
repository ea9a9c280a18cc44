#pragma once

// Shows a page of the manual, follows its links, and keeps a history.

#include <QTextBrowser>

#include "manual/pages.h"
#include "style/theme.h"

namespace hopscope::manual {

class PageView : public QTextBrowser {
    Q_OBJECT
public:
    explicit PageView(QWidget* parent = nullptr);

    void open(const Place& place);  // adds it to the history; if it does not exist, opens the first page
    void go(int steps);             // -1: back, +1: forward
    [[nodiscard]] bool canGo(int steps) const;
    [[nodiscard]] const Place& place() const { return m_place; }
    void setTheme(const style::Theme& theme);
    void setMarked(const QString& words);  // marks all occurrences; empty: none

    QVariant loadResource(int type, const QUrl& name) override;

signals:
    void placeChanged(const hopscope::manual::Place& place);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Visit {
        Place place;
        int scrolled = 0;
    };
    void follow(const QUrl& link);
    void showVisit(const Visit& visit);
    void read(const QString& page);
    void mark();
    void setMargins();

    style::Theme m_theme;
    Place m_place;
    QString m_read, m_marked;  // the current page, and the marked words
    QVector<Visit> m_way;
    qsizetype m_at = -1;
};

}  // namespace hopscope::manual
