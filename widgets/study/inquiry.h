#pragma once

// One question to the engine at a time, and the widgets that a panel asks it with: start, cancel, a bar, and a line that says
// what is under way, what is missing, or why there is no answer. Answers to questions that were given up are dropped.

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
    // The widgets belong to `panel` and are placed by it. `name`: "tensor" for "tensorState" and "tensorProgress".
    Inquiry(const panels::Context& context, const QString& name, const QString& progressTitle, QPushButton* start,
            QPushButton* cancel, QWidget* panel);
    ~Inquiry() override;  // gives what is under way up

    void addLine(QBoxLayout& layout);  // the line and the bar
    [[nodiscard]] bool busy() const { return m_request != 0; }

    // For the next question, which is begun with its number: `take` is handed its answer, unless it fails; then finished().
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

    void say(const QString& sentence);  // until the next question
    void cancel();                      // says so
    void forget();                      // likewise, without a word
    // `lacking`: why nothing can be asked; `idle`: what is said while nothing is. Both may be empty.
    void refresh(const QString& lacking, const QString& idle);

signals:
    void changed();   // there is something else to say: the panel refreshes
    void finished();  // with an answer, or with the reason why there is none

private:
    void fail(const base::Error& error);
    void giveUp();
    void showProgress(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total);

    panels::Context m_context;
    QPushButton *m_start, *m_cancel;
    QLabel* m_state;
    QProgressBar* m_progress;
    std::int64_t m_request = 0;  // 0: none under way
    std::int64_t m_number = 0;
    QString m_underWay, m_said;
};

}  // namespace hopscope::study
