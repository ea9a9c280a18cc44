#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "protocol/rpc.h"

namespace hopscope::engine {

// The connection to the client over the former standard input and output. After open(), the process's own standard
// input is empty, and its output goes to standard error; child processes inherit neither end of the connection.
class Channel {
public:
    static base::Result<std::unique_ptr<Channel>> open();
    // Creates a connection to the process that talks to the client, in which messages are marked (server/marks.h).
    // Takes ownership of the socket.
    static std::unique_ptr<Channel> over(int socket);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    // Waits for bytes and returns them. Empty at the end of file and after interrupt().
    std::string read();
    // Sends a whole message, and waits while the client does not read. Drops the message if the client is gone.
    // Thread-safe.
    void send(protocol::Message message);
    // Sends the text of a message in the same way.
    void pass(std::string_view message);
    // Ends a waiting read(). Later messages are dropped if the client does not read them within a second.
    void interrupt();

private:
    Channel(int input, int output, int wake) : m_input(input), m_output(output), m_wake(wake) {}
    bool writable();
    bool write(std::string_view text);

    int m_input, m_output, m_wake;  // m_wake is readable after interrupt()
    bool m_marks = false;
    std::mutex m_sending;
    bool m_gone = false;
};

}  // namespace hopscope::engine
