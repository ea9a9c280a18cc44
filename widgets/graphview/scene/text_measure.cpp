#include "graphview/scene/text_measure.h"

#include <algorithm>
#include <cmath>

#include "style/theme.h"

namespace hopscope::graphview {

namespace {

constexpr qreal minWidth = 96, maxWidth = 250;
constexpr qreal oneLine = 30, twoLines = 37;
constexpr qsizetype maxKept = 100'000;  // of a kind

QFont sized(int pixels, int weight)
{
    QFont font = style::uiFont();
    font.setPixelSize(pixels);
    font.setWeight(static_cast<QFont::Weight>(weight));
    return font;
}

// A font that shares nothing with the one that another thread paints with.
QFont own(const QFont& font)
{
    QFont copy(font.family());
    copy.setPixelSize(font.pixelSize());
    copy.setWeight(font.weight());
    return copy;
}

// The share of the width that slanted or round sides and glyphs take from the text, on each side.
qreal sidePad(Shape shape)
{
    switch (shape) {
    case Shape::Gather:
    case Shape::Aggregate:
    case Shape::Reduce:
    case Shape::Module:
    case Shape::Structure: return 24;
    case Shape::Input:
    case Shape::Output: return 18;
    default: return 14;
    }
}

template <class Key, class Value, class Make>
const Value& remembered(QHash<Key, Value>& known, const Key& key, Make make)
{
    if (const auto found = known.constFind(key); found != known.constEnd()) return *found;
    if (known.size() >= maxKept) known.clear();
    return *known.insert(key, make());
}

}  // namespace

size_t qHash(const AskedNode& asked, size_t seed)
{
    return qHashMulti(seed, static_cast<int>(asked.shape), asked.label, asked.detail, asked.room);
}

size_t qHash(const AskedStub& asked, size_t seed) { return qHashMulti(seed, asked.tip, asked.room); }

QFont labelFont()
{
    static const QFont font = sized(13, QFont::DemiBold);
    return font;
}

QFont detailFont()
{
    static const QFont font = sized(11, QFont::Normal);
    return font;
}

QFont smallFont()
{
    static const QFont font = sized(10, QFont::DemiBold);
    return font;
}

QFont resized(const QFont& font, int pixels)
{
    if (font.pixelSize() == pixels) return font;
    static QHash<std::pair<int, int>, QFont> known;
    return remembered(known, std::pair<int, int>(font.weight(), pixels), [&] { return sized(pixels, font.weight()); });
}

const StubText& fitLabel(const QString& label, int pixels, int room)
{
    static QHash<AskedStub, StubText> known;
    return remembered(known, AskedStub{label, room * 100.0 + pixels}, [&] {
        const QFontMetricsF metrics(resized(labelFont(), pixels));
        StubText text{.text = metrics.elidedText(label, Qt::ElideRight, room), .width = 0};
        text.width = metrics.horizontalAdvance(text.text);
        return text;
    });
}

TextMeasure::TextMeasure(TextMemory& memory)
    : m_memory(memory),
      m_label(own(labelFont())),
      m_detail(own(detailFont())),
      m_small(own(smallFont()))
{}

QSizeF TextMeasure::nodeSize(const VisibleNode& node)
{
    return remembered(m_memory.sizes, AskedNode{node.shape, node.label, node.detail, 0}, [&] {
        const qreal text = std::max(m_label.horizontalAdvance(node.label), m_detail.horizontalAdvance(node.detail));
        const qreal width = std::clamp(std::ceil(text) + 2 * sidePad(node.shape) + 2, minWidth, maxWidth);
        return QSizeF(width, node.detail.isEmpty() ? oneLine : twoLines);
    });
}

NodeText TextMeasure::fit(const VisibleNode& node, const QSizeF& size)
{
    const qreal room = textArea(node.shape, QRectF({0, 0}, size)).width() + 1;
    return remembered(m_memory.nodes, AskedNode{node.shape, node.label, node.detail, room}, [&] {
        NodeText text;
        text.label = m_label.elidedText(node.label, Qt::ElideRight, room);
        text.detail = m_detail.elidedText(node.detail, Qt::ElideRight, room);
        text.labelWidth = m_label.horizontalAdvance(text.label);
        text.detailWidth = m_detail.horizontalAdvance(text.detail);
        text.shortened = text.label != node.label || text.detail != node.detail;
        return text;
    });
}

qreal TextMeasure::stubWidth(const QString& tip)
{
    return remembered(m_memory.widths, tip, [&] { return m_small.horizontalAdvance(tip); });
}

// The end of a path tells more than its beginning.
StubText TextMeasure::fitStub(const QString& tip, qreal room)
{
    return remembered(m_memory.stubs, AskedStub{tip, room}, [&] {
        const bool path = tip.contains(QLatin1Char('.'));
        StubText stub;
        stub.text = m_small.elidedText(tip, path ? Qt::ElideLeft : Qt::ElideRight, room);
        stub.width = m_small.horizontalAdvance(stub.text);
        return stub;
    });
}

QRectF textArea(Shape shape, const QRectF& rect)
{
    const qreal pad = sidePad(shape);
    return rect.adjusted(pad, 2, -pad, -2);
}

}  // namespace hopscope::graphview
