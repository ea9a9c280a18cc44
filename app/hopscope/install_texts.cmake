# Installs the man page of the window, made of its help. `window` is the built program.
execute_process(COMMAND ${CMAKE_COMMAND} -E env QT_QPA_PLATFORM=offscreen ${window} --version OUTPUT_VARIABLE version
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env QT_QPA_PLATFORM=offscreen ${window} --help OUTPUT_VARIABLE help
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "^Usage: [^\n]*hopscope ([^\n]*)\n.*\nOptions:\n(.*)$" whole "${help}")
if(NOT whole)
  message(FATAL_ERROR "${window} --help has no usage line or no options")
endif()
set(usage "${CMAKE_MATCH_1}")
set(options "${CMAKE_MATCH_2}")
foreach(text usage options)
  string(REPLACE "\\" "\\e" ${text} "${${text}}")
  string(REPLACE "-" "\\-" ${text} "${${text}}")
endforeach()
set(page "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/man/man1/hopscope.1")
string(CONCAT text ".TH HOPSCOPE 1 \"\" \"${version}\" \"User Commands\"\n"
  ".SH NAME\nhopscope \\- window for layer\\-wise inference of graph neural networks\n"
  ".SH SYNOPSIS\n.B hopscope\n${usage}\n"
  ".SH DESCRIPTION\nShows the graph of a model, the stages in which it runs and the values stored between them; moves the cuts, runs the "
  "model and verifies the results. It starts\n.BR hopscope\\-engine (1),\nwhich opens models and runs them, and hopscope\\-layout, "
  "which places the nodes of the graph.\n"
  ".SH OPTIONS\n.EX\n${options}.EE\n.SH SEE ALSO\n.BR hopscope\\-engine (1)\n")
file(WRITE ${page} "${text}")
message(STATUS "Installing: ${page}")
