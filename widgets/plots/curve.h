#pragma once

// Draws a curve of QCustomPlot in steps, each as high as the point at its right end. A dense curve, which has about as
// many points as there are pixels, stays cheap: each column of pixels is one vertical line from its smallest to its
// largest value, and one line down to the axis for the fill.

#include "plots/canvas.h"

namespace hopscope::plots {

class Curve : public QCPGraph {
public:
    Curve(QCPAxis* key, QCPAxis* value) : QCPGraph(key, value) {}
    void setDense(bool dense) { m_dense = dense; }

protected:
    void draw(QCPPainter* painter) override;

private:
    bool m_dense = false;
};

}  // namespace hopscope::plots
