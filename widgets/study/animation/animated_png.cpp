#include "study/animation/animated_png.h"

#include <QBuffer>
#include <QtEndian>
#include <array>

namespace hopscope::study {

namespace {

constexpr int signatureBytes = 8;
constexpr int chunkFrame = 12;  // bytes of a chunk besides its data: length, type, checksum

// CRC-32 as PNG wants it.
quint32 checksum(const QByteArray& bytes)
{
    quint32 crc = ~0U;
    for (const char byte : bytes) {
        crc ^= static_cast<quint8>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
    }
    return ~crc;
}

QByteArray number(quint32 value)
{
    std::array<char, 4> bytes{};
    qToBigEndian(value, bytes.data());
    return {bytes.data(), 4};
}

QByteArray shortNumber(quint16 value)
{
    std::array<char, 2> bytes{};
    qToBigEndian(value, bytes.data());
    return {bytes.data(), 2};
}

QByteArray chunk(const char* type, const QByteArray& data)
{
    const QByteArray checked = QByteArray(type, 4) + data;
    return number(static_cast<quint32>(data.size())) + checked + number(checksum(checked));
}

// The data of all chunks of a type, put together.
QByteArray dataOf(const QByteArray& png, const char* type)
{
    QByteArray data;
    for (qsizetype at = signatureBytes; at + chunkFrame <= png.size();) {
        const auto length = static_cast<qsizetype>(qFromBigEndian<quint32>(png.constData() + at));
        if (png.mid(at + 4, 4) == QByteArray(type, 4)) data += png.mid(at + 8, length);
        at += chunkFrame + length;
    }
    return data;
}

}  // namespace

bool AnimatedPng::add(const QImage& picture, int milliseconds)
{
    QBuffer png;
    if (picture.isNull() || !png.open(QIODevice::WriteOnly) ||
        !picture.convertToFormat(QImage::Format_RGB888).save(&png, "PNG"))
        return false;
    const QByteArray header = dataOf(png.data(), "IHDR");
    if (m_header.isEmpty()) m_header = header;
    if (header != m_header) return false;
    m_frames.push_back({dataOf(png.data(), "IDAT"), milliseconds});
    return true;
}

QByteArray AnimatedPng::file() const
{
    if (m_frames.empty()) return {};
    const QByteArray size = m_header.left(8), place(8, '\0');
    QByteArray file = QByteArray("\x89PNG\r\n\x1a\n", signatureBytes) + chunk("IHDR", m_header);
    file += chunk("acTL", number(static_cast<quint32>(m_frames.size())) + number(0));
    quint32 sequence = 0;
    for (const Frame& frame : m_frames) {
        const QByteArray delay = shortNumber(static_cast<quint16>(frame.milliseconds)) + shortNumber(1000);
        const QByteArray replaces(2, '\0');  // the previous pixels
        file += chunk("fcTL", number(sequence++) + size + place + delay + replaces);
        if (&frame == &m_frames.front()) file += chunk("IDAT", frame.data);
        else file += chunk("fdAT", number(sequence++) + frame.data);
    }
    return file + chunk("IEND", {});
}

}  // namespace hopscope::study
