import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { whyUnserved } from "./apiGroups.ts";
import { OPTION_NAMES, type OptionName, optionNamed } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";

export interface Findings {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Rules between options that need no genesis file (operations.md §4 and §6.1), in the incumbent's words where it has any. */
export function checkOptions(options: ResolvedOptions): Findings {
  const { values, isGiven } = options;
  const problems: string[] = [];
  if (isGiven("network") && isGiven("genesis-file")) {
    problems.push("--network option and --genesis-file option can't be used at the same time.");
  } else if (values.network !== undefined) {
    problems.push(
      `--network=${values.network} cannot be run: the public networks are not IBFT 2.0 chains. Name the genesis file of your network with --genesis-file, or give neither for the development network.`,
    );
  }
  if (values["metrics-enabled"] && values["metrics-push-enabled"]) {
    problems.push(
      "--metrics-enabled option and --metrics-push-enabled option can't be used at the same time. Choose whether Prometheus fetches the metrics or a gateway is sent them.",
    );
  }
  if (/SNAP/.test(values["sync-mode"])) problems.push("Snap sync can't be used with BFT networks");
  if (/CHECKPOINT/.test(values["sync-mode"]))
    problems.push("Checkpoint sync can't be used with BFT networks");
  if (isGiven("block-txs-selection-max-time")) {
    problems.push(
      "--block-txs-selection-max-time can't be used with PoA networks, see poa-block-txs-selection-max-time instead",
    );
  }
  if (isGiven("tx-pool-min-gas-price") && values["tx-pool-min-gas-price"] > values["min-gas-price"]) {
    problems.push("tx-pool-min-gas-price cannot be greater than the value of min-gas-price");
  }
  return {
    problems: [...problems, ...repeatedPorts(options)],
    warnings: [
      ...withoutEffect(options),
      ...withoutSwitch(options),
      ...unservedGroups(options),
      ...takenForAnother(options),
    ],
  };
}

/** Rules between options and the chain they are to run. */
export function checkAgainstChain(options: ResolvedOptions, spec: ChainSpec): Findings {
  const problems: string[] = [];
  if (options.isGiven("tx-pool-price-bump") && spec.isZeroBaseFee) {
    problems.push("Price bump option is not compatible with zero base fee market");
  }
  return { problems, warnings: [] };
}

function repeatedPorts({ values }: ResolvedOptions): string[] {
  const ports: number[] = [];
  if (values["rpc-http-enabled"]) ports.push(values["rpc-http-port"]);
  if (values["rpc-ws-enabled"]) ports.push(values["rpc-ws-port"]);
  if (values["metrics-enabled"]) ports.push(values["metrics-port"]);
  return [...new Set(ports.filter((port, index) => port !== 0 && ports.indexOf(port) !== index))].map(
    (port) =>
      `Port number '${port}' has been specified multiple times. Please review the supplied configuration.`,
  );
}

/** One line for each reason, so that a whole family of options takes one line. */
function withoutEffect({ values, isGiven }: ResolvedOptions): string[] {
  const byReason = new Map<string, OptionName[]>();
  for (const name of OPTION_NAMES) {
    const { noEffect, isMetBy } = optionNamed(name);
    if (noEffect === undefined || !isGiven(name)) continue;
    if (isMetBy !== undefined && values[name] === isMetBy) continue;
    byReason.set(noEffect, [...(byReason.get(noEffect) ?? []), name]);
  }
  return [...byReason].map(([reason, names]) => `${listed(names)} no effect: ${reason}.`);
}

function listed(names: readonly OptionName[]): string {
  return `${names.map((name) => `--${name}`).join(", ")} ${names.length === 1 ? "has" : "have"}`;
}

/** Options whose main switch is off. */
function withoutSwitch({ values, isGiven }: ResolvedOptions): string[] {
  const bySwitch = new Map<string, OptionName[]>();
  for (const name of OPTION_NAMES) {
    const { requires } = optionNamed(name);
    if (requires === undefined || !isGiven(name) || Reflect.get(values, requires) === true) continue;
    bySwitch.set(requires, [...(bySwitch.get(requires) ?? []), name]);
  }
  return [...bySwitch].map(
    ([main, names]) =>
      `${names.join(", ")} has been ignored because --${main} was not defined on the command line.`,
  );
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

function takenForAnother({ values, sourceOf }: ResolvedOptions): string[] {
  const warnings: string[] = [];
  if (values["sync-mode"] === "FAST") {
    warnings.push("--sync-mode=FAST is taken for FULL: this node executes every block.");
  }
  if (values["metrics-protocol"] === "OPENTELEMETRY") {
    warnings.push(
      "--metrics-protocol=OPENTELEMETRY is not supported and taken for PROMETHEUS: an OpenTelemetry collector can scrape the metrics.",
    );
  }
  if (values["data-storage-format"] === "BONSAI") {
    warnings.push("--data-storage-format=BONSAI is taken for FOREST: this node keeps every state.");
  }
  if (
    values["tx-pool-min-gas-price"] > values["min-gas-price"] &&
    sourceOf("tx-pool-min-gas-price").kind === "default"
  ) {
    warnings.push(
      `Forcing tx-pool-min-gas-price=${values["min-gas-price"]}, since it cannot be greater than the value of min-gas-price`,
    );
  }
  return warnings;
}
