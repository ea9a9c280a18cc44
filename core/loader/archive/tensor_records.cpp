#include "loader/archive/tensor_records.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "loader/archive/archive_bytes.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;
using base::fail;

// An object on the stack of a pickle, as far as tensors depend on it.
struct Pickled {
    enum class Kind : std::uint8_t { Other, Number, Text, Global, Storage, Tuple };
    Kind kind = Kind::Other;
    std::int64_t number = 0;  // of a storage: its elements
    std::string_view text{};  // of a global: "module\nname"; of a storage: its record
    std::shared_ptr<const std::vector<Pickled>> items{};
    int depth = 0;  // of nested tuples

    [[nodiscard]] const Pickled& at(std::size_t i) const
    {
        static const Pickled none;
        return items && i < items->size() ? (*items)[i] : none;
    }
};

// The nesting depth that a tensor needs. Deeper values become Other, so that a chain of tuples cannot exhaust the
// stack.
constexpr int deepest = 3;

Pickled tupleOf(std::vector<Pickled> items)
{
    int depth = 0;
    for (const Pickled& i : items) depth = std::max(depth, i.depth);
    if (depth >= deepest) return {};
    return {.kind = Pickled::Kind::Tuple,
            .items = std::make_shared<const std::vector<Pickled>>(std::move(items)),
            .depth = depth + 1};
}

// Bytes of an element of torch.<name>; 0: not known.
std::int64_t elementBytes(std::string_view name)
{
    constexpr std::array<std::pair<std::string_view, int>, 24> sizes{{
        {"ByteStorage", 1},           {"CharStorage", 1},          {"BoolStorage", 1},
        {"ShortStorage", 2},          {"IntStorage", 4},           {"LongStorage", 8},
        {"HalfStorage", 2},           {"BFloat16Storage", 2},      {"FloatStorage", 4},
        {"DoubleStorage", 8},         {"ComplexHalfStorage", 4},   {"ComplexFloatStorage", 8},
        {"ComplexDoubleStorage", 16}, {"QInt8Storage", 1},         {"QUInt8Storage", 1},
        {"QInt32Storage", 4},         {"QUInt4x2Storage", 1},      {"QUInt2x4Storage", 1},
        {"UInt16Storage", 2},         {"UInt32Storage", 4},        {"UInt64Storage", 8},
        {"Float8_e5m2Storage", 1},    {"Float8_e4m3fnStorage", 1}, {"Float8_e8m0fnuStorage", 1},
    }};
    const auto* const found = std::ranges::find(sizes, name, [](const auto& s) { return s.first; });
    return found == sizes.end() ? 0 : found->second;
}

// Elements of a storage up to the last that a tensor touches: none for empty tensors, nullopt if they cannot be counted.
std::optional<std::int64_t> reach(std::int64_t offset, const Pickled& sizes, const Pickled& strides)
{
    if (offset < 0 || !sizes.items || !strides.items || sizes.items->size() != strides.items->size())
        return std::nullopt;
    std::int64_t last = offset;
    bool empty = false;
    for (std::size_t d = 0; d < sizes.items->size(); ++d) {
        const std::int64_t size = sizes.at(d).number, stride = strides.at(d).number;
        std::int64_t step = 0;
        if (size < 0 || stride < 0) return std::nullopt;
        empty = empty || size == 0;
        if (size > 0 && (__builtin_mul_overflow(size - 1, stride, &step) || __builtin_add_overflow(last, step, &last)))
            return std::nullopt;
    }
    if (empty) return 0;
    return __builtin_add_overflow(last, 1, &last) ? std::nullopt : std::optional(last);
}

// Runs the operations of one pickle without making objects.
class PickleScan {
public:
    // `folder` holds the records of its storages: "data/".
    PickleScan(const Archive& archive, std::string folder, std::string_view pickle)
        : m_archive(archive),
          m_folder(std::move(folder)),
          m_pickle(pickle)
    {}

