import { switchType, type ValueType } from "../valueTypes.ts";

/** Headings of the help, in its order. */
export const HELP_GROUPS = [
  "General",
  "Logging",
  "JSON-RPC over HTTP",
  "JSON-RPC over WebSocket",
  "JSON-RPC over a Unix socket",
  "GraphQL over HTTP",
  "Limits and answers of JSON-RPC",
  "Transaction pool",
  "Block production",
  "Synchronization and storage",
  "Peer-to-peer network",
  "Permissioning",
  "Explorer",
  "Development network",
  "Engine API",
  "Metrics",
  "Privacy",
  "Java virtual machine",
] as const;

type HelpGroup = (typeof HELP_GROUPS)[number];

/**
 * One option: everything that the command line, the environment, TOML files, the help, validation and messages need.
 * `V` is its value, `D` its default (undefined when there is none).
 */
export interface Option<V, D extends V | undefined = V | undefined> {
  readonly type: ValueType<V>;
  readonly default: D;
  /** Description of the default, where the value does not show it. */
  readonly defaultText?: string;
  readonly group: HelpGroup;
  readonly help: string;
  /** Other names, without dashes, accepted wherever the name is. */
  readonly aliases?: readonly string[];
  /** A single letter for the command line. */
  readonly letter?: string;
  /** Full names of environment variables that are read after IBEX_* and BESU_*. */
  readonly variables?: readonly string[];
  /** Accepted, but left out of --help. */
  readonly isHidden?: boolean;
  /** Why the option has no effect; using it then gives a warning with this reason. */
  readonly noEffect?: string;
  /** The value that matches the node's behaviour, so that giving it needs no warning. */
  readonly isMetBy?: V;
  /**
   * Why the start is refused when this switch is on: it is a security switch, and ignoring it would leave open what the
   * operator believes protected. Follows "--x=true is refused: ".
   */
  readonly refusedWhenOn?: string;
  /** The switch that this option depends on, or several of which one is enough. */
  readonly requires?: string | readonly string[];
  /** The value has a secret, which no message may repeat. */
  readonly isSecret?: boolean;
  /** Whether the option is refused inside a configuration file. */
  readonly isOutsideFiles?: boolean;
}

/** Defines an option; the type of its value is inferred. */
export function option<V>(definition: Option<V, NoInfer<V>>): Option<V, V>;
export function option<V>(definition: Option<V, undefined>): Option<V, undefined>;
export function option<V>(definition: Option<V>): Option<V> {
  return definition;
}

type Behaviour = Pick<Option<unknown>, "group" | "noEffect" | "requires">;

/**
 * Defines options that are parsed and checked but have no effect, all for one reason. A switch that is off gives no
 * warning.
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
    /** Declares an option without a default. */
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
