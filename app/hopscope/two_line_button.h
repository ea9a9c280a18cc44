#pragma once

// A button with a title and a muted line below it, both elided if they do not fit.

#include <QPushButton>

namespace hopscope::window {

class TwoLineButton : public QPushButton {
    Q_OBJECT
    Q_PROPERTY(QColor detailColour READ detailColour WRITE setDetailColour)  // of the muted line, by the style sheet
public:
    TwoLineButton(const QString& title, const QString& detail, QWidget* parent = nullptr);

    [[nodiscard]] QColor detailColour() const { return m_detailColour; }
    void setDetailColour(const QColor& colour);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_title, m_detail;
    QColor m_detailColour;
};

}  // namespace hopscope::window
