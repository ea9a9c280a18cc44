#pragma once

// Plots how errors grow along a model: the largest difference after each operator, in program order, on a logarithmic
// scale. A click or Enter chooses an operator; arrow keys move between operators.

#include <QWidget>

#include "protocol/model.h"
#include "schema/findings.h"
#include "style/theme.h"

namespace hopscope::study {

struct GrowthPoint {
    protocol::OpId op;
    QString name;
    int depth = 0;
    double error = 0;    // absolute; 0: no error; NaN: not a number
    bool first = false;  // the computations diverge here
};

// Returns the growth at the operators that the model contains.
std::vector<GrowthPoint> growthOf(const protocol::ModelRecord& model, const schema::DivergenceRecord& found);

class GrowthPlot : public QWidget {
    Q_OBJECT
public:
    explicit GrowthPlot(QWidget* parent = nullptr);
    void display(std::vector<GrowthPoint> points);
    void select(protocol::OpId op);  // marks the operator
    void setTheme(const style::Theme& theme);
    [[nodiscard]] QSize sizeHint() const override { return {360, 180}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {180, 120}; }
    [[nodiscard]] QPointF placeOf(int point) const;  // in the widget's coordinates
    [[nodiscard]] QRectF firstLabel() const;  // "first difference", where no line crosses it; empty if there is none

signals:
    void chosen(hopscope::protocol::OpId op);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Mark {
        QString text;
        double height = 0;  // 0..1
    };
    [[nodiscard]] std::vector<Mark> scale() const;
    [[nodiscard]] QLineF lineOf(const Mark& mark) const;
    [[nodiscard]] QString firstText() const { return tr("first difference"); }
    [[nodiscard]] QRectF room() const;
    [[nodiscard]] int last() const { return static_cast<int>(m_points.size()) - 1; }
    [[nodiscard]] double heightOf(double error) const;  // 0..1
    [[nodiscard]] int pointAt(QPointF at) const;        // -1: none
    void light(int point);
    void choose(int point);
    void paintDepths(QPainter& painter) const;
    void paintScale(QPainter& painter) const;
    void paintPoints(QPainter& painter) const;
    void paintFirst(QPainter& painter) const;

    std::vector<GrowthPoint> m_points;
    double m_least = -8, m_most = -6;  // powers of ten
    int m_lit = -1;
    protocol::OpId m_selected;
    style::Theme m_theme;
};

}  // namespace hopscope::study
