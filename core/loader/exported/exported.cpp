#include "loader/exported/exported.h"

#include <torch/csrc/jit/ir/ir.h>

#include "loader/exported/graph.h"
#include "loader/exported/limits.h"
#include "loader/exported/module_tree.h"
#include "loader/exported/tree.h"
#include "loader/exported/weights.h"

namespace hopscope::loader {

namespace exported {

namespace {

using base::ErrorCode;
using json::Reader;
using torch::jit::Value;

constexpr std::int64_t knownSchema = 8;
constexpr const char* tables[][2] = {{"data/weights/", "weights"}, {"data/constants/", "constants"}};

// "model" of "models/model.json".
std::string modelName(const Archived& file)
{
    const std::string begin = file.archive.root + "/models/", end = ".json";
    std::string found, names;
    for (const Record& record : file.archive.records) {
        if (!record.name.starts_with(begin) || !record.name.ends_with(end)) continue;
        found = record.name.substr(begin.size(), record.name.size() - begin.size() - end.size());
        names += (names.empty() ? "" : ", ") + found;
    }
    if (names != found)
        refuse(ErrorCode::Unsupported, file.path + " holds several programs: " + names,
               "save each of them in a file of its own, with torch.export.save", file.path);
    return found;
}

void checkVersion(const Reader& program, const std::string& path)
{
    const Reader version = child(program, "schema_version");
    const std::int64_t major = number(version, "major"), minor = number(version, "minor");
    if (major == knownSchema) return;
    refuse(ErrorCode::Unsupported,
           path + " has version " + std::to_string(major) + "." + std::to_string(minor) +
               " of torch.export's format, but Hopscope reads only version " + std::to_string(knownSchema) + ".x",
           "save the program with PyTorch 2.9 to 2.15", path);
}

// Adds the classes of all modules by their paths, as far as nodes name them, also those of graphs within.
void addClasses(const Reader& graph, std::map<std::string, std::string>& classes)
{
    std::string last;
    for (const Reader& node : items(graph, "nodes")) {
        if (text(node, "target").starts_with(higherOrder))
            for (const Reader& argument : items(node, "inputs"))
                if (const Union value = unionOf(child(argument, "arg")); value.kind == "as_graph")
                    addClasses(child(value.value, "graph"), classes);
        const std::string stack = textOr(child(node, "metadata"), "nn_module_stack");
        if (stack == last) continue;
        for (const ModuleScope& module : modulesIn(stack)) classes.try_emplace(module.path, module.type);
        last = stack;
    }
}

std::map<std::string, std::string> classesIn(const Reader& graph)
{
    std::map<std::string, std::string> classes;
    addClasses(graph, classes);
    return classes;
}

class ProgramReader {
public:
    ProgramReader(Archived file, const Reader& program)
        : m_file(file),
          m_program(program),
          m_module(child(program, "graph_module")),
          m_weights(file),
          m_tree(classesIn(child(m_module, "graph"))),
          m_builder(file.path, *m_graph),
          m_limits(program)
    {}

    ExportedModule read(const std::string& name)
    {
        for (const auto& [folder, kind] : tables) {
            const std::string table = folder + name + "_" + kind + "_config.json";
            if (m_file.archive.find(table) != nullptr) m_weights.add(table, folder);
        }
        m_self = m_graph->addInput("self");
        m_self->setType(m_tree.root().type());
        m_arguments.emplace_back("self", m_self->type());
        readInputs();
        for (const Reader& node : items(child(m_module, "graph"), "nodes")) m_builder.add(node);
        m_builder.leaveNodes();
        Value* const result = readOutputs();
        m_graph->registerOutput(result);
        c10::FunctionSchema schema("forward", "", m_arguments, {c10::Argument("", result->type())});
        return {m_tree.finish(m_graph, std::move(schema)), m_limits.finish(m_names)};
    }

private:
    Reader signature() const { return child(m_module, "signature"); }

    // Of the call of the whole model.
    Reader call() const
    {
        for (const Reader& entry : items(m_module, "module_call_graph"))
            if (text(entry, "fqn").empty()) return child(entry, "signature");
        refuse(ErrorCode::Input, m_file.path + " lacks the signature of the model", "save the program again");
    }

    void readInputs();
    void readInput(const Union& input, const std::string& name);
    void addArgument(const Union& given, const std::string& name);
    void addConstant(const Reader& input, const std::string& name);
    std::vector<std::string> argumentNames(const std::vector<Union>& inputs) const;
    Value* readOutputs();
    Value* gather(const Tree& tree, const std::vector<Value*>& leaves, std::size_t& next);

