/**
 * The function that bash calls for a word to complete, over the tables of completionScript.ts. Bash breaks words at "=", so
 * that --name=value comes in three pieces, and only the last piece is replaced. Names of files are left to bash itself, which
 * knows about quotes, blanks and folders.
 */
export const BASH_FUNCTION = `
_ibex() {
  local IFS=$' \\t\\n' _ibex_reply='' command='' expected='' word='' index=0 count=0
  local -a words=()
  for ((index = 1; index <= COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if ((count > 0)) && [[ \${words[count - 1]} == -* && ($word == =* || \${words[count - 1]} == *=) ]]; then
      words[count - 1]+=$word
    else
      words[count]=$word
      ((count += 1))
    fi
  done
  for ((index = 0; index < count - 1; index++)); do
    word=\${words[index]}
    _ibex_read
  done

  local current=\${words[count - 1]} piece=\${COMP_WORDS[COMP_CWORD]}
  [[ $piece == '=' ]] && piece=''
  local before=\${current%"$piece"}
  COMPREPLY=()
  if [[ $current == -*=* ]]; then
    _ibex_value "$command" "\${current%%=*}"
    _ibex_offer_value "\${current%%=*}=" "\${current#*=}"
  elif [[ $current == -* ]]; then
    _ibex_options "$command"
    _ibex_offer '' $_ibex_reply
    if ((\${#COMPREPLY[@]} == 0)); then
      _ibex_rare "$command"
      _ibex_offer '' $_ibex_reply
    fi
    [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  elif [[ -n $expected ]]; then
    _ibex_value "$command" "$expected"
    _ibex_offer_value '' "$current"
  else
    _ibex_words "$command"
    if [[ " $_ibex_reply " == *' files '* ]]; then
      compopt -o default 2>/dev/null
    else
      _ibex_offer '' $_ibex_reply
    fi
  fi
  return 0
}

# Adds the words that begin as the current one does, without what stays before the piece that is replaced.
_ibex_offer() {
  local start=$1 word
  shift
  for word; do
    [[ $start$word == "$current"* ]] && COMPREPLY+=("$start$word")
  done
  [[ -n $before ]] && COMPREPLY=("\${COMPREPLY[@]#"$before"}")
  return 0
}

# Offers values of the kind that _ibex_value has found: $1 is what stands before the value, $2 its beginning.
_ibex_offer_value() {
  local kind=\${_ibex_reply%% *} choices=\${_ibex_reply#* } named='' word left=''
  case $kind in
  files) compopt -o default 2>/dev/null ;;
  switch|one) _ibex_offer "$1" $choices ;;
  list)
    [[ $2 == *,* ]] && named=\${2%,*},
    for word in $choices; do
      [[ ,$named == *",$word,"* ]] || left+=" $word"
    done
    _ibex_offer "$1$named" $left
    compopt -o nospace 2>/dev/null
    ;;
  esac
}

complete -F _ibex ibex
`;
