# Installs DIST/mayfly.json with Scoop from the archive in DIST: packages/release/scoop_test.ps1 DIST
#
# It has never been run, because that needs Windows.
param([Parameter(Mandatory)][string]$Dist)
$ErrorActionPreference = "Stop"
$PSNativeCommandUseErrorActionPreference = $true

$Dist = (Resolve-Path $Dist).Path
$work = Join-Path ([IO.Path]::GetTempPath()) "mayfly-scoop"
Remove-Item -Recurse -Force $work -ErrorAction SilentlyContinue
$env:SCOOP = $work
# Scoop 0.5.3, at a fixed commit.
$scoop = Join-Path $work "apps\scoop\current"
git clone --quiet --branch v0.5.3 --depth 1 https://github.com/ScoopInstaller/Scoop $scoop
$commit = git -C $scoop rev-parse HEAD
if ($commit -ne "b588a06e41d920d2123ec70aee682bae14935939") { throw "the tag v0.5.3 of Scoop is the commit $commit" }

# The archive is not public yet, so the manifest names the file in DIST.
$manifest = Get-Content -Raw (Join-Path $Dist "mayfly.json") | ConvertFrom-Json
$entry = $manifest.architecture."64bit"
$archive = Join-Path $Dist ($entry.url -split "/")[-1]
$hash = (Get-FileHash -Algorithm SHA256 $archive).Hash.ToLowerInvariant()
if ($hash -ne $entry.hash) { throw "the manifest has the hash $($entry.hash), but $archive has $hash" }
$entry.url = ([Uri]$archive).AbsoluteUri
$trial = Join-Path $work "mayfly.json"
$manifest | ConvertTo-Json -Depth 10 | Set-Content -Encoding utf8NoBOM $trial

& (Join-Path $scoop "bin\scoop.ps1") install $trial
$printed = & (Join-Path $work "shims\mayfly.exe") --version
if ($printed -ne "mayfly $($manifest.version)") { throw "the installed program prints '$printed' for --version" }
Write-Output "scoop_test: $printed"
