#pragma once

// Writes animated PNG files (Portable Network Graphics, third edition), which browsers play and everything else shows the
// first picture of. Pure functions.

#include <QByteArray>
#include <QImage>
#include <vector>

namespace hopscope::study {

// Plays in a loop; each picture is shown for so long. All must be opaque and of the same size. Empty if there is none, or not
// enough memory.
class AnimatedPng {
public:
    // Compressed at once: a picture need not be kept.
    bool add(const QImage& picture, int milliseconds);
    [[nodiscard]] QByteArray file() const;
    [[nodiscard]] std::size_t pictures() const { return m_frames.size(); }

private:
    struct Frame {
        QByteArray data;  // compressed, of all its IDAT chunks
        int milliseconds = 0;
    };
    QByteArray m_header;  // IHDR
    std::vector<Frame> m_frames;
};

}  // namespace hopscope::study
