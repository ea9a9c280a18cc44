#pragma once

// Sends one query to the engine at a time and owns the widgets for it: start, cancel, a progress bar, and a status line
// for the running query, missing input, or the reason for a failure. Answers to cancelled queries are dropped.

#include <QBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include "base/result.h"
#include "panels/panels.h"

namespace hopscope::study {

class Inquiry : public QObject {
    Q_OBJECT
public:
    // The widgets belong to `panel`, which places them. `name` is "tensor" for "tensorState" and "tensorProgress".
    Inquiry(const panels::Context& context, const QString& name, const QString& progressTitle, QPushButton* start,
            QPushButton* cancel, QWidget* panel);
    ~Inquiry() override;  // cancels the running query

    void addLine(QBoxLayout& layout);  // the status line and the progress bar
    [[nodiscard]] bool busy() const { return m_request != 0; }

    // Returns the callback for the next query, numbered to drop stale answers. `take` gets a successful answer; then
    // finished() is emitted.
    template <class Take>
    auto taking(Take take)
    {
        ++m_number;
        return [this, take, number = m_number](const auto& found) {
            if (number != m_number) return;
            m_request = 0;
            if (found) take(*found);
            else fail(found.error());
            emit changed();
            emit finished();
        };
    }
    void begin(std::int64_t request, const QString& underWay);

    void say(const QString& sentence);  // until the next query
    void cancel();                      // and reports it
    void forget();                      // cancels without reporting it
    // Updates the status. `lacking` is why no query is possible, `idle` the text while none is running. Both may be
    // empty.
    void refresh(const QString& lacking, const QString& idle);

signals:
    void changed();   // the panel must refresh
    void finished();  // with an answer, or with the reason why there is none

private:
    void fail(const base::Error& error);
    void giveUp();
    void showProgress(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total);

    panels::Context m_context;
    QPushButton *m_start, *m_cancel;
    QLabel* m_state;
    QProgressBar* m_progress;
    std::int64_t m_request = 0;  // 0: none is running
    std::int64_t m_number = 0;
    QString m_underWay, m_said;
};

}  // namespace hopscope::study
