#pragma once

// Above the drawing of a model that cannot be split: what is in the way, where, and what can be done. Hidden for all others.

#include <QFrame>

#include "protocol/model.h"

class QLabel;
class QPushButton;

namespace hopscope::window {

class RefusalCard : public QFrame {
    Q_OBJECT
public:
    explicit RefusalCard(QWidget* parent = nullptr);

    // `model` may be null. Without data the card offers to open some: guesses of it may be what has failed.
    void setModel(const protocol::ModelRecord* model, bool hasData);

signals:
    void operatorWanted();  // to be shown in the graph
    void dataWanted();

private:
    QLabel* makeLabel(const char* name);
    QPushButton* makeButton(const char* name, const QString& text);

    QLabel *m_title, *m_reason, *m_hint, *m_origin;
    QPushButton *m_show, *m_data;
};

}  // namespace hopscope::window
