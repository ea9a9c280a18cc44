# Installs the texts that the program prints about itself: completions and the man page. `engine` is the built program.
function(install_text file)
  set(path "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/${file}")
  cmake_path(GET path PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${engine} ${ARGN} OUTPUT_FILE ${path} COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "Installing: ${path}")
endfunction()

install_text(bash-completion/completions/hopscope-engine completion bash)
install_text(zsh/site-functions/_hopscope-engine completion zsh)
install_text(fish/vendor_completions.d/hopscope-engine.fish completion fish)
install_text(man/man1/hopscope-engine.1 manual man)
