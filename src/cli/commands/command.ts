import type { OptionName } from "../../config/options.ts";
import type { RawOption, UnknownOption } from "../../config/rawOption.ts";
import type { Settings } from "../../config/settings.ts";
import type { ValueType } from "../../config/valueTypes.ts";
import type { RootLogger } from "../../observability/logger.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import { type ProcessIo, refuse } from "../processIo.ts";

/** An option that only one command knows. It stands after the command's words, and in no file and no variable. */
export interface CommandOption<V = unknown> {
  readonly type: ValueType<V>;
  readonly help: string;
  /** As a user would write it; absent where nothing is assumed. */
  readonly default?: string;
  readonly isRequired?: boolean;
}

type CommandOptions = Readonly<Record<string, CommandOption>>;

/** What the options of a command are worth; undefined where neither given nor assumed. */
type ValuesOf<O extends CommandOptions> = {
  readonly [N in keyof O]: O[N] extends CommandOption<infer V>
    ? O[N] extends { readonly isRequired: true } | { readonly default: string }
      ? V
      : V | undefined
    : never;
};

/** What a command has to work with. */
export interface Invocation<Values = unknown> {
  readonly values: Values;
  /** What stood there without a name. */
  readonly operands: readonly string[];
  /** The node's options of the command line. */
  readonly given: readonly RawOption[];
  /** Those of other releases of the incumbent. */
  readonly foreign: readonly UnknownOption[];
  readonly io: ProcessIo;
  /** Runs the node until it ends; answers its exit code. */
  runNode(settings: Settings, logger: RootLogger): Promise<number>;
}

/** What the command line said to a command, its values still text. */
export type CommandCall = Omit<Invocation, "values"> & { readonly texts: ReadonlyMap<string, string> };

interface Definition<O extends CommandOptions> {
  /** As they are typed: "blocks import". */
  readonly words: string;
  readonly help: string;
  readonly options?: O;
  /** Options of the node that it reads. They stand before its words as the incumbent has it, or after them. */
  readonly nodeOptions?: readonly OptionName[];
  /** What may stand there without a name. */
  readonly operands?: string;
  /** Takes any options at all, because it does nothing. */
  readonly ignoresOptions?: boolean;
  run(invocation: Invocation<ValuesOf<O>>): Promise<number>;
}

/** A command beside the node. */
export interface Command extends Omit<Required<Definition<CommandOptions>>, "run" | "operands"> {
  readonly operands: string | undefined;
  /** Reads the values and runs; answers the exit code. */
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
      // Read by the very table that the type is made from.
      return definition.run({ ...rest, values: values.value as ValuesOf<O> });
    },
  };
}

/** Refused with every problem, one to a line. */
function readValues(
  options: CommandOptions,
  texts: ReadonlyMap<string, string>,
): Result<Readonly<Record<string, unknown>>, "badValue"> {
  const problems = missingOptions(options, texts);
  const values: Record<string, unknown> = {};
  for (const [name, { type, default: assumed }] of Object.entries(options)) {
    const text = texts.get(name) ?? assumed;
    if (text === undefined) continue;
    const value = type.read(text);
    if (value.ok) values[name] = value.value;
    else problems.push(`Invalid value for option '--${name}': ${value.error.message}`);
  }
  if (problems.length === 0) return ok(values);
  return err({ code: "badValue", fault: "caller", message: problems.join("\n") });
}

function missingOptions(options: CommandOptions, texts: ReadonlyMap<string, string>): string[] {
  const missing = Object.entries(options).filter(
    ([name, { isRequired }]) => isRequired === true && !texts.has(name),
  );
  if (missing.length === 0) return [];
  const names = missing.map(([name, { type }]) => `'--${name}=${type.label}'`);
  return [`Missing required option${names.length === 1 ? "" : "s"}: ${names.join(", ")}`];
}
