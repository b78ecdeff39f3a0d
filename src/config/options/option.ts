import type { ValueType } from "../valueTypes.ts";

/** Headings of the help, in its order. */
export const HELP_GROUPS = [
  "General",
  "Logging",
  "JSON-RPC over HTTP",
  "JSON-RPC over WebSocket",
  "Limits and answers of JSON-RPC",
  "Transaction pool",
  "Block production",
  "Synchronization and storage",
  "Peer-to-peer network",
  "Metrics",
] as const;

export type HelpGroup = (typeof HELP_GROUPS)[number];

/**
 * One option: everything that the command line, the environment, TOML files, the help, validation and messages need
 * to know of it. `V` is its value, `D` its default (undefined when there is none).
 */
export interface Option<V, D extends V | undefined = V | undefined> {
  readonly type: ValueType<V>;
  readonly default: D;
  /** The default in words, where the value does not say it. */
  readonly defaultText?: string;
  readonly group: HelpGroup;
  readonly help: string;
  /** Other names, without dashes; each works wherever the name does. */
  readonly aliases?: readonly string[];
  /** A single letter for the command line. */
  readonly letter?: string;
  /** Variables read after IBEX_* and BESU_*, by their whole names. */
  readonly variables?: readonly string[];
  /** Left out of the help; accepted all the same. */
  readonly isHidden?: boolean;
  /** Accepted with a warning that gives this reason; absent for an option that does what it says. */
  readonly noEffect?: string;
  /** The value that asks for what is the case anyway: no warning then. */
  readonly isMetBy?: V;
  /** The switch without which this option means nothing. */
  readonly requires?: string;
  /** Means nothing inside a configuration file. */
  readonly isOutsideFiles?: boolean;
}

/** States an option; the type of its value is inferred. */
export function option<V>(definition: Option<V, NoInfer<V>>): Option<V, V>;
export function option<V>(definition: Option<V, undefined>): Option<V, undefined>;
export function option<V>(definition: Option<V>): Option<V> {
  return definition;
}
