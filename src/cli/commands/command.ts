import type { OptionName } from "../../config/options.ts";
import type { RawOption, UnknownOption } from "../../config/rawOption.ts";
import type { Configuration } from "../../config/readSettings.ts";
import type { ValueType } from "../../config/valueTypes.ts";
import type { RootLogger } from "../../observability/logger.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { type ProcessIo, refuse } from "../processIo.ts";

/** An option of one command. It is only accepted after the command's words, not in files or environment variables. */
export interface CommandOption<V = unknown> {
  readonly type: ValueType<V>;
  readonly help: string;
  /** The default as a user would write it; absent when there is none. */
  readonly default?: string;
  readonly isRequired?: boolean;
}

type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The parsed values of a command's options; undefined for those without value and default. */
type ValuesOf<O extends CommandOptions> = {
  readonly [N in keyof O]: O[N] extends CommandOption<infer V>
    ? O[N] extends { readonly isRequired: true } | { readonly default: string }
      ? V
      : V | undefined
    : never;
};

/** The arguments of a command. */
export interface Invocation<Values = unknown> {
  readonly values: Values;
  /** Positional arguments. */
  readonly operands: readonly string[];
  /** Options of the node on the command line. */
  readonly raw: readonly RawOption[];
  /** Options that exist only in other releases of Besu. */
  readonly unknown: readonly UnknownOption[];
  readonly io: ProcessIo;
  /** Runs the node until it ends; returns its exit code. */
  runNode(configuration: Configuration, logger: RootLogger): Promise<number>;
}

/** A command's arguments with the option values still as text. */
type CommandCall = Omit<Invocation, "values"> & { readonly texts: ReadonlyMap<string, string> };

interface Definition<O extends CommandOptions> {
  /** The command's words as a user types them, such as "blocks import". */
  readonly words: string;
  readonly help: string;
  readonly options?: O;
  /** Options of the node that the command reads, accepted before its words (as in Besu) or after them. */
  readonly nodeOptions?: readonly OptionName[];
  /** Label of the positional arguments, if any are accepted. */
  readonly operands?: string;
  /** Accepts any options, because the command does nothing. */
  readonly ignoresOptions?: boolean;
  run(invocation: Invocation<ValuesOf<O>>): Promise<number>;
}

/** A subcommand. */
export interface Command extends Omit<Required<Definition<CommandOptions>>, "run" | "operands"> {
  readonly operands: string | undefined;
  /** Parses the values and runs the command; returns the exit code. */
  start(call: CommandCall): Promise<number>;
}

export function defineCommand<const O extends CommandOptions = Readonly<Record<never, CommandOption>>>(
  definition: Definition<O>,
): Command {
  const { words, help, nodeOptions = [], operands, ignoresOptions = false } = definition;
  const options: CommandOptions = definition.options ?? {};
  return {
    words,
    help,
    options,
    nodeOptions,
    operands,
    ignoresOptions,
    async start({ texts, ...rest }) {
      const values = readValues(options, texts);
      if (!values.ok) return refuse(values.error.message, rest.io);
      // The values were parsed with the same table from which the type is derived.
      return definition.run({ ...rest, values: values.value as ValuesOf<O> });
    },
  };
}

/** The error lists every problem, one to a line. */
function readValues(
  options: CommandOptions,
  texts: ReadonlyMap<string, string>,
): Result<Readonly<Record<string, unknown>>, "badValue"> {
  const problems = missingOptions(options, texts);
  const values: Record<string, unknown> = {};
  for (const [name, { type, default: defaultText }] of Object.entries(options)) {
    const text = texts.get(name) ?? defaultText;
    if (text === undefined) continue;
    const value = type.read(text);
    if (value.ok) values[name] = value.value;
    else problems.push(`Invalid value for option '--${name}': ${value.error.message}`);
  }
  if (problems.length === 0) return ok(values);
  return fail("caller", "badValue", problems.join("\n"));
}

function missingOptions(options: CommandOptions, texts: ReadonlyMap<string, string>): string[] {
  const missing = Object.entries(options).filter(
    ([name, { isRequired }]) => isRequired === true && !texts.has(name),
  );
  if (missing.length === 0) return [];
  const names = missing.map(([name, { type }]) => `'--${name}=${type.label}'`);
  return [`Missing required option${names.length === 1 ? "" : "s"}: ${names.join(", ")}`];
}
