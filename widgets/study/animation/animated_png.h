#pragma once

// Writes animated PNG files (Portable Network Graphics, third edition), which browsers play; other programs show the
// first picture. The functions are pure.

#include <QByteArray>
#include <QImage>
#include <vector>

namespace hopscope::study {

// A looping animation. All pictures must be opaque and of the same size. The file is empty if there are no pictures, or
// if memory is insufficient.
class AnimatedPng {
public:
    // Adds a picture that is shown for `milliseconds`. Compresses it immediately, so that it need not be kept.
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