    // The first fault, or "".
    std::string run()
    {
        while (m_fault.empty() && !m_ended) {
            if (m_at >= m_pickle.size()) return "the pickle has no end";
            step(static_cast<unsigned char>(take(1)[0]));
        }
        return m_fault;
    }
    [[nodiscard]] std::size_t offset() const { return m_at; }

private:
    void step(unsigned char op)
    {
        switch (op) {
        case '.': m_ended = true; return;
        case 0x80: take(1); return;
        case '}':
        case ']':
        case 'N':
        case 0x88:
        case 0x89: return push({});
        case 'K': return pushNumber(1, Sign::None);
        case 'M': return pushNumber(2, Sign::None);
        case 'J': return pushNumber(4, Sign::Highest);
        case 0x8a: return pushNumber(static_cast<unsigned char>(take(1)[0]), Sign::Highest);
        case 'G': take(8); return push({});
        case 'X': return push({.kind = Pickled::Kind::Text, .text = take(number(4))});
        case 'c': return pushGlobal();
        case 'q': return keep(number(1));
        case 'r': return keep(number(4));
        case 'h': return recall(number(1));
        case 'j': return recall(number(4));
        default: return build(op);
        }
    }

    void build(unsigned char op)
    {
        switch (op) {
        case '(': m_marks.push_back(m_stack.size()); return;
        case ')': return push(tupleOf({}));
        case 0x85:
        case 0x86:
        case 0x87: return push(tupleOf(pop(op - 0x84U)));
        case 't': return push(tupleOf(popMarked()));
        case 'l':
        case 'd': popMarked(); return push({});
        case 'e':
        case 'u': popMarked(); return;
        case 'a':
        case 'b': pop(1); return;
        case 's': pop(2); return;
        case 0x81: pop(2); return push({});
        case 'R': return call(pop(2));
        case 'Q': return pushStorage(pop(1));
        default: m_fault = "the pickle has an operation that TorchScript files do not have: " + std::to_string(op);
        }
    }

    // ---- operands

    std::string_view take(std::uint64_t count)
    {
        static constexpr std::string_view zeros("\0\0\0\0\0\0\0\0", 8);
        if (count > m_pickle.size() - m_at) {
            m_fault = "the pickle ends within an operation";
            return zeros;
        }
        const std::string_view taken = m_pickle.substr(m_at, count);
        m_at += count;
        return taken;
    }

    // Little-endian, without a sign.
    std::uint64_t number(std::uint64_t count)
    {
        std::uint64_t value = 0;
        const std::string_view bytes = take(count);
        for (std::size_t i = count; i > 0 && m_fault.empty(); --i)
            value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
        return value;
    }

    enum class Sign : std::uint8_t { None, Highest };  // bit

    void pushNumber(std::uint64_t count, Sign sign)
    {
        if (count > 8) {
            m_fault = "the pickle has a number of more than 64 bits";
            return;
        }
        std::uint64_t value = number(count);
        const bool negative = sign == Sign::Highest && count > 0 && count < 8 && (value >> (8 * count - 1)) != 0;
        if (negative) value |= ~std::uint64_t{0} << (8 * count);
        push({.kind = Pickled::Kind::Number, .number = static_cast<std::int64_t>(value)});
    }

    void pushGlobal()
    {
        const std::size_t module = m_pickle.find('\n', m_at);
        const std::size_t name = module == std::string_view::npos ? module : m_pickle.find('\n', module + 1);
        if (name == std::string_view::npos) {
            m_fault = "the pickle ends within a name";
            return;
        }
        push({.kind = Pickled::Kind::Global, .text = m_pickle.substr(m_at, name - m_at)});
        m_at = name + 1;
    }

    // ---- the stack

    void push(Pickled item) { m_stack.push_back(std::move(item)); }

    std::vector<Pickled> popFrom(std::size_t start)
    {
        const auto from = m_stack.begin() + static_cast<std::ptrdiff_t>(start);
        std::vector<Pickled> items(std::make_move_iterator(from), std::make_move_iterator(m_stack.end()));
        m_stack.erase(from, m_stack.end());
        return items;
    }

    std::vector<Pickled> pop(std::size_t count)
    {
        if (m_stack.size() >= count + (m_marks.empty() ? 0 : m_marks.back())) return popFrom(m_stack.size() - count);
        m_fault = "the pickle takes more objects than it has made";
        return std::vector<Pickled>(count);
    }

    std::vector<Pickled> popMarked()
    {
        if (m_marks.empty()) {
            m_fault = "the pickle takes more objects than it has made";
            return {};
        }
        const std::size_t start = m_marks.back();
        m_marks.pop_back();
        return popFrom(start);
    }

