# The tiers of the tests, by name: what is not listed here belongs to the default tier. The default tier includes the quick one,
# and the full tier everything.

# What one runs after each change (ctest --preset quick): the units, a few models in a few configurations, the window's parts.
set(hopscope_quick
  # sources and data
  house_boundaries house_contributing house_faults house_figures house_hints house_licences house_pages house_prose house_samples house_style house_together
  house_version desktop_files mutants_fit
  # core
  base json solver operators graph graph_interop analysis analysis_inputs placement schema protocol kernels gpu confine
  # core with LibTorch
  loader export_code forecast fork_server debugger pipeline engine_parts fake_device
  # the engine
  bench_place engine_forks engine_goldens engine_serves_parts
  # models
  zoo models_quick
  # the window
  style manual widgets_tables run_log workers plot_geometry layout fold refold scene stubs layout_client graph_panel graph_cuts panel_texts
  stage_texts panels pins run_panels plots worker_lanes study lesson profile tensor phases cuts workbench workbench_plans
  window_command_line window_session window_checks window_rules)

# Whole products, repeated kills, clusters, benchmarks, and what repeats another test with a larger graph or on another screen.
set(hopscope_full
  faults_mutated_all faults_exported_all faults_changed_all zoo_full zoo_arguments_all models_arguments_all zoo_signatures models_signatures models_cover models_cora_all random_programs_all
  zoo_exported models_exported zoo_decomposed models_decomposed device_faults_all export_texts_all export_mutated_all
  engine_confine_bench engine_kills_all engine_large engine_limits_all engine_moments_all engine_moved_all engine_pages_all engine_places_all engine_strangers_all engine_windows gpu_check_all
  graphview_bench plots_bench tensor_bench peers_bench peers_gpu_all python_bench scale_bench predictions_bench
  python_door_all python_door_export python_gallery python_scale_kills python_scale_ray python_scale_serve
  window_bench window_every_file window_kills_all window_other_models window_large_model window_models engine_drag window_scale_model window_scale
  window_trade_off_all window_screenshots_100 window_screenshots_200 window_at_150 window_under_xvfb_all)

# hopscope_tiers(TEST...): labels tests of the current folder with their tier. A whole list of models is of the full tier.
function(hopscope_tiers)
  foreach(test ${ARGN})
    if(test IN_LIST hopscope_quick)
      set(tier quick)
    elseif(test IN_LIST hopscope_full)
      set(tier full)
    else()
      set(tier default)
    endif()
    set_property(TEST ${test} APPEND PROPERTY LABELS ${tier})
  endforeach()
endfunction()

# Labels all tests that the current folder has added.
macro(hopscope_tiers_of_folder)
  get_property(hopscope_tests DIRECTORY PROPERTY TESTS)
  hopscope_tiers(${hopscope_tests})
endmacro()
