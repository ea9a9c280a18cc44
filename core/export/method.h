#pragma once

// Private to export: a method of the generated module while it is written, statement by statement.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "export/text.h"

namespace hopscope::exporter {

struct Parameter {
    std::string name;
    bool number = false;  // an int; else a tensor
};

struct Statement {
    std::vector<std::string> targets;  // none: an assertion
    Text value;
    std::string comment;  // heads the lines below, if it differs from that of the statement before
};

class Method {
public:
    explicit Method(std::string name) : m_name(std::move(name)) {}

    // A name unique among the variables of the method.
    std::string fresh(const std::string& wanted);
    // A parameter with such a name.
    std::string parameter(const std::string& wanted, bool number);
    // The variable that holds `value`: an earlier one with the same value, or a new one.
    std::string assign(const std::string& wanted, const Text& value);
    // One variable per element of a list or tuple.
    std::vector<std::string> unpack(const std::vector<std::string>& wanted, const Text& value);
    void check(const Text& condition, const std::string& complaint);
    // Sets the origin of the statements from now on: "conv1.lin (sage_conv.py:134)".
    void comesFrom(const std::string& comment) { m_comment = comment; }
    void returns(Text value) { m_result = std::move(value); }

    // Drops statements and parameters that are not used. To be called once, at the end.
    void prune();

    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::vector<Parameter>& parameters() const { return m_parameters; }
    [[nodiscard]] bool knows(const std::string& name) const { return m_taken.contains(name); }
    [[nodiscard]] const std::vector<Statement>& statements() const { return m_statements; }
    [[nodiscard]] const Text& result() const { return m_result; }

private:
    void findDevice();

    std::string m_name, m_comment;
    std::vector<Parameter> m_parameters;
    std::vector<Statement> m_statements;
    Text m_result;
    std::set<std::string> m_taken;
    std::map<std::string, std::vector<std::string>> m_assigned;  // by the value in Python
};

}  // namespace hopscope::exporter
