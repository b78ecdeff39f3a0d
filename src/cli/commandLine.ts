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

export const COMMANDS = ["validate-config"] as const;

export interface CommandLine {
  /** Undefined runs the node. */
  readonly command: (typeof COMMANDS)[number] | undefined;
  readonly asksFor: "help" | "version" | undefined;
  readonly given: readonly Given[];
  readonly problems: readonly string[];
}

/** Options that mean something after the word of a command. */
const COMMAND_OPTIONS: readonly OptionName[] = ["config-file", "help", "version"];

/**
 * Reads the arguments by the incumbent's grammar (operations.md §1): `--name=value` or `--name value`, switches alone
 * or with true or false, lists separated by commas, by spaces or by repetition, one letter for a few. Values are left
 * as text for the option's type to read.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const reader = new ArgumentReader(args);
  reader.readAll();
  const { command, problems } = reader;
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
  command: CommandLine["command"];
  readonly #args: readonly string[];
  #next = 0;

  constructor(args: readonly string[]) {
    this.#args = args;
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
    const command = COMMANDS.find((each) => each === word);
    if (command !== undefined && this.command === undefined) this.command = command;
    else this.problems.push(`Unmatched argument at index ${index}: '${word}'${suggestion(word, COMMANDS)}`);
  }

  #readOption(arg: string): void {
    const { spelling, name, attached } = takeApart(arg);
    if (name === undefined || (this.command !== undefined && !COMMAND_OPTIONS.includes(name))) {
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
    return (this.command === undefined ? OPTION_NAMES : COMMAND_OPTIONS).flatMap(spellingsOf);
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
  return COMMANDS.some((each) => each === word);
}

function suggestion(mistyped: string, known: readonly string[], dashes = ""): string {
  const near = nearestNames(mistyped, known);
  return near.length === 0 ? "" : `\nPossible solutions: ${near.map((name) => dashes + name).join(", ")}`;
}
