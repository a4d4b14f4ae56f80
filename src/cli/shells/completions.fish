# Completions of hookctl for fish: it knows itself what can stand where.
function __hookctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found (hookctl complete -- $words[2..-1] "$current" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c hookctl -f -a '(__hookctl_complete)'
