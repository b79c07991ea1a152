
# Completes paths of nodes, also inside of hierarchies, after the static completions.
_zarrox_paths() {
    local line="${COMP_LINE:0:COMP_POINT}" path
    local word="${line##*[[:space:]]}"
    COMPREPLY=()
    _zarrox "$@"
    if [[ $COMP_CWORD -lt 2 || $word == -* || ( -n $word && ${#COMPREPLY[@]} -gt 0 ) ]]; then
        return
    fi
    COMPREPLY=()
    # Bash splits words at colons and equals signs, so completions lack the text before the last of them.
    local before="${word%"${word##*[:=]}"}"
    while IFS= read -r path; do
        COMPREPLY+=("${path#"$before"}")
    done < <("${COMP_WORDS[0]}" __paths "$word" 2> /dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -F _zarrox_paths -o bashdefault -o default zarrox
