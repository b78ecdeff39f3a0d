import { nearestNames } from "../config/nearestNames.ts";
import {
  findOption,
  findOptionByLetter,
  type OptionName,
  optionNamed,
  spellingsOf,
} from "../config/options.ts";
import type { RawOption, UnknownOption } from "../config/rawOption.ts";
import { isOfOtherRelease } from "../config/unknownOptions.ts";
import type { ValueType } from "../config/valueTypes.ts";
import type { Command, CommandOption } from "./commands/command.ts";
import { COMMANDS, findCommand } from "./commands/commandTable.ts";
import { nextWords, nodeOptionsAfter, ownOptionsAfter } from "./commands/words.ts";

export interface CommandLine {
  /** The words of a command, possibly incomplete; empty to run the node. */
  readonly words: string;
  readonly immediate: "help" | "hiddenHelp" | "version" | undefined;
  /** Options of the node. */
  readonly raw: readonly RawOption[];
  /** Options that exist only in other releases of Besu. */
  readonly unknown: readonly UnknownOption[];
  /** Options of the command itself. */
  readonly texts: ReadonlyMap<string, string>;
  /** Positional arguments of the command. */
  readonly operands: readonly string[];
  readonly problems: readonly string[];
}

const FIRST_WORDS: readonly string[] = [...new Set(COMMANDS.map(({ words }) => words.split(" ")[0] ?? ""))];

/**
 * Parses the arguments by Besu's grammar (options.md#command-line): `--name=value` or `--name value`, switches alone or
 * with true or false, lists separated by commas, spaces or repetition, and letters for a few. Values stay text; the
 * option's type parses them later.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const reader = new ArgumentReader(args);
  reader.readAll();
  const { words, ownTexts, operands } = reader;
  const problems = [...reader.problems, ...reader.missingWords()];
  const raw = [...reader.texts].map(
    ([name, texts]): RawOption => ({ name, text: texts.join(","), source: { kind: "commandLine" } }),
  );
  const isRequested = (name: OptionName): boolean =>
    raw.some((each) => each.name === name && each.text !== "false");
  const question = IMMEDIATE_OPTIONS.find(([name]) => isRequested(name));
  return {
    words,
    immediate: question?.[1],
    raw: raw.filter(({ name }) => IMMEDIATE_OPTIONS.every(([question]) => question !== name)),
    unknown: reader.unknown,
    texts: new Map([...ownTexts].map(([name, values]) => [name, values.join(",")])),
    operands,
    problems,
  };
}

/** Options that are answered immediately; the first one in this list wins. */
const IMMEDIATE_OPTIONS = [
  ["help", "help"],
  ["Xhelp", "hiddenHelp"],
  ["version", "version"],
] as const;

class ArgumentReader {
  readonly unknown: UnknownOption[] = [];
  readonly texts = new Map<OptionName, string[]>();
  readonly ownTexts = new Map<string, string[]>();
  readonly operands: string[] = [];
  readonly problems: string[] = [];
  /** The words of the command so far. */
  readonly #words: string[] = [];
  #hasUnmatchedWord = false;
  readonly #args: readonly string[];
  #next = 0;

  constructor(args: readonly string[]) {
    this.#args = args;
  }

  get words(): string {
    return this.#words.join(" ");
  }

