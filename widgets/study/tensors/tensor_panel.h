#pragma once

// Shows the tensor of the selected value: all rows, those of some nodes, or one batch. It shows statistics of the
// numbers, and the rows, which are fetched from the engine when they become visible.

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

#include "jobs/engine_queries.h"
#include "panels/parts.h"
#include "study/common/inquiry.h"
#include "study/study.h"
#include "study/tensors/heat_map.h"
#include "study/tensors/histogram.h"
#include "study/tensors/tensor_model.h"

namespace hopscope::study {

enum class RowChoice { All, Nodes, Batch };

class TensorPanel : public panels::Panel {
    Q_OBJECT
public:
    TensorPanel(const panels::Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

    void choose(RowChoice rows, const QString& nodes = {});
    void start();                      // shows the selected value
    void showStopped();                // shows the result of the operator after which the run is paused
    void saveTo(const QString& file);  // writes the tensor to a .npy file on the engine's machine
    void copy();                       // copies the selected cells of rows that have been fetched
    [[nodiscard]] bool busy() const { return m_inquiry->busy(); }
    [[nodiscard]] const std::optional<schema::TensorSummary>& tensor() const { return m_tensor; }

signals:
    void saveWanted();  // the user is to choose a file
    void finished();    // with a tensor, or with the reason why there is none

private:
    void setupChoice(QBoxLayout& layout);
    QWidget* setupTensor();
    QBoxLayout* setupTools();
    void setupTable();
    void connectParts();
    [[nodiscard]] RowChoice rows() const { return static_cast<RowChoice>(m_rows->currentData().toInt()); }
    [[nodiscard]] protocol::ValueId selectedValue() const;
    [[nodiscard]] QString missing() const;  // why it cannot start; empty if it can
    void show(const schema::TensorSummary& found);
    void fetch(qint64 begin, qint64 end);
    void came(std::int64_t tensor, qint64 begin, const base::Result<protocol::NumberRows>& rows);
    void widenNames();
    void goTo();
    void say(const QString& sentence);
    void forget();
    void refresh();

    panels::Context m_context;
    QComboBox* m_rows;
    QLineEdit *m_nodes, *m_row;
    QPushButton *m_start, *m_copy, *m_save;
    panels::ElidedLabel* m_selected;
    QLabel *m_facts, *m_numbers;
    panels::LinkLabel* m_title;
    Inquiry* m_inquiry;
    QWidget* m_found;
    TensorModel m_model;
    QTableView* m_table;
    Histogram* m_histogram;
    HeatMap* m_heat;
    std::optional<schema::TensorSummary> m_tensor;
};

}  // namespace hopscope::study
