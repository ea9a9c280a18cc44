# CPack runs this for each package between installing and compressing.
set(tree ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
execute_process(COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/../packaging/bundle.sh ${CPACK_GENERATOR} ${tree} COMMAND_ERROR_IS_FATAL ANY)
