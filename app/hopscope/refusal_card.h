#pragma once

// A card above the drawing of a model that cannot be split, or that the user has not agreed to run. It shows the
// reason, where it occurs, and the remedy. It is hidden for all other models.

#include <QFrame>

#include "protocol/model.h"

class QLabel;
class QPushButton;

namespace hopscope::window {

class RefusalCard : public QFrame {
    Q_OBJECT
public:
    explicit RefusalCard(QWidget* parent = nullptr);

    // Shows the card for a model, which may be null; `folder` is the name of its folder. Without data, the card offers
    // to open some, because guessed data may have caused the failure.
    void setModel(const protocol::ModelRecord* model, const QString& folder, bool hasData);

signals:
    void operatorWanted();  // to show the operator in the graph
    void dataWanted();
    void trusted(bool folder);  // the user agrees to the file, or to all files in its folder

private:
    void showRefusal(const protocol::ModelRecord& model, bool hasData);
    void showUntrusted(const QString& folder);
    QLabel* makeLabel(const char* name);
    QPushButton* makeButton(const char* name, const QString& text);

    QLabel *m_title, *m_reason, *m_hint, *m_origin;
    QPushButton *m_show, *m_data, *m_run, *m_folder;
};

}  // namespace hopscope::window
