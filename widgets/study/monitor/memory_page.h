#pragma once

// Shows the memory of a stage's batches over time, on request. The engine derives it from the plan, without a run.

#include <QComboBox>
#include <QLabel>
#include <QScrollArea>

#include "study/common/inquiry.h"
#include "study/monitor/memory_picture.h"

namespace hopscope::study {

class MemoryPage : public QWidget {
    Q_OBJECT
public:
    MemoryPage(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) { m_picture->setTheme(theme); }
    void start();
    [[nodiscard]] bool busy() const { return m_inquiry->busy(); }

signals:
    void finished();  // with a picture, or with the reason why there is none

private:
    void setupChoice(QBoxLayout& layout);
    void setupFound(QBoxLayout& layout);
    void connectParts();
    [[nodiscard]] QString missing() const;  // why it cannot start; empty if it can
    void fillStages();
    void show(const schema::StageMemoryRecord& memory);
    void showLoop();
    void choose(int held);
    void follow(const models::Target& target);
    void forget();
    void refresh();

    panels::Context m_context;
    QComboBox *m_stage, *m_table;
    QPushButton* m_start;
    Inquiry* m_inquiry;
    QWidget* m_found;
    QLabel *m_tableTitle, *m_sentence;
    QScrollArea* m_area;
    MemoryPicture* m_picture;
    schema::StageMemoryRecord m_memory;
};

}  // namespace hopscope::study
