# SPDX-License-Identifier: MIT
{ pkgs ? import <nixpkgs> { } }:

let
  inherit (pkgs) lib stdenv;
in
stdenv.mkDerivation {
  pname = "halfulp";
  version = "0.1.0";

  src = lib.cleanSource ../..; # release: fetchurl

  nativeBuildInputs = [
    pkgs.meson
    pkgs.ninja
    pkgs.pkg-config
    pkgs.python3
  ];

  buildInputs = [
    pkgs.gmp
    pkgs.inih
    pkgs.jansson
    pkgs.mpfr
  ];

  mesonFlags = [
    "-Dcuda=disabled"
    "-Dtests=disabled"
    "-Dbench=disabled"
    "-Dplanted=false"
  ];

  doInstallCheck = true;
  installCheckPhase = ''
    runHook preInstallCheck
    $out/bin/halfulp verify --only golden
    runHook postInstallCheck
  '';

  meta = {
    description = "Low-precision floating point, bit for bit";
    license = lib.licenses.mit;
    mainProgram = "halfulp";
    platforms = lib.platforms.unix;
  };
}
