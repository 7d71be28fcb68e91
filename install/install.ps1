# Installs mlsys from a prebuilt archive, for one user and without administrator rights.
#
#     powershell -ExecutionPolicy Bypass -File install.ps1               download, check, install
#     powershell -ExecutionPolicy Bypass -File install.ps1 -Uninstall    remove the program, take it off the path
#
#     -From ADDRESS   where the archives are: a web address or a folder     [MLSYS_INSTALL_FROM]
#     -To FOLDER      where the program goes                                [MLSYS_INSTALL_TO]
#     -NoPath         leave the user's Path as it is
#
# The archive is downloaded with its SHA-256 checksum; if they differ, nothing is installed. Your answers and runs are in
# a folder of their own (mlsys doctor names it), which -Uninstall leaves alone.
param([string]$From, [string]$To, [switch]$NoPath, [switch]$Uninstall)

Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
# Windows PowerShell draws a progress bar for each buffer, which takes longer than the download.
$ProgressPreference = 'SilentlyContinue'

# A release's copy of this script has the release's address here (install/archive.py --installers writes it).
$ReleaseUrl = ''

function Fail([string]$Message) {
    [Console]::Error.WriteLine("install.ps1: $Message")
    exit 1
}

# The user's Path as it is stored: %NAMES% in it stay names.
function Get-UserPath {
    $value = (Get-Item 'HKCU:\Environment').GetValue('Path', '', 'DoNotExpandEnvironmentNames')
    return @($value -split ';' | Where-Object { $_ -ne '' })
}

function Set-UserPath([string[]]$Folders) {
    Set-ItemProperty 'HKCU:\Environment' -Name Path -Type ExpandString -Value ($Folders -join ';')
    # Setting a variable by this function, unlike the line above, tells running programs that the environment changed.
    [Environment]::SetEnvironmentVariable('MLSYS_INSTALL_NOTICE', '1', 'User')
    [Environment]::SetEnvironmentVariable('MLSYS_INSTALL_NOTICE', [NullString]::Value, 'User')
}

function Get-ReleaseFile([string]$Name, [string]$File) {
    try {
        if ($From -match '^https?://') {
            Invoke-WebRequest -UseBasicParsing -Uri "$From/$Name" -OutFile $File
        } else {
            Copy-Item -LiteralPath (Join-Path $From $Name) -Destination $File
        }
    } catch {
        Fail "cannot get $From/$Name ($($_.Exception.Message)); see whether the address opens in a browser, or pass another with -From"
    }
}

function Install-Program([string]$Work) {
    if (-not $From) { Fail 'this copy names no release to download from; pass its address or a folder with -From' }
    $processor = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    # Windows on ARM runs programs for x86-64.
    if ($processor -notin 'AMD64', 'ARM64') {
        Fail "there is no archive for a processor of kind $processor; with Rust, 'cargo install --locked --path app/mlsys' in a clone builds it"
    }
    $folder = 'mlsys-x86_64-pc-windows-msvc'
    $archive = Join-Path $Work "$folder.zip"
    Write-Host "Downloading $From/$folder.zip"
    Get-ReleaseFile "$folder.zip.sha256" "$archive.sha256"
    Get-ReleaseFile "$folder.zip" $archive
    $expected = ("$(Get-Content -LiteralPath "$archive.sha256" -TotalCount 1)" -split ' ')[0]
    if ($expected -cnotmatch '^[0-9a-f]{64}$') {
        Fail "$From/$folder.zip.sha256 is no checksum file; nothing was installed. Is the address right?"
    }
    $actual = (Get-FileHash -LiteralPath $archive -Algorithm SHA256).Hash.ToLowerInvariant()
    if ($actual -ne $expected) {
        Fail "the archive is not the released one, nothing was installed.`n    released    $expected`n    downloaded  $actual`nTry again; if it stays so, report it where you found this script."
    }
    Expand-Archive -LiteralPath $archive -DestinationPath $Work
    # Tried before it replaces one that works.
    $new = Join-Path (Join-Path $Work $folder) 'mlsys.exe'
    $version = & $new --version
    if ($LASTEXITCODE -ne 0) { Fail 'the program does not start on this system (above is why); nothing was installed' }
    try {
        New-Item -ItemType Directory -Force -Path $To | Out-Null
        Copy-Item -LiteralPath $new -Destination $Program -Force
    } catch {
        Fail "cannot write $Program ($($_.Exception.Message)); end mlsys if it is running, or name another folder with -To"
    }
    Write-Host "Installed $version as $Program"
    if ((Get-UserPath) -contains $To) {
        Write-Host "$To is on your Path already."
    } elseif ($NoPath) {
        Write-Host "$To is not on your Path; start the program as $Program"
    } else {
        Set-UserPath (@($To) + @(Get-UserPath))
        Write-Host "$To is on your Path from now on: open a new terminal."
    }
    Write-Host 'Begin with: mlsys'
}

function Uninstall-Program {
    $folders = @(Get-UserPath)
    if ($folders -contains $To) {
        Set-UserPath @($folders | Where-Object { $_ -ne $To })
        Write-Host "took $To off your Path"
    }
    if (-not (Test-Path -LiteralPath $Program)) { Fail "there is no mlsys.exe in $To; name its folder with -To" }
    try {
        Remove-Item -LiteralPath $Program
    } catch {
        Fail "cannot remove $Program ($($_.Exception.Message)); end mlsys if it is running"
    }
    if (-not (Get-ChildItem -Force -LiteralPath $To)) { Remove-Item -LiteralPath $To }
    Write-Host "removed $Program"
}

if (-not $From) { $From = if ($env:MLSYS_INSTALL_FROM) { $env:MLSYS_INSTALL_FROM } else { $ReleaseUrl } }
if (-not $To) { $To = if ($env:MLSYS_INSTALL_TO) { $env:MLSYS_INSTALL_TO } else { Join-Path $env:LOCALAPPDATA 'Programs\mlsys' } }
$From = $From.TrimEnd('/')
$To = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($To)
$Program = Join-Path $To 'mlsys.exe'

if ($Uninstall) {
    Uninstall-Program
} else {
    $work = Join-Path ([IO.Path]::GetTempPath()) "mlsys-$([Guid]::NewGuid())"
    New-Item -ItemType Directory -Path $work | Out-Null
    try { Install-Program $work } finally { Remove-Item -Recurse -Force -LiteralPath $work }
}
