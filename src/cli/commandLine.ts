import type { Given } from "../config/given.ts";
import { nearestNames } from "../config/nearestNames.ts";
import {
  findOption,
  findOptionByLetter,
  OPTION_NAMES,
  type OptionName,
  optionNamed,
  spellingsOf,
} from "../config/options.ts";

export const COMMANDS = ["validate-config", "database check", "database info"] as const;

type Command = (typeof COMMANDS)[number];

export interface CommandLine {
  /** Undefined runs the node. */
  readonly command: Command | undefined;
  readonly asksFor: "help" | "version" | undefined;
  readonly given: readonly Given[];
  readonly problems: readonly string[];
}

/** Options that mean something after the first word of a command. */
const COMMAND_OPTIONS: Readonly<Record<string, readonly OptionName[]>> = {
  "validate-config": ["config-file", "help", "version"],
  database: ["data-path", "config-file", "help", "version"],
};

const FIRST_WORDS = Object.keys(COMMAND_OPTIONS);

/**
 * Reads the arguments by the incumbent's grammar (operations.md §1): `--name=value` or `--name value`, switches alone
 * or with true or false, lists separated by commas, by spaces or by repetition, one letter for a few. Values are left
 * as text for the option's type to read.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const reader = new ArgumentReader(args);
  reader.readAll();
  const { command } = reader;
  const problems = [...reader.problems, ...reader.missingWords()];
  const given = [...reader.texts].map(
    ([name, texts]): Given => ({ name, text: texts.join(","), source: { kind: "commandLine" } }),
  );
  const isAsked = (name: OptionName): boolean =>
    given.some((each) => each.name === name && each.text !== "false");
  return {
    command,
    asksFor: isAsked("help") ? "help" : isAsked("version") ? "version" : undefined,
    given: given.filter(({ name }) => name !== "help" && name !== "version"),
    problems,
  };
}

class ArgumentReader {
  readonly texts = new Map<OptionName, string[]>();
  readonly problems: string[] = [];
  /** The words of the command so far. */
  readonly #words: string[] = [];
  readonly #args: readonly string[];
  #next = 0;

  constructor(args: readonly string[]) {
    this.#args = args;
  }

  get command(): Command | undefined {
    return COMMANDS.find((each) => each === this.#words.join(" "));
  }

  missingWords(): readonly string[] {
    if (this.#words.length === 0 || this.command !== undefined || this.problems.length > 0) return [];
    return [`Missing required subcommand: one of ${nextWords(this.#words).join(", ")}`];
  }

  readAll(): void {
    while (this.#next < this.#args.length) {
      const index = this.#next;
      const arg = this.#args[index] ?? "";
      this.#next += 1;
      if (isOptionLike(arg)) this.#readOption(arg);
      else this.#readWord(arg, index);
    }
  }

  #readWord(word: string, index: number): void {
    const known = nextWords(this.#words);
    if (known.includes(word)) this.#words.push(word);
    else this.problems.push(`Unmatched argument at index ${index}: '${word}'${suggestion(word, known)}`);
  }

  #readOption(arg: string): void {
    const { spelling, name, attached } = takeApart(arg);
    if (name === undefined || !this.#optionNames().includes(name)) {
      this.problems.push(
        `Unknown option: '${spelling}'${suggestion(spelling.slice(2), this.#spellings(), "--")}`,
      );
      this.#skipValue(attached);
      return;
    }
    const { arity, label } = optionNamed(name).type;
    const values = attached !== undefined ? [attached] : this.#readValues(arity);
    if (values.length === 0) {
      this.problems.push(`Missing required parameter for option '${spelling}' (${label})`);
      return;
    }
    const before = this.texts.get(name);
    if (before !== undefined && arity !== "list") {
      this.problems.push(`option '${spelling}' (${label}) should be specified only once`);
    }
    this.texts.set(name, [...(before ?? []), ...values]);
  }

  /** What follows a name without "=": nothing needed for a switch, one text, or all texts up to the next option. */
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
    return this.#optionNames().flatMap(spellingsOf);
  }

  #optionNames(): readonly OptionName[] {
    return COMMAND_OPTIONS[this.#words[0] ?? ""] ?? OPTION_NAMES;
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

  /** The value of an option that nobody knows is not a mistake of its own. */
  #skipValue(attached: string | undefined): void {
    if (attached === undefined && this.#hasValue() && !isCommand(this.#args[this.#next] ?? ""))
      this.#next += 1;
  }
}

/** Names begin with two dashes, letters with one; "-1" is a value. */
function isOptionLike(arg: string): boolean {
  return /^--./.test(arg) || (/^-[a-zA-Z]/.test(arg) && findOptionByLetter(arg[1] ?? "") !== undefined);
}

interface TakenApart {
  /** As messages show it, with its dashes. */
  readonly spelling: string;
  readonly name: OptionName | undefined;
  readonly attached: string | undefined;
}

/** --name, --name=value, -l, -l=value, -lvalue. */
function takeApart(arg: string): TakenApart {
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

/** What may follow the words of a command. */
function nextWords(words: readonly string[]): readonly string[] {
  const candidates = COMMANDS.map((command) => command.split(" ")).filter((parts) =>
    words.every((word, index) => parts[index] === word),
  );
  return [...new Set(candidates.flatMap((parts) => parts[words.length] ?? []))];
}

function suggestion(mistyped: string, known: readonly string[], dashes = ""): string {
  const near = nearestNames(mistyped, known);
  return near.length === 0 ? "" : `\nPossible solutions: ${near.map((name) => dashes + name).join(", ")}`;
}