  get #command(): Command | undefined {
    return findCommand(this.words);
  }

  missingWords(): readonly string[] {
    if (this.#words.length === 0 || this.#command !== undefined || this.problems.length > 0) return [];
    return [`Missing required subcommand: one of ${nextWords(COMMANDS, this.#words).join(", ")}`];
  }

  readAll(): void {
    while (this.#next < this.#args.length) {
      const index = this.#next;
      const arg = this.#args[index] ?? "";
      this.#next += 1;
      if (this.#command?.ignoresOptions === true && !HELP_OPTION.test(arg)) continue;
      if (isOptionLike(arg)) this.#readOption(arg);
      else this.#readWord(arg, index);
    }
  }

  #readWord(word: string, index: number): void {
    const known = nextWords(COMMANDS, this.#words);
    if (known.includes(word)) this.#words.push(word);
    else if (this.#command?.operands !== undefined) this.operands.push(word);
    else if (!this.#hasUnmatchedWord || this.#command !== undefined) {
      // What follows a mistyped word of a command may be right after the right word.
      this.#hasUnmatchedWord = true;
      const meant = this.#words.length === 0 ? meantAtTheBeginning(word) : [];
      const near = nearestNames(word, known);
      this.problems.push(
        `Unmatched argument at index ${index}: '${word}'${suggestion(near.length > 0 ? near : meant)}`,
      );
    }
  }

  #readOption(arg: string): void {
    const { spelling, name, attached } = splitArgument(arg);
    const own = this.#ownOptions.get(spelling.slice(2));
    if (own !== undefined) {
      this.#readValuesOf(this.ownTexts, spelling.slice(2), { spelling, attached, type: own.type });
    } else if (name !== undefined && this.#optionNames.includes(name)) {
      this.#readValuesOf(this.texts, name, { spelling, attached, type: optionNamed(name).type });
    } else if (this.#words.length === 0 && isOfOtherRelease(spelling.slice(2))) {
      const text = attached ?? (this.#readValues("list").join(",") || "true");
      this.unknown.push({ spelling: spelling.slice(2), text, source: { kind: "commandLine" } });
    } else {
      const near = nearestNames(spelling.slice(2), this.#spellings());
      this.problems.push(`Unknown option: '${spelling}'${suggestion(near.map((each) => `--${each}`))}`);
      this.#skipValue(attached);
    }
  }

  #readValuesOf<N extends string>(texts: Map<N, string[]>, name: N, option: OptionOccurrence): void {
    const { spelling, attached } = option;
    const { arity, label } = option.type;
    const values = attached !== undefined ? [attached] : this.#readValues(arity);
    if (values.length === 0) {
      this.problems.push(`Missing required parameter for option '${spelling}' (${label})`);
      return;
    }
    const before = texts.get(name);
    if (before !== undefined && arity !== "list") {
      this.problems.push(`option '${spelling}' (${label}) should be specified only once`);
    }
    texts.set(name, [...(before ?? []), ...values]);
  }

  /** Reads the values after a name without "=": optional for a switch, one text, or all texts up to the next option. */
  #readValues(arity: "switch" | "single" | "list"): string[] {
    switch (arity) {
      case "switch":
        return [/^(true|false)$/i.test(this.#args[this.#next] ?? "") ? this.#take() : "true"];
      case "single":
        return this.#hasValue() ? [this.#take()] : [];
      case "list": {
        const values: string[] = [];
        while (this.#hasValue() && !isCommand(this.#args[this.#next] ?? "")) values.push(this.#take());
        return values;
      }
    }
  }

  #spellings(): readonly string[] {
    return [...this.#ownOptions.keys(), ...this.#optionNames.flatMap(spellingsOf)];
  }

  get #optionNames(): readonly OptionName[] {
    return nodeOptionsAfter(COMMANDS, this.#words);
  }

  get #ownOptions(): ReadonlyMap<string, CommandOption> {
    return ownOptionsAfter(COMMANDS, this.#words);
  }

  #hasValue(): boolean {
    const arg = this.#args[this.#next];
    return arg !== undefined && !isOptionLike(arg);
  }

  #take(): string {
    const arg = this.#args[this.#next] ?? "";
    this.#next += 1;
    return arg;
  }

  /** Skips the value of an unknown option, so that it is not reported as a second problem. */
  #skipValue(attached: string | undefined): void {
    if (attached === undefined && this.#hasValue() && !isCommand(this.#args[this.#next] ?? ""))
      this.#next += 1;
  }
}

const HELP_OPTION = /^(-h|--help)$/;

interface OptionOccurrence {
  readonly spelling: string;
  readonly attached: string | undefined;
  readonly type: Pick<ValueType<unknown>, "arity" | "label">;
}

/** Names begin with two dashes, letters with one; "-1" is a value, not an option. */
function isOptionLike(arg: string): boolean {
  return /^--./.test(arg) || (/^-[a-zA-Z]/.test(arg) && findOptionByLetter(arg[1] ?? "") !== undefined);
}

interface SplitArgument {
  /** The option with its dashes, for messages. */
  readonly spelling: string;
  readonly name: OptionName | undefined;
  readonly attached: string | undefined;
}

/** Splits --name, --name=value, -l, -l=value and -lvalue. */
function splitArgument(arg: string): SplitArgument {
  if (!arg.startsWith("--")) {
    const rest = arg.slice(2).replace(/^=/, "");
    return {
      spelling: arg.slice(0, 2),
      name: findOptionByLetter(arg[1] ?? ""),
      attached: arg.length > 2 ? rest : undefined,
    };
  }
  const equals = arg.indexOf("=");
  const spelling = equals < 0 ? arg : arg.slice(0, equals);
  return {
    spelling,
    name: findOption(spelling.slice(2)),
    attached: equals < 0 ? undefined : arg.slice(equals + 1),
  };
}

function isCommand(word: string): boolean {
  return FIRST_WORDS.includes(word);
}

/** What a first word that begins no command is likely to mean: the name of an option, or the last word of commands. */
function meantAtTheBeginning(word: string): readonly string[] {
  const option = IMMEDIATE_OPTIONS.find(([name]) => name === word);
  if (option !== undefined) return [`--${word}`];
  const offered = COMMANDS.filter(({ ignoresOptions }) => !ignoresOptions).map(({ words }) => words);
  const inside = offered.filter((words) => words.split(" ").at(-1) === word);
  return inside.length > 0 ? inside : nearestNames(word.replaceAll("-", " "), offered);
}

function suggestion(near: readonly string[]): string {
  return near.length === 0 ? "" : `\nPossible solutions: ${near.join(", ")}`;
}
