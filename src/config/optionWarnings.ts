import { EMPTY_METRIC_CATEGORIES } from "../observability/categories.ts";
import { whyUnsupported } from "./apiGroups.ts";
import { missingNat } from "./natSettings.ts";
import { OPTION_NAMES, type OptionName, optionNamed } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";

/**
 * Warnings about options that have no effect or another effect than their name says
 * (options.md#switches-and-their-dependants): every such option gives one warning.
 */
export function findWarnings(options: ResolvedOptions): readonly string[] {
  const special = [...specialCases(options)];
  const explained = new Set(special.map(({ name }) => name));
  return [
    ...withoutEffect(options, explained),
    ...withoutSwitch(options),
    ...special.map(({ warning }) => warning),
    ...unsupportedGroups(options),
    ...metricChoices(options),
  ];
}

/** Whether one of the options that another one requires is on or, when it is not a switch, has a value. */
export function isSwitchedOn({ values }: ResolvedOptions, required: string | readonly string[]): boolean {
  return [required].flat().some((main) => {
    const value: unknown = Reflect.get(values, main);
    return value !== undefined && value !== false;
  });
}

/** Warnings about options without effect: one line for each reason, so that a family of options gives one warning. */
function withoutEffect(options: ResolvedOptions, explained: ReadonlySet<OptionName>): string[] {
  const byReason = new Map<string, OptionName[]>();
  for (const name of OPTION_NAMES) {
    const { noEffect, requires } = optionNamed(name);
    if (noEffect === undefined || explained.has(name) || !differsFromBehaviour(options, name)) continue;
    if (isEmptyList(options.values[name])) continue;
    if (requires !== undefined && !isSwitchedOn(options, requires)) continue;
    byReason.set(noEffect, [...(byReason.get(noEffect) ?? []), name]);
  }
  return [...byReason].map(([reason, names]) => `${listed(names)} no effect in this node: ${reason}.`);
}

/** An empty list, such as bootnodes=[], sets nothing. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function listed(names: readonly OptionName[]): string {
  return `${names.map((name) => `--${name}`).join(", ")} ${names.length === 1 ? "has" : "have"}`;
}

/** Options whose required switch is off. */
function withoutSwitch(options: ResolvedOptions): string[] {
  const bySwitch = new Map<string, OptionName[]>();
  for (const name of OPTION_NAMES) {
    const { requires } = optionNamed(name);
    if (requires === undefined || !differsFromBehaviour(options, name) || isSwitchedOn(options, requires))
      continue;
    const [main = ""] = [requires].flat();
    bySwitch.set(main, [...(bySwitch.get(main) ?? []), name]);
  }
  return [...bySwitch].map(
    ([main, names]) =>
      `${names.join(", ")} has been ignored because --${main} was not defined on the command line.`,
  );
}

/** True when the operator gave the option with a value that differs from the actual behaviour. */
function differsFromBehaviour({ values, isGiven }: ResolvedOptions, name: OptionName): boolean {
  const { isMetBy, refusedWhenOn } = optionNamed(name);
  if (!isGiven(name)) return false;
  if (refusedWhenOn !== undefined) return values[name] !== false;
  return isMetBy === undefined || values[name] !== isMetBy;
}

function unsupportedGroups({ values, isGiven }: ResolvedOptions): string[] {
  return (["rpc-http-api", "rpc-ws-api"] as const).flatMap((name) =>
    isGiven(name)
      ? values[name].flatMap((group) => {
          const reason = whyUnsupported(group);
          return reason === undefined ? [] : [`--${name} names ${group}, but ${reason}.`];
        })
      : [],
  );
}

/** Warnings for options that apply to both the metrics server and the push gateway. */
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
  return [`--metrics-category names ${empty.join(", ")}, for which this node has no metrics.`];
}

interface SpecialCase {
  readonly name: OptionName;
  readonly warning: string;
}

function* specialCases(options: ResolvedOptions): Generator<SpecialCase> {
  yield* replacedValues(options);
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
  const missing = values["p2p-enabled"] ? missingNat(values) : undefined;
  if (missing !== undefined)
    yield { name: "nat-method", warning: `${missing} Until then --p2p-host is announced.` };
  if (values["nat-method"] === "AUTO" && !values["Xnat-method-fallback-enabled"]) {
    yield {
      name: "Xnat-method-fallback-enabled",
      warning: "--Xnat-method-fallback-enabled=false has no effect with --nat-method=AUTO.",
    };
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
      warning: `The profile ${price.profile} sets --min-gas-price=${values["min-gas-price"]}: this node includes transactions in its blocks that other nodes may refuse to pool.`,
    };
  }
}

/** Values that are read as another one. */
function* replacedValues({ values }: ResolvedOptions): Generator<SpecialCase> {
  if (values["sync-mode"] === "FAST") {
    yield {
      name: "sync-mode",
      warning: "--sync-mode=FAST is treated as FULL: this node executes every block.",
    };
  }
  if (values["metrics-protocol"] === "OPENTELEMETRY") {
    yield {
      name: "metrics-protocol",
      warning:
        "--metrics-protocol=OPENTELEMETRY is not supported and treated as PROMETHEUS: an OpenTelemetry collector can scrape the metrics.",
    };
  }
  if (values["data-storage-format"] === "BONSAI") {
    yield {
      name: "data-storage-format",
      warning:
        "--data-storage-format=BONSAI is treated as FOREST: this node keeps every state. BONSAI keeps those of 512 blocks, as --state-history=512 does here.",
    };
  }
  if (values["rpc-threads"] === 0) {
    yield {
      name: "rpc-threads",
      warning:
        "--rpc-threads=0 is treated as 1: callers are answered beside the thread that makes blocks, never on it.",
    };
  }
}
