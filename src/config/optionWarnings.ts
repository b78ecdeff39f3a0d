import { EMPTY_METRIC_CATEGORIES } from "../observability/categories.ts";
import { whyUnserved } from "./apiGroups.ts";
import { OPTION_NAMES, type OptionName, optionNamed } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";

/**
 * What the operator should know of options that do not do all that they say
 * (options.md#switches-and-their-dependants): nothing that was given is passed over in silence, and nothing
 * is told twice.
 */
export function findWarnings(options: ResolvedOptions): readonly string[] {
  const special = [...specialCases(options)];
  const explained = new Set(special.map(({ name }) => name));
  return [
    ...withoutEffect(options, explained),
    ...withoutSwitch(options),
    ...special.map(({ warning }) => warning),
    ...unservedGroups(options),
    ...metricChoices(options),
  ];
}

/** Whether the option that another one depends on is on, or, when it is no switch, given. */
export function isSwitchedOn({ values }: ResolvedOptions, main: string): boolean {
  const value: unknown = Reflect.get(values, main);
  return value !== undefined && value !== false;
}

/** One line for each reason, so that a whole family of options takes one line. */
function withoutEffect(options: ResolvedOptions, explained: ReadonlySet<OptionName>): string[] {
  const byReason = new Map<string, OptionName[]>();
  for (const name of OPTION_NAMES) {
    const { noEffect, requires } = optionNamed(name);
    if (noEffect === undefined || explained.has(name) || !asksForMore(options, name)) continue;
    if (isEmptyList(options.values[name])) continue;
    if (requires !== undefined && !isSwitchedOn(options, requires)) continue;
    byReason.set(noEffect, [...(byReason.get(noEffect) ?? []), name]);
  }
  return [...byReason].map(([reason, names]) => `${listed(names)} no effect in this node: ${reason}.`);
}

/** Asks for nothing: bootnodes=[]. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function listed(names: readonly OptionName[]): string {
  return `${names.map((name) => `--${name}`).join(", ")} ${names.length === 1 ? "has" : "have"}`;
}

/** Options whose main switch is off. */
function withoutSwitch(options: ResolvedOptions): string[] {
  const bySwitch = new Map<string, OptionName[]>();
  for (const name of OPTION_NAMES) {
    const { requires } = optionNamed(name);
    if (requires === undefined || !asksForMore(options, name) || isSwitchedOn(options, requires)) continue;
    bySwitch.set(requires, [...(bySwitch.get(requires) ?? []), name]);
  }
  return [...bySwitch].map(
    ([main, names]) =>
      `${names.join(", ")} has been ignored because --${main} was not defined on the command line.`,
  );
}

/** True when the operator gave the option, and with another value than what is the case anyway. */
function asksForMore({ values, isGiven }: ResolvedOptions, name: OptionName): boolean {
  const { isMetBy, refusedWhenOn } = optionNamed(name);
  if (!isGiven(name)) return false;
  if (refusedWhenOn !== undefined) return values[name] !== false;
  return isMetBy === undefined || values[name] !== isMetBy;
}

function unservedGroups({ values, isGiven }: ResolvedOptions): string[] {
  return (["rpc-http-api", "rpc-ws-api"] as const).flatMap((name) =>
    isGiven(name)
      ? values[name].flatMap((group) => {
          const reason = whyUnserved(group);
          return reason === undefined ? [] : [`--${name} names ${group}, but ${reason}.`];
        })
      : [],
  );
}

/** Of options that shape metrics whichever way they get out. */
function metricChoices(options: ResolvedOptions): string[] {
  const { values, isGiven } = options;
  if (values["metrics-enabled"] || values["metrics-push-enabled"]) return emptyCategories(options);
  return (["metrics-category", "Xmetrics-timers-enabled"] as const)
    .filter(isGiven)
    .map(
      (name) =>
        `${name} has been ignored because neither --metrics-enabled nor --metrics-push-enabled is given.`,
    );
}

function emptyCategories({ values, isGiven }: ResolvedOptions): string[] {
  const empty = values["metrics-category"].filter((category) => EMPTY_METRIC_CATEGORIES.has(category));
  if (!isGiven("metrics-category") || empty.length === 0) return [];
  return [`--metrics-category names ${empty.join(", ")}, of which this node has no metrics.`];
}

interface SpecialCase {
  readonly name: OptionName;
  readonly warning: string;
}

function* specialCases(options: ResolvedOptions): Generator<SpecialCase> {
  yield* takenForAnother(options);
  const { values, isGiven, sourceOf } = options;
  if (isGiven("sync-min-peers")) {
    yield { name: "sync-min-peers", warning: "--sync-min-peers is ignored in FULL sync-mode" };
  }
  if (
    isGiven("bootnodes") &&
    values.bootnodes.length > 0 &&
    values["p2p-enabled"] &&
    !values["discovery-enabled"]
  ) {
    yield { name: "bootnodes", warning: "Discovery disabled: bootnodes will be ignored." };
  }
  const mayBeKubernetes = values["nat-method"] === "KUBERNETES" || values["nat-method"] === "AUTO";
  if (isGiven("Xnat-kube-service-name") && !mayBeKubernetes) {
    yield {
      name: "Xnat-kube-service-name",
      warning:
        "--Xnat-kube-service-name has no effect in this node: --nat-method is neither KUBERNETES nor AUTO.",
    };
  }
  const price = sourceOf("min-gas-price");
  if (price.kind === "profile") {
    yield {
      name: "min-gas-price",
      warning: `The profile ${price.profile} sets --min-gas-price=${values["min-gas-price"]}: this node puts transactions into its blocks that others of the network may refuse to pool.`,
    };
  }
}

function* takenForAnother({ values }: ResolvedOptions): Generator<SpecialCase> {
  if (values["sync-mode"] === "FAST") {
    yield {
      name: "sync-mode",
      warning: "--sync-mode=FAST is taken for FULL: this node executes every block.",
    };
  }
  if (values["metrics-protocol"] === "OPENTELEMETRY") {
    yield {
      name: "metrics-protocol",
      warning:
        "--metrics-protocol=OPENTELEMETRY is not supported and taken for PROMETHEUS: an OpenTelemetry collector can scrape the metrics.",
    };
  }
  if (values["data-storage-format"] === "BONSAI") {
    yield {
      name: "data-storage-format",
      warning: "--data-storage-format=BONSAI is taken for FOREST: this node keeps every state.",
    };
  }
}
