#pragma once

// Shows all numbers of the visible rows of a table as colours next to it, line by line at the height of the rows. The
// scale extends from the smallest to the largest number of the tensor.

#include <QTableView>
#include <QWidget>

#include "study/tensors/tensor_model.h"

namespace hopscope::study {

// Returns the colour of a number between two others on the theme's scale; numbers that are not finite get the colour of
// errors.
QColor heatColour(const style::Theme& theme, double number, double least, double most);

class HeatMap : public QWidget {
    Q_OBJECT
public:
    HeatMap(TensorModel& model, QTableView& table, QWidget* parent);
    void setRange(double least, double most);
    void setTheme(const style::Theme& theme);
    [[nodiscard]] QSize sizeHint() const override { return {120, 160}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    void paintRow(QPainter& painter, int row, const QRect& place) const;

    TensorModel& m_model;
    QTableView& m_table;
    double m_least = 0, m_most = 1;
    style::Theme m_theme;
};

}  // namespace hopscope::study
