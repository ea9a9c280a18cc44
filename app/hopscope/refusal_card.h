#pragma once

// Above the drawing of a model that cannot be split, or that the user has not agreed to run: the reason, the place and the
// remedy. Hidden for all others.

#include <QFrame>

#include "protocol/model.h"

class QLabel;
class QPushButton;

namespace hopscope::window {

class RefusalCard : public QFrame {
    Q_OBJECT
public:
    explicit RefusalCard(QWidget* parent = nullptr);

    // `model` may be null, `folder` is the name of its folder. Without data the card offers to open some: the failure may come
    // from guessed data.
    void setModel(const protocol::ModelRecord* model, const QString& folder, bool hasData);

signals:
    void operatorWanted();  // to be shown in the graph
    void dataWanted();
    void trusted(bool folder);  // the user agrees to the file, or to all in its folder

private:
    void showRefusal(const protocol::ModelRecord& model, bool hasData);
    void showUntrusted(const QString& folder);
    QLabel* makeLabel(const char* name);
    QPushButton* makeButton(const char* name, const QString& text);

    QLabel *m_title, *m_reason, *m_hint, *m_origin;
    QPushButton *m_show, *m_data, *m_run, *m_folder;
};

}  // namespace hopscope::window
