import { optionNamed, spellingsOf } from "../../config/options.ts";
import type { ValueType } from "../../config/valueTypes.ts";
import { assert } from "../../primitives/assert.ts";
import type { Command } from "../commands/command.ts";
import { nextWords, nodeOptionsAfter, ownOptionsAfter } from "../commands/words.ts";
import { BASH_FUNCTION } from "./bashFunction.ts";
import { ZSH_FUNCTION } from "./zshFunction.ts";

export type Shell = "bash" | "zsh";

/**
 * The script by which a shell completes `ibex`: commands, options, values, file names. The tables in it are made of the
 * commands and the option table, so that a key press does not start the program. Both shells have the same tables:
 *
 *     _ibex_words COMMAND          the words that can follow
 *     _ibex_options COMMAND        the options that the help shows; --name= takes a value
 *     _ibex_rare COMMAND           those that the help leaves out, and aliases: for one who has begun to type their names
 *     _ibex_value COMMAND OPTION   the kind of its value (switch, one, list, files, text), and the words offered for it
 *
 * Each leaves its answer in the variable _ibex_reply. _ibex_read reads one of the words before the one to complete.
 */
export function completionScript(commands: readonly Command[], shell: Shell): string {
  const offered = commands.filter(({ ignoresOptions }) => !ignoresOptions);
  const places = placesIn(offered);
  const tables = [
    table("words", places, (words) => wordsAfter(offered, words)),
    table("options", places, (words) => optionsAfter(offered, words)),
    table("rare", places, (words) => rareOptionsAfter(offered, words)),
    valueTable(offered, places),
    READ_WORD,
  ].join("\n");
  return shell === "bash"
    ? `# Completion of ibex in bash 4 or newer; "ibex completion bash" printed it.\n\n${tables}\n${BASH_FUNCTION}`
    : `#compdef ibex\n# Completion of ibex in zsh; "ibex completion zsh" printed it.\n\n${tables}\n${ZSH_FUNCTION}`;
}

/** Every beginning of a command, the empty one included. */
function placesIn(commands: readonly Command[]): readonly (readonly string[])[] {
  const places = new Set([""]);
  for (const { words } of commands) {
    const parts = words.split(" ");
    for (let count = 1; count <= parts.length; count += 1) places.add(parts.slice(0, count).join(" "));
  }
  return [...places].map((place) => (place === "" ? [] : place.split(" ")));
}

/** A command with positional arguments takes names of files. */
function wordsAfter(commands: readonly Command[], words: readonly string[]): readonly string[] {
  const takesFiles = commands.some(
    (command) => command.words === words.join(" ") && command.operands !== undefined,
  );
  return [...nextWords(commands, words), ...(takesFiles ? [FILES] : [])];
}

function optionsAfter(commands: readonly Command[], words: readonly string[]): readonly string[] {
  const own = [...ownOptionsAfter(commands, words)].map(([name, { type }]) => asTyped(name, type));
  const ofNode = nodeOptionsAfter(commands, words).filter((name) => optionNamed(name).isHidden !== true);
  return [...own, ...ofNode.map((name) => asTyped(name, optionNamed(name).type))];
}

function rareOptionsAfter(commands: readonly Command[], words: readonly string[]): readonly string[] {
  return nodeOptionsAfter(commands, words).flatMap((name) => {
    const { type, isHidden } = optionNamed(name);
    return spellingsOf(name)
      .slice(isHidden === true ? 0 : 1)
      .map((spelling) => asTyped(spelling, type));
  });
}

function asTyped(name: string, { arity }: ValueType<unknown>): string {
  return `--${name}${arity === "switch" ? "" : "="}`;
}

function valueTable(commands: readonly Command[], places: readonly (readonly string[])[]): string {
  const ofCommands = places.flatMap((words) =>
    [...ownOptionsAfter(commands, words)].map(
      ([name, { type }]): Row => ({
        key: `${words.join(" ")} --${name}`,
        answer: valueAnswer(type),
      }),
    ),
  );
  const ofNode = nodeOptionsAfter(commands, []).flatMap((name) => {
    const { type, letter } = optionNamed(name);
    const spellings = spellingsOf(name).map((spelling) => `--${spelling}`);
    return [...spellings, ...(letter === undefined ? [] : [`-${letter}`])].map(
      (key): Row => ({
        key,
        answer: valueAnswer(type),
      }),
    );
  });
  return [
    `_ibex_value() {\n  case "$1 $2" in\n${casesOf(ofCommands)}  *)\n    case $2 in\n`,
    casesOf(ofNode),
    `    *) _ibex_reply='' ;;\n    esac ;;\n  esac\n}\n`,
  ].join("");
}

function valueAnswer({ arity, offers }: ValueType<unknown>): string {
  if (offers === undefined) return "text";
  if (offers === "files") return FILES;
  return [arity === "single" ? "one" : arity, ...offers].join(" ");
}

function table(
  name: string,
  places: readonly (readonly string[])[],
  answerOf: (words: readonly string[]) => readonly string[],
): string {
  const rows = places.map((words) => ({ key: words.join(" "), answer: answerOf(words).join(" ") }));
  return `_ibex_${name}() {\n  case $1 in\n${casesOf(rows)}  *) _ibex_reply='' ;;\n  esac\n}\n`;
}

interface Row {
  readonly key: string;
  readonly answer: string;
}

/** Branches of a case statement; keys with the same answer share one. */
function casesOf(rows: readonly Row[]): string {
  const keysOf = new Map<string, string[]>();
  for (const { key, answer } of rows) {
    if (answer !== "") keysOf.set(answer, [...(keysOf.get(answer) ?? []), quoted(key)]);
  }
  return [...keysOf]
    .map(([answer, keys]) => `  ${keys.join("|")}) _ibex_reply=${quoted(answer)} ;;\n`)
    .join("");
}

/** Quotes a text for both shells. Its words must mean nothing to a shell, which splits them without quotes. */
function quoted(text: string): string {
  assert(/^[\w=.,+ -]*$/.test(text), `${text} can stand in a shell script`);
  return `'${text}'`;
}

const FILES = "files";

/**
 * Reads $word: an option, whose value is $expected next if it has none yet; the value that was expected; or a word that goes on with
 * $command. The variables are those of the function that calls it.
 */
const READ_WORD = `_ibex_read() {
  if [[ $word == -* ]]; then
    _ibex_value "$command" "\${word%%=*}"
    expected=''
    [[ $word == *=* || $_ibex_reply == switch* || -z $_ibex_reply ]] || expected=$word
  elif [[ -n $expected ]]; then
    expected=''
  else
    _ibex_words "$command"
    [[ " $_ibex_reply " == *" $word "* ]] && command=\${command:+$command }$word
  fi
  return 0
}
`;
