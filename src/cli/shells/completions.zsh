#compdef hookctl
# Completions of hookctl for zsh: it knows itself what can stand where.
_hookctl() {
    local line tab=$'\t'
    local -a found
    for line in "${(@f)$($words[1] complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${${line//:/\\:}/$tab/:}")
    done
    if (( $#found )); then
        _describe hookctl found
    else
        _files
    fi
}
if [[ $funcstack[1] == _hookctl ]]; then
    _hookctl "$@"
else
    compdef _hookctl hookctl
fi
