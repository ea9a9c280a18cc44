#include "graph/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace hopscope::graph {

namespace {

using base::DType;

struct Code {
    std::string_view text;  // without the byte order
    DType dtype;
};

constexpr std::array<Code, 14> kCodes{{{"b1", DType::Bool},
                                       {"i1", DType::Int8},
                                       {"i2", DType::Int16},
                                       {"i4", DType::Int32},
                                       {"i8", DType::Int64},
                                       {"u1", DType::UInt8},
                                       {"u2", DType::UInt16},
                                       {"u4", DType::UInt32},
                                       {"u8", DType::UInt64},
                                       {"f2", DType::Float16},
                                       {"f4", DType::Float32},
                                       {"f8", DType::Float64},
                                       {"c8", DType::Complex64},
                                       {"c16", DType::Complex128}}};

std::string whyUnsupported(const std::string& descr)
{
    switch (descr.size() > 1 ? descr[1] : '?') {
    case 'O': return "holds Python objects (a pickle), which are never loaded";
    case 'S':
    case 'U': return "holds strings, not numbers";
    case 'M':
    case 'm': return "holds dates or time spans, not numbers";
    case 'V': return "holds raw records, not numbers";
    default: return "is not a supported element type";
    }
}

// A cursor over the Python literal. Every parse function fails at m_at.
class Parser {
public:
    Parser(std::string_view text, std::int64_t offset, const std::string& file)
        : m_text(text),
          m_offset(offset),
          m_file(file)
    {}

    base::Result<NpyHeader> parse()
    {
        if (!accept('{')) return refuse("the header is not a dictionary");
        while (!accept('}')) {
            if (auto done = parseEntry(); !done) return base::forward(done);
            if (accept(',')) continue;
            if (accept('}')) break;
            return refuse("',' or '}' was expected in the header");
        }
        skipSpace();
        if (m_at != m_text.size()) return refuse("unexpected text after the header dictionary");
        for (const char* key : {"descr", "fortran_order", "shape"})
            if (std::find(m_seen.begin(), m_seen.end(), key) == m_seen.end())
                return refuse(std::string("the header does not contain the field '") + key + "'");
        return m_header;
    }

private:
    base::Status parseEntry()
    {
        m_field.clear();
        const std::optional<std::string> key = parseString();
        if (!key) return refuse("a quoted field name was expected in the header");
        m_field = *key;
        if (std::find(m_seen.begin(), m_seen.end(), *key) != m_seen.end()) return refuse("the field is repeated");
        m_seen.push_back(*key);
        if (!accept(':')) return refuse("':' was expected after the field name");
        if (*key == "descr") return parseDescr();
        if (*key == "fortran_order") return parseOrder();
        if (*key == "shape") return parseShape();
        return refuse("the field is not known");
    }

    base::Status parseDescr()
    {
        skipSpace();
        if (peek() == '[') return refuse("a structured dtype is not supported", "save each field as its own array");
        const std::size_t start = m_at;
        const std::optional<std::string> descr = parseString();
        if (!descr) return refuse("the dtype must be a quoted string");
        const std::size_t code = descr->find_first_of("<>|=") == 0 ? 1 : 0;
        for (const Code& known : kCodes) {
            if (std::string_view(*descr).substr(code) != known.text) continue;
            m_header.dtype = known.dtype;
            m_header.bigEndian = descr->front() == '>' && base::itemSize(known.dtype) > 1;
            return {};
        }
        m_at = start;
        return refuse("dtype '" + *descr + "' " + whyUnsupported(code == 1 ? *descr : "|" + *descr),
                      "save numbers: numpy.save(file, array.astype(numpy.float32))");
    }

    base::Status parseOrder()
    {
        skipSpace();
        for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
            if (m_text.substr(m_at, word.size()) != word) continue;
            m_at += word.size();
            m_header.fortranOrder = value;
            return {};
        }
        return refuse("True or False was expected");
    }

    base::Status parseShape()
    {
        if (!accept('(')) return refuse("a tuple was expected");
        while (!accept(')')) {
            if (auto done = parseExtent(); !done) return done;
            if (accept(',')) continue;
            if (accept(')')) break;
            return refuse("',' or ')' was expected");
        }
        if (m_header.shape.size() > 64) return refuse("the array has more than 64 dimensions");
        return {};
    }

    base::Status parseExtent()
    {
        skipSpace();
        std::int64_t extent = 0;
        const char* const begin = m_text.data() + m_at;
        const auto [stop, error] = std::from_chars(begin, m_text.data() + m_text.size(), extent);
        if (error == std::errc::result_out_of_range) return refuse("an extent exceeds 64 bits");
        if (error != std::errc{}) return refuse("an integer extent was expected");
        if (extent < 0) return refuse("an extent is negative: " + std::to_string(extent));
        m_at += static_cast<std::size_t>(stop - begin);
        accept('L');  // written by Python 2
        m_header.shape.push_back(extent);
        return {};
    }

    std::optional<std::string> parseString()
    {
        skipSpace();
        const char quote = peek();
        if (quote != '\'' && quote != '"') return std::nullopt;
        const std::size_t end = m_text.find(quote, m_at + 1);
        if (end == std::string_view::npos) return std::nullopt;
        std::string text(m_text.substr(m_at + 1, end - m_at - 1));
        m_at = end + 1;
        return text;
    }

    [[nodiscard]] char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }

    void skipSpace()
    {
        while (m_at < m_text.size() && std::string_view(" \t\r\n").find(m_text[m_at]) != std::string_view::npos) ++m_at;
    }

    bool accept(char c)
    {
        skipSpace();
        if (peek() != c) return false;
        ++m_at;
        return true;
    }

    [[nodiscard]] tl::unexpected<base::Error>
    refuse(const std::string& why, const std::string& hint = "write the file again with numpy.save") const
    {
        const std::string at = std::to_string(m_offset + static_cast<std::int64_t>(m_at));
        const std::string field = m_field.empty() ? "" : ", field '" + m_field + "'";
        return base::fail(base::ErrorCode::Input, m_file + ": at byte " + at + field + ": " + why, hint,
                          m_file + ":" + at);
    }

    std::string_view m_text;
    std::int64_t m_offset;
    const std::string& m_file;
    std::size_t m_at = 0;
    std::string m_field;
    std::vector<std::string> m_seen;
    NpyHeader m_header;
};

std::string tupleText(const std::vector<std::int64_t>& shape)
{
    std::string text;
    for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

base::Result<NpyHeader> parseNpyHeader(std::string_view text, std::int64_t offset, const std::string& file)
{
    return Parser(text, offset, file).parse();
}

std::string npyPreamble(DType dtype, const std::vector<std::int64_t>& shape)
{
    const auto known =
        std::find_if(kCodes.begin(), kCodes.end(), [&](const Code& code) { return code.dtype == dtype; });
    if (known == kCodes.end()) return {};
    const char order = base::itemSize(dtype) == 1 ? '|' : '<';
    std::string text = "{'descr': '" + (order + std::string(known->text)) +
                       "', 'fortran_order': False, 'shape': " + tupleText(shape) + ", }";
    constexpr std::size_t fixed = 10;  // magic, version, length
    text.append((64 - (fixed + text.size() + 1) % 64) % 64, ' ');
    text += '\n';
    std::string preamble("\x93NUMPY\x01\x00", 8);
    preamble += {static_cast<char>(text.size() & 0xFFU), static_cast<char>(text.size() >> 8U)};
    return preamble + text;
}

}  // namespace hopscope::graph
