/** The function that zsh calls for a word to complete, over the tables of completionScript.ts. */
export const ZSH_FUNCTION = `
_ibex() {
  local _ibex_reply='' command='' expected='' word=''
  local -i index
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    _ibex_read
  done

  word=\${words[CURRENT]}
  if [[ $word == -*=* ]]; then
    _ibex_value "$command" "\${word%%=*}"
    compset -P 1 '*='
    _ibex_offer_value
  elif [[ $word == -* ]]; then
    _ibex_options "$command"
    _ibex_offer_options || { _ibex_rare "$command"; _ibex_offer_options }
  elif [[ -n $expected ]]; then
    _ibex_value "$command" "$expected"
    _ibex_offer_value
  else
    _ibex_words "$command"
    if [[ $_ibex_reply == *files* ]]; then
      _files
    else
      compadd -- \${=_ibex_reply}
    fi
  fi
}

# Options that take a value end with "=", after which the value follows without a blank.
_ibex_offer_options() {
  local -a all=(\${=_ibex_reply}) valued=() switches=()
  valued=(\${(M)all:#*=})
  switches=(\${all:#*=})
  local -i found=1
  compadd -S '' -- $valued && found=0
  compadd -- $switches && found=0
  return found
}

_ibex_offer_value() {
  local -a choices=(\${=_ibex_reply})
  case $choices[1] in
  files) _files ;;
  switch|one) compadd -- $choices[2,-1] ;;
  list)
    compset -P '*,'
    compadd -S '' -- $choices[2,-1]
    ;;
  esac
}

# A file in a folder of fpath is the function itself; a script that is read defines it.
if [[ $funcstack[1] == _ibex ]]; then
  _ibex "$@"
elif (( $+functions[compdef] )); then
  compdef _ibex ibex
fi
`;
