# cmake -DSOURCE=CHECKOUT -DINTO=HEADER -P: writes the commit that is checked out, with "+" where files differ from it. The header
# stays as it is while that does not change.
find_package(Git QUIET)
set(HOPSCOPE_COMMIT unknown)
if(GIT_FOUND AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --exclude=* --abbrev=8 --dirty=+
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(found)
    set(HOPSCOPE_COMMIT ${found})
  endif()
endif()
configure_file(${SOURCE}/app/engine/commit.h.in ${INTO} @ONLY)
