# SPDX-License-Identifier: MIT
# release: vcpkg_from_github or vcpkg_download_distfile instead
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

if("tools" IN_LIST FEATURES)
    set(whole enabled)
else()
    set(whole disabled)
endif()

vcpkg_configure_meson(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -Dwhole=${whole}
        -Doracle=${whole}
        -Dcuda=disabled
        -Dtests=disabled
        -Dbench=disabled
        -Dplanted=false
)
vcpkg_install_meson()
if("tools" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES halfulp AUTO_CLEAN)
endif()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(PACKAGE_NAME halfulp CONFIG_PATH lib/cmake/halfulp)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
