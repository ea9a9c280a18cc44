#pragma once

// Measures texts in the graph, and shortens them to the available room.

#include <QFont>
#include <QFontMetricsF>
#include <QHash>
#include <QRectF>
#include <QString>

#include "graphview/fold/fold.h"

namespace hopscope::graphview {

struct NodeText {
    QString label, detail;  // shortened to fit the node
    qreal labelWidth = 0, detailWidth = 0;
    bool shortened = false;
};

struct StubText {
    QString text;  // shortened to fit
    qreal width = 0;
};

// A request to fit the words of a node or of a stub into the available room.
struct AskedNode {
    Shape shape = Shape::Rowwise;
    QString label, detail;
    qreal room = 0;
    bool operator==(const AskedNode&) const = default;
};
struct AskedStub {
    QString tip;
    qreal room = 0;
    bool operator==(const AskedStub&) const = default;
};
size_t qHash(const AskedNode& asked, size_t seed = 0);
size_t qHash(const AskedStub& asked, size_t seed = 0);

// A cache of measured texts, since words recur across layers and in later scenes of a model. Only one thread may use it
// at a time.
struct TextMemory {
    QHash<AskedNode, QSizeF> sizes;
    QHash<AskedNode, NodeText> nodes;
    QHash<AskedStub, StubText> stubs;
    QHash<QString, qreal> widths;
};

// Measures texts on any thread, because it has fonts of its own. The memory only saves time and does not change
// results.
class TextMeasure {
public:
    explicit TextMeasure(TextMemory& memory);  // `memory` must outlive the object
    QSizeF nodeSize(const VisibleNode& node);
    NodeText fit(const VisibleNode& node, const QSizeF& size);
    qreal stubWidth(const QString& tip);
    StubText fitStub(const QString& tip, qreal room);

private:
    TextMemory& m_memory;
    QFontMetricsF m_label, m_detail, m_small;
};

// Returns the area for text inside a node's shape.
QRectF textArea(Shape shape, const QRectF& rect);

// The fonts of the graph, for painting.
QFont labelFont();
QFont detailFont();
QFont smallFont();
// Return one of these fonts in a different size, and a name in that size, shortened to fit into `room`. Both are
// cached, for the painting thread only.
QFont resized(const QFont& font, int pixels);
const StubText& fitLabel(const QString& label, int pixels, int room);

}  // namespace hopscope::graphview
