# SPDX-License-Identifier: MIT
class Halfulp < Formula
  desc "Low-precision floating point, bit for bit"
  license "MIT"
  # release: homepage, url and sha256
  head "file://#{File.expand_path("../..", __dir__)}", using: :git, branch: "main"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "gmp"
  depends_on "inih"
  depends_on "jansson"
  depends_on "mpfr"

  uses_from_macos "python" => :build

  def install
    args = %w[-Dcuda=disabled -Dtests=disabled -Dbench=disabled -Dplanted=false]
    system "meson", "setup", "build", *args, *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build"
  end

  test do
    assert_equal "7e", shell_output("#{bin}/halfulp encode -f float8_e4m3fn 460").strip
    system bin/"halfulp", "verify", "--only", "golden"
  end
end
