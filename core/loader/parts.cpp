#include "loader/parts.h"

#include <torch/library.h>

#include <algorithm>
#include <string_view>

#include "operators/names.h"
#include "operators/operators.h"

namespace hopscope::loader {

namespace {

// A key that LibTorch has for modes of this kind, and no backend uses.
constexpr c10::DispatchKey apart = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local const PartFn* current = nullptr;
thread_local int depth = 0;  // of composite operators that are running

struct Within {
    Within() { ++depth; }
    ~Within() { --depth; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
};

// Operators of other libraries and internal ones of LibTorch. Some read the memory of a tensor in a layout of their own.
bool isInternal(std::string_view name)
{
    constexpr std::string_view prefixes[] = {"aten::_",      "aten::fbgemm", "aten::quantized", "aten::choose_q",
                                             "aten::fused_", "aten::cudnn",  "aten::nested",    "aten::set_",
                                             "aten::retain", "aten::sparse_"};
    return name.ends_with("_backward") ||
           std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool mayBeTakenApart(const c10::FunctionSchema& schema)
{
    const std::string& name = schema.name();
    return name.starts_with("aten::") && !operators::known(name) && !schema.is_mutable() && !isInternal(name) &&
           !operators::isInstruction(name) && !operators::isToNumber(name) && !operators::hasSideEffects(name) &&
           !operators::takesGradients(name) && !operators::isRandom(name);
}

bool consistsOfOthers(const c10::OperatorHandle& op)
{
    return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
           !op.hasKernelForDispatchKey(c10::DispatchKey::CPU) && mayBeTakenApart(op.schema());
}

void handOver(const c10::OperatorHandle& op, torch::jit::Stack& stack)
{
    const PartFn& part = *current;
    const c10::impl::ExcludeDispatchKeyGuard whole(apart);
    const auto found = torch::jit::findOperatorFor(op.operator_name());
    TORCH_CHECK(found, "LibTorch lists no operator ", op.operator_name());
    const std::size_t arguments = op.schema().arguments().size();
    torch::jit::Stack own(stack.end() - static_cast<std::ptrdiff_t>(arguments), stack.end());
    part(*found, own);
    torch::jit::drop(stack, arguments);
    stack.insert(stack.end(), own.begin(), own.end());
}

void arrive(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack)
{
    const c10::DispatchKeySet below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, apart);
    if (current && consistsOfOthers(op)) {
        const Within within;
        op.redispatchBoxed(below, stack);
    } else if (current && depth > 0 && !operators::isInstruction(op.schema().name())) {
        handOver(op, *stack);
    } else {
        const c10::impl::ExcludeDispatchKeyGuard whole(apart);
        op.redispatchBoxed(below, stack);
    }
}

void registerFallback()
{
    static torch::Library library(torch::Library::IMPL, "_", apart, __FILE__, static_cast<uint32_t>(__LINE__));
    static const bool once = [] {
        library.fallback(torch::CppFunction::makeFromBoxedFunction<&arrive>());
        return true;
    }();
    static_cast<void>(once);
}

}  // namespace

bool isComposite(const c10::FunctionSchema& schema)
{
    const auto op = c10::Dispatcher::singleton().findSchema({schema.name(), schema.overload_name()});
    return op && consistsOfOthers(*op);
}

bool isComposite(const std::string& name)
{
    const auto all = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name));
    return std::ranges::any_of(all, [](const auto& op) { return isComposite(op->schema()); });
}

PartsApart::PartsApart(PartFn part) : m_part((registerFallback(), std::move(part))), m_before(current), m_include(apart)
{
    current = &m_part;
}

PartsApart::~PartsApart() { current = m_before; }

}  // namespace hopscope::loader
