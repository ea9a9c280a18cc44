#pragma once

// The first rows of a stored value with their statistics, as the engine hands them out.

#include <QDialog>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>

#include "panels/panels.h"

namespace hopscope::panels {

// Rows as numbers: what tensor/peek answers. Values of a row beyond the first dimension are laid out flat.
struct PeekedRows {
    QString dtype;
    std::vector<std::int64_t> shape;  // of the whole value
    std::int64_t begin = 0, end = 0;
    std::vector<std::vector<double>> rows;
    std::optional<std::int64_t> finite;
    std::optional<double> least, most, mean;
};

// Fails with Input on a dtype that is not known or bytes that do not match the shape.
base::Result<PeekedRows> readPeek(const json::Value& answer);

class TensorDialog : public QDialog {
    Q_OBJECT
public:
    TensorDialog(const Context& context, protocol::ValueId value, QWidget* parent);

private:
    void setup(const QString& title);
    void ask();
    void showRows(const base::Result<json::Value>& answer);
    void fill(const PeekedRows& rows);

    Context m_context;
    QString m_value;
    QLabel* m_text;
    QTableWidget* m_table;
    QPushButton *m_back, *m_next;
    qint64 m_begin = 0, m_rows = 0;
};

}  // namespace hopscope::panels
