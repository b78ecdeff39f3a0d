import { switchType, type ValueType } from "../valueTypes.ts";

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
  "Permissioning",
  "GraphQL, IPC and Engine API",
  "Metrics",
  "Privacy",
  "Java virtual machine",
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
  /**
   * Why the start is refused when this switch is on: it guards something, so that ignoring it would leave open what the
   * operator believes closed. Follows "--x=true is refused: ".
   */
  readonly refusedWhenOn?: string;
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

type Behaviour = Pick<Option<unknown>, "group" | "noEffect" | "requires">;

/**
 * A family of options that are read and checked but do nothing here, for one reason. A switch that is off asks for what
 * is the case anyway.
 */
export function withoutEffect(behaviour: Behaviour & { readonly noEffect: string }) {
  const common = { ...behaviour, isHidden: true } as const;
  return {
    valued: <V>(type: ValueType<V>, fallback: NoInfer<V>, help: string, more: Extras = {}): Option<V, V> => ({
      ...common,
      type,
      default: fallback,
      help,
      ...more,
    }),
    /** Without a default. */
    optional: <V>(type: ValueType<V>, help: string, more: Extras = {}): Option<V, undefined> => ({
      ...common,
      type,
      default: undefined,
      help,
      ...more,
    }),
    switched: (fallback: boolean, help: string, more: Extras = {}): Option<boolean, boolean> => ({
      ...common,
      type: switchType,
      default: fallback,
      isMetBy: false,
      help,
      ...more,
    }),
  };
}

interface Extras {
  readonly aliases?: readonly string[];
  readonly defaultText?: string;
  readonly requires?: string;
}
