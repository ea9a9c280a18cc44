#include "loader/walk/location.h"

#include "loader/names.h"
#include "loader/scopes.h"
#include "loader/walk/provenance.h"
#include "loader/walk/walk_item.h"

namespace hopscope::loader {

namespace {

using base::ErrorCode;

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool aboutMemory(const std::string& line)
{
    return has(line, "not enough memory") || has(line, "allocate memory") || has(line, "out of memory") ||
           has(line, "std::bad_alloc");
}

// LibTorch reads the table of source lines when an operator throws, and throws something else where it cannot.
bool isDamage(const std::string& what)
{
    return has(what, "unpickling") || has(what, "Unpickler") || has(what, "PROTO opcode");
}

// The hint for an exception thrown by an operator.
const char* thrownHint(const std::string& what)
{
    if (has(what, "The shape of the mask"))
        return "to PyTorch, uint8 and bool numbers are a mask: store row numbers as int64";
    if (has(what, "sparse coordinate tensor layout but got"))
        return "give the matrix by its parts: NAME.coo_indices, NAME.coo_values and NAME.coo_size";
    if (has(what, "sparse row compressed tensor layout but got"))
        return "give the matrix by its parts: NAME.csr_crow, NAME.csr_col, NAME.csr_values and NAME.csr_size";
    if (has(what, "same dtype"))
        return "convert the inputs to the type of the weights, for instance x to float32 with x.float()";
    for (const char* sign : {"size", "shape", "out of bounds", "out of range", "dimension"})
        if (has(what, sign))
            return "a size may have been baked in during export (use scripting or x.size(0)), or an input holds row "
                   "numbers and has another role (inspect lists the roles; --role corrects them)";
    return "check in Python that the model accepts these inputs";
}

// Annotated instructions such as tolist() lose their line when they are saved; that of the instruction before is near.
ir::Source sourceNear(const torch::jit::Node& node)
{
    for (const torch::jit::Node* n = &node; n->kind() != c10::prim::Return && n->kind() != c10::prim::Param;
         n = n->prev()) {
        ir::Source source = sourceOf(*n);
        if (source.kind != ir::SourceKind::None) return source;
    }
    return {};
}

// For refusals without a hint of their own.
const char* hintFor(const std::string& message)
{
    if (message.starts_with("forward ")) return "check in Python that the model accepts these inputs";
    return "rewrite this line: Hopscope does not support this rarely used TorchScript construct";
}

}  // namespace

void Location::moveTo(const Node& node)
{
    m_node = &node;
    if (const torch::jit::ScopePtr scope = scopeOf(node)) m_modules = framesOf(*scope);
}

// Found once for each scope, from the outside in, so that calls have numbers in the order of their first nodes.
const std::vector<ir::ModuleFrame>& Location::framesOf(torch::jit::Scope& scope)
{
    if (const auto known = m_scopes.find(&scope); known != m_scopes.end()) return known->second;
    const torch::jit::ScopePtr outer = scope.isRoot() ? torch::jit::ScopePtr() : scope.parent();
    m_modules = outer ? framesOf(*outer) : std::vector<ir::ModuleFrame>();
    const ModuleScope inner = moduleOf(scope);
    setModuleClass(inner.path, inner.type);
    enter(outer ? moduleOf(*outer).path : std::string(), inner.path);
    return m_scopes[&scope] = m_modules;
}

std::size_t Location::enter(const std::string& caller, const std::string& callee)
{
    const std::size_t depth = m_modules.size();
    for (ir::ModuleFrame& frame : framesFor(caller, callee)) m_modules.push_back(std::move(frame));
    return depth;
}

// One frame per attribute step from the caller's module. Containers on the way are not called: they count with the
// caller's call.
std::vector<ir::ModuleFrame> Location::framesFor(const std::string& caller, const std::string& callee)
{
    if (callee == caller || callee.empty()) return {};
    const bool inside = caller.empty() || callee.starts_with(caller + ".");
    std::string path = inside ? caller : std::string();
    std::vector<ir::ModuleFrame> frames;
    for (std::size_t at = path.empty() ? 0 : path.size() + 1; at <= callee.size();) {
        const std::size_t end = std::min(callee.find('.', at), callee.size());
        path = callee.substr(0, end);
        const auto type = m_classes.find(path);
        frames.push_back({.name = callee.substr(at, end - at),
                          .type = type == m_classes.end() ? "" : type->second,
                          .call = m_modules.empty() ? 0 : m_modules.back().call});
        at = end + 1;
    }
    frames.back().call = ++m_calls;
    return frames;
}

const ir::Source& Location::source() const
{
    const Node* const node = m_node;
    const auto [it, isNew] = m_sources.try_emplace(node);
    if (isNew && node != nullptr) it->second = sourceNear(*node);
    return it->second;
}

ir::Op Location::newOp(const std::string& name, const std::string& overload) const
{
    ir::Op op;
    op.name = name;
    op.overload = overload;
    op.modules = m_modules;
    op.source = source();
    return op;
}

std::string Location::describe() const
{
    const Node* const node = m_node;
    return node != nullptr ? ir::describeOp(newOp(node->kind().toQualString(), {})) : std::string();
}

std::string Location::place() const
{
    const Node* const node = m_node;
    if (node == nullptr) return "the model";
    ir::Op op;
    op.name = node->kind().toQualString();
    op.source = sourceNear(*node);
    return ir::describeOp(op);
}

void Location::refuse(const std::string& message, const std::string& hint) const
{
    throw Refused{base::makeError(ErrorCode::Unsupported, message, hint.empty() ? hintFor(message) : hint, describe())};
}

void Location::refuseThrown(const std::string& what) const
{
    const std::string line = names::firstLine(what);
    if (aboutMemory(line))
        throw Refused{base::makeError(ErrorCode::Resources, "forward requests more memory than it may use: " + line,
                                      "let this line allocate less", describe()),
                      false};
    const bool damaged = isDamage(line);
    const Node* const node = m_node;
    const bool width = node != nullptr && node->kind() == c10::aten::linear && has(line, "cannot be multiplied");
    throw Refused{
        base::makeError(ErrorCode::Unsupported,
                        (damaged ? "a table of the file cannot be read: " : "forward fails on the sample: ") + line,
                        damaged ? "the file is damaged: copy or export it again"
                        : width ? "the weights expect a different number of columns: check which features the "
                                  "model was trained on"
                                : thrownHint(line),
                        describe()),
        true};
}

}  // namespace hopscope::loader
