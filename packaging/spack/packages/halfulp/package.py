# SPDX-License-Identifier: MIT

from spack.package import *


class Halfulp(MesonPackage):
    """Low-precision floating point, bit for bit: a C library, a command and a Python package."""

    # release: homepage, url and version("0.1.0", sha256="...")
    git = "file:///usr/src/halfulp"

    license("MIT")

    version("main", branch="main")

    variant("cuda", default=False, description="Build the CUDA kernels")
    variant("python", default=True, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1.0.1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("gmp")
    depends_on("inih")
    depends_on("jansson@2.10:")
    depends_on("mpfr")
    depends_on("cuda", when="+cuda")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-numpy@1.22:", type="run", when="+python")

    extends("python", when="+python")

    def meson_args(self):
        def switch(option, variant):
            state = "enabled" if self.spec.satisfies("+" + variant) else "disabled"
            return "-D{0}={1}".format(option, state)

        return [
            switch("cuda", "cuda"),
            switch("python", "python"),
            "-Dtests=disabled",
            "-Dbench=disabled",
            "-Dplanted=false",
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_installed(self):
        Executable(self.prefix.bin.halfulp)("verify", "--only", "golden")
