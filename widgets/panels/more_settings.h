#pragma once

// A form for the settings of plans and runs that appear nowhere else in the window, generated from the table of
// settings.

#include <QDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <functional>
#include <vector>

#include "panels/panels.h"

namespace hopscope::panels {

// Returns the number of settings in the form that differ from their defaults.
int changedSettings(const base::Settings& settings);

class MoreSettings : public QDialog {
    Q_OBJECT
public:
    MoreSettings(const Context& context, QWidget* parent);

    // Edits a value as text, in the form of command-line options.
    struct Editor {
        QWidget* widget;
        std::function<void(const QString&)> show;
        std::function<QString()> text;
    };

private:
    struct Row {
        Editor editor;
        QLabel* problem;  // the reason why the text is refused
        std::function<std::string(const base::Settings&)> text;
        std::function<base::Status(const std::string&, base::Settings&)> read;
    };

    void setupRows();
    void setupButtons(QBoxLayout& layout);
    template <class M>
    void addRow(const base::Setting<M>& setting);
    template <class M>
    Editor editorFor(const base::Setting<M>& setting, const std::function<void()>& changed);
    QLabel* addToForm(const char* name, const QString& label, const QString& help, QWidget* editor);
    void apply(const Row& row);
    void reset();
    void refresh();

    Context m_context;
    QWidget* m_form;
    QFormLayout* m_rows;
    QPushButton* m_reset;
    std::vector<Row> m_all;
};

}  // namespace hopscope::panels