    Archived m_file;
    Reader m_program, m_module;
    Weights m_weights;
    ModuleTree m_tree;
    std::shared_ptr<torch::jit::Graph> m_graph = std::make_shared<torch::jit::Graph>();
    GraphBuilder m_builder;
    Limits m_limits;
    Value* m_self = nullptr;
    std::vector<c10::Argument> m_arguments;
    std::vector<std::string> m_names;  // of the user's inputs
};

bool isUsers(const Union& input) { return input.kind == "user_input" || input.kind == "constant_input"; }

std::string placeholderOf(const Union& input)
{
    if (input.kind == "constant_input") return text(input.value, "name");
    const Union given = unionOf(child(input.value, "arg"));
    return textOr(given.value, given.kind == "as_tensor" ? "name" : "as_name");
}

// The names of the user's inputs, in order.
std::vector<std::string> ProgramReader::argumentNames(const std::vector<Union>& inputs) const
{
    std::vector<std::string> placeholders, names;
    for (const Union& input : inputs)
        if (isUsers(input)) placeholders.push_back(placeholderOf(input));
    if (call().has("forward_arg_names"))
        for (const Reader& name : items(call(), "forward_arg_names")) names.push_back(name.as<std::string>());
    check(m_module);
    std::vector<std::string> leaves = leafNames(parseTree(text(call(), "in_spec"), m_file.path + ": in_spec"), names);
    const bool named = leaves.size() == placeholders.size() && (!names.empty() || leaves.empty());
    return named ? leaves : placeholders;
}

void ProgramReader::readInputs()
{
    std::vector<Union> inputs;
    for (const Reader& input : items(signature(), "input_specs")) inputs.push_back(unionOf(input));
    m_names = argumentNames(inputs);
    std::size_t next = 0;
    for (const Union& input : inputs) readInput(input, isUsers(input) ? m_names[next++] : std::string());
}

void ProgramReader::readInput(const Union& input, const std::string& name)
{
    Values& values = m_builder.values();
    if (input.kind == "user_input") return addArgument(unionOf(child(input.value, "arg")), name);
    if (input.kind == "constant_input") return addConstant(input.value, name);
    const bool isParameter = input.kind == "parameter", isConstant = input.kind == "tensor_constant";
    if (!isParameter && !isConstant && input.kind != "buffer")
        refuse(ErrorCode::Unsupported,
               m_file.path + " has an input of the kind " + input.kind + ", which Hopscope does not support",
               "export a model of tensors and numbers, without custom objects or operators with side effects",
               m_file.path);
    const std::string key = isConstant ? "tensor_constant_name" : input.kind + "_name";
    const std::string tensor = text(input.value, key), value = text(child(input.value, "arg"), "name");
    values.define(value, isConstant ? values.constant(m_weights.named(tensor))
                                    : m_tree.add(tensor, m_weights.named(tensor), !isParameter, *m_graph, m_self));
}

void ProgramReader::addArgument(const Union& given, const std::string& name)
{
    static const std::map<std::string, c10::TypePtr> types = {{"as_tensor", c10::TensorType::get()},
                                                              {"as_sym_int", c10::IntType::get()},
                                                              {"as_sym_float", c10::FloatType::get()},
                                                              {"as_sym_bool", c10::BoolType::get()}};
    const auto type = types.find(given.kind);
    if (type == types.end())
        refuse(ErrorCode::Unsupported,
               m_file.path + ": the input '" + name + "' is of the kind " + given.kind +
                   ", which Hopscope does not support",
               "wrap the model in a module whose forward takes tensors", name);
    Value* const input = m_graph->addInput();
    input->setType(type->second);
    m_arguments.emplace_back(name, type->second);
    const std::string value = text(given.value, given.kind == "as_tensor" ? "name" : "as_name");
    m_builder.values().define(value, input);
    if (given.kind == "as_tensor") m_limits.addInput(value, name);
}

// The program computes with the number that it was exported with, which is part of it and no argument.
void ProgramReader::addConstant(const Reader& input, const std::string& name)
{
    const Union value = unionOf(child(input, "value"));
    if (value.kind == "as_int") m_limits.addConstant(name, value.value.as<std::int64_t>());
    if (value.kind == "as_bool") m_limits.addConstant(name, value.value.as<bool>() ? 1 : 0);
    check(input);
}

Value* ProgramReader::readOutputs()
{
    std::vector<Value*> leaves;
    for (const Reader& output : items(signature(), "output_specs")) {
        const Union result = unionOf(output);
        if (result.kind != "user_output")
            refuse(ErrorCode::Unsupported,
                   m_file.path + ": forward has a side effect (" + result.kind +
                       "), which an evaluation in batches would repeat",
                   "export the model in eval mode, and without writing to its buffers and arguments", m_file.path);
        leaves.push_back(m_builder.values().argument(child(result.value, "arg")));
    }
    std::size_t next = 0;
    Value* const whole = gather(parseTree(text(call(), "out_spec"), m_file.path + ": out_spec"), leaves, next);
    if (next != leaves.size())
        refuse(ErrorCode::Input, m_file.path + ": the program has more results than its out_spec has places",
               "save the program again");
    return whole;
}

Value* ProgramReader::gather(const Tree& tree, const std::vector<Value*>& leaves, std::size_t& next)
{
    if (tree.kind == Tree::Kind::Leaf) {
        if (next >= leaves.size())
            refuse(ErrorCode::Input, m_file.path + ": the program has fewer results than its out_spec has places",
                   "save the program again");
        return leaves[next++];
    }
    std::vector<Value*> parts, keys;
    for (const Tree& part : tree.parts) parts.push_back(gather(part, leaves, next));
    if (tree.kind == Tree::Kind::Sequence) return m_graph->insertNode(m_graph->createTuple(parts))->output();
    for (const std::string& key : tree.keys) keys.push_back(m_graph->insertConstant(key));
    const bool alike = std::ranges::all_of(parts, [&](Value* part) { return *part->type() == *parts[0]->type(); });
    const c10::TypePtr type = alike && !parts.empty() ? parts[0]->type() : c10::TypePtr(c10::AnyType::get());
    return m_graph->insertNode(m_graph->createDict(c10::StringType::get(), type, keys, parts))->output();
}

}  // namespace

}  // namespace exported

base::Result<ExportedModule> readExported(std::span<const std::byte> file, const Archive& archive,
                                          const std::string& path)
{
    try {
        const exported::Archived archived{file, archive, path};
        const std::string name = exported::modelName(archived);
        const json::Value root = exported::readJson(archived, "models/" + name + ".json");
        const json::Reader program(root, path + ": models/" + name + ".json");
        exported::checkVersion(program, path);
        return exported::ProgramReader(archived, program).read(name);
    } catch (exported::Refusal& refusal) {
        return tl::unexpected(std::move(refusal.error));
    }
}

}  // namespace hopscope::loader
