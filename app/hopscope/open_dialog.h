#pragma once

// Asks for a model together with its data, and explains in plain language which files are missing.

#include <QDialog>
#include <functional>

#include "settings.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace hopscope::window {

enum class Wanted { File, Files, Folder };

// Chooses files on this machine or on the engine's.
struct FileChooser {
    // Shows a dialog with a title and a filter ("Models (*.pt *.pth)"; empty for folders). `chosen` is called only if
    // something was chosen.
    using Choose = std::function<void(QWidget* parent, const QString& title, const QString& filter, Wanted wanted,
                                      const std::function<void(const QStringList&)>& chosen)>;
    Choose choose;
    bool local = true;  // true if files can be inspected
};

// Returns the filter of dialogs that choose a model.
QString modelFilter();

// Advises the user about a choice: missing files and the consequences. `local` tells whether files can be inspected.
QString adviceFor(const RecentFile& choice, bool local);

class OpenDialog : public QDialog {
    Q_OBJECT
public:
    OpenDialog(FileChooser chooser, const RecentFile& choice, QWidget* parent = nullptr);

    [[nodiscard]] RecentFile choice() const;

private:
    void setupWidgets(const RecentFile& choice);
    QWidget* dataButtons();
    void chooseModel();
    void addData(const QString& title, const QString& filter, Wanted wanted);
    void suggestData();
    void update();

    FileChooser m_chooser;
    QLineEdit *m_model = nullptr, *m_roles = nullptr;
    QListWidget* m_data = nullptr;
    QLabel* m_advice = nullptr;
    QPushButton* m_open = nullptr;
};

}  // namespace hopscope::window
