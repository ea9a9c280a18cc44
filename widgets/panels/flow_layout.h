#pragma once

// Places widgets side by side, in as many rows as the width requires. The last one stays at the right end of its row.

#include <QLayout>
#include <vector>

namespace hopscope::panels {

class FlowLayout : public QLayout {
public:
    explicit FlowLayout(QWidget* parent) : QLayout(parent) { setContentsMargins(0, 0, 0, 0); }
    ~FlowLayout() override;

    void addItem(QLayoutItem* item) override { m_items.push_back(item); }
    [[nodiscard]] int count() const override { return static_cast<int>(m_items.size()); }
    [[nodiscard]] QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override { return arrange({0, 0, width, 0}, false); }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSize() const override;  // of the widest and the highest item
    void setGeometry(const QRect& rect) override;

private:
    int arrange(const QRect& rect, bool place) const;  // returns the height

    std::vector<QLayoutItem*> m_items;
};

}  // namespace hopscope::panels
