// hopscope-layout: reads framed requests on standard input, writes framed answers in the same order, ends with its input.
// It has no persistent state, so its parent may kill it at any moment.

#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <string>

#include "layout/messages.h"
#include "protocol/framing.h"

namespace {

using namespace hopscope;

bool writeAll(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

std::string answer(layout::DotLayout& dot, const std::string& message)
{
    const auto request = layout::readRequest(message);
    if (!request) return layout::writeAnswer(-1, base::forward(request));
    return layout::writeAnswer(request->id, dot.run(request->graph));
}

// False: the stream is broken, or its reader is gone.
bool answerAll(protocol::FrameReader& reader, layout::DotLayout& dot)
{
    for (;;) {
        const auto message = reader.next();
        if (!message) return false;
        if (!*message) return true;
        if (!writeAll(protocol::frame(answer(dot, **message)))) return false;
    }
}

}  // namespace

int main()
{
    std::setlocale(LC_ALL, "C");
    layout::DotLayout dot;
    protocol::FrameReader reader;
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count == 0 ? 0 : 3;
        reader.append(std::string_view(buffer, static_cast<std::size_t>(count)));
        if (!answerAll(reader, dot)) return 3;
    }
}