    void keep(std::uint64_t id)
    {
        if (m_stack.empty()) m_fault = "the pickle takes more objects than it has made";
        else m_memo[id] = m_stack.back();
    }

    void recall(std::uint64_t id)
    {
        const auto it = m_memo.find(id);
        if (it == m_memo.end()) m_fault = "the pickle refers to an object that it has not made";
        else push(it->second);
    }

    // ---- tensors

    // ("storage", torch.FloatStorage, "3", "cpu", 64)
    void pushStorage(const std::vector<Pickled>& popped)
    {
        constexpr std::string_view torch = "torch\n";
        const Pickled& id = popped.at(0);
        const Pickled &type = id.at(1), &key = id.at(2), &elements = id.at(4);
        if (id.at(0).text != "storage" || type.kind != Pickled::Kind::Global || key.kind != Pickled::Kind::Text ||
            elements.kind != Pickled::Kind::Number || !type.text.starts_with(torch)) {
            m_fault = "the pickle refers to something that is not the storage of a tensor";
            return;
        }
        checkStorage(key.text, type.text.substr(torch.size()), elements.number);
        push({.kind = Pickled::Kind::Storage, .number = elements.number, .text = key.text});
    }

    void checkStorage(std::string_view key, std::string_view type, std::int64_t elements)
    {
        const std::string name = m_folder + bytes::printable(key);
        const std::int64_t each = elementBytes(type);
        std::int64_t needed = 0;
        if (each == 0) m_fault = name + " is of the unknown type torch." + bytes::printable(type);
        else if (elements < 0 || __builtin_mul_overflow(elements, each, &needed))
            m_fault = name + " is said to have " + std::to_string(elements) + " elements";
        if (needed == 0 || !m_fault.empty()) return;
        const Record* const record = m_archive.find(m_folder + std::string(key));
        if (!record) m_fault = "the entry " + name + " is missing";
        else if (record->size < static_cast<std::uint64_t>(needed))
            m_fault = "the entry " + name + " has " + std::to_string(record->size) + " bytes, but its tensor needs " +
                      std::to_string(needed);
    }

    void call(const std::vector<Pickled>& popped)
    {
        const Pickled &function = popped.at(0), &arguments = popped.at(1);
        if (rebuildsTensor(function)) checkTensor(arguments);
        if (function.text == "torch._tensor\n_rebuild_from_type_v2" && rebuildsTensor(arguments.at(0)))
            checkTensor(arguments.at(2));
        push({});
    }

    static bool rebuildsTensor(const Pickled& function)
    {
        return function.text == "torch._utils\n_rebuild_tensor_v2" || function.text == "torch._utils\n_rebuild_qtensor";
    }

    // (storage, offset, sizes, strides, ..)
    void checkTensor(const Pickled& arguments)
    {
        const Pickled& storage = arguments.at(0);
        const auto needed = reach(arguments.at(1).number, arguments.at(2), arguments.at(3));
        if (storage.kind == Pickled::Kind::Storage && needed && *needed <= storage.number) return;
        m_fault = "a tensor does not fit into its storage " + m_folder + bytes::printable(storage.text) +
                  " (number of elements: " + std::to_string(storage.number) + ")";
    }

    const Archive& m_archive;
    std::string m_folder;
    std::string_view m_pickle;
    std::size_t m_at = 0;
    bool m_ended = false;
    std::string m_fault;
    std::vector<Pickled> m_stack;
    std::vector<std::size_t> m_marks;
    std::map<std::uint64_t, Pickled> m_memo;
};

}  // namespace

base::Status checkTensorRecords(std::span<const std::byte> file, const Archive& archive, const std::string& name)
{
    for (const std::string pickle : {"data", "constants"}) {
        const Record* const record = archive.find(pickle + ".pkl");
        if (!record) continue;
        const auto bytes = readRecord(file, *record);
        if (!bytes) return base::forward(bytes);
        PickleScan scan(archive, pickle + "/", *bytes);
        const std::string fault = scan.run();
        if (!fault.empty())
            return fail(ErrorCode::Input, name + ": " + fault, "the file is damaged: copy or export it again",
                        pickle + ".pkl:" + std::to_string(scan.offset()));
    }
    return {};
}

}  // namespace hopscope::loader
