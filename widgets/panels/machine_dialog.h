#pragma once

// Shows the rates that the engine assumes for the chosen device. Plans are chosen and times are predicted from these
// rates; the dialog can measure them or discard the measurement.

#include <QDialog>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTableWidget>

#include "panels/panels.h"

namespace hopscope::panels {

QString rateText(const schema::Rate& rate);               // "4.5 GB/s", "1.2 GiB/s", "12 µs"
QString ratesState(const schema::MachineRates& machine);  // measured or typical, and the number of refining runs

class MachineDialog : public QDialog {
    Q_OBJECT
public:
    MachineDialog(const Context& context, QWidget* parent);
    ~MachineDialog() override;  // cancels a measurement in progress

private:
    void setupRows(QBoxLayout& layout);
    void setupButtons(QBoxLayout& layout);
    void setupConnections();
    void ask(const QString& method);
    void answered(const QString& method, const base::Result<schema::MachineRates>& machine);
    void fill(const schema::MachineRates& machine);
    void showProgress(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total);
    void refresh();

    Context m_context;
    QLabel *m_title, *m_state;
    QTableWidget* m_table;
    QProgressBar* m_progress;
    QPushButton *m_measure, *m_forget, *m_cancel;
    std::int64_t m_request = 0;  // 0: none is pending
    bool m_known = false, m_measuring = false, m_measured = false;
    std::string m_device;
};

}  // namespace hopscope::panels
