import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { parseTreeUrl } from "../network/discovery/treeUrl.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import { enodeSyntaxProblem, isNamed, showEnode } from "./enode.ts";
import { faucetProblems } from "./faucetSettings.ts";
import { missingNat } from "./natSettings.ts";
import { longestSpelling, OPTION_NAMES, type OptionName, optionNamed } from "./options.ts";
import { findWarnings, isSwitchedOn } from "./optionWarnings.ts";
import { poolWarnings } from "./poolSettings.ts";
import type { ResolvedOptions } from "./precedence.ts";
import { signerProblems } from "./signerSettings.ts";

/**
 * Rules between options that need no genesis file (options.md#refused-combinations). Messages are Besu's where it has
 * the same rule.
 */
export function checkOptions(options: ResolvedOptions): Diagnostics {
  return {
    problems: [
      ...networkProblems(options),
      ...poolProblems(options),
      ...unsupportedGuards(options),
      ...peerProblems(options),
      ...repeatedPorts(options),
      ...keyProblems(options),
      ...signerProblems(options),
      ...historyProblems(options),
    ],
    warnings: [...findWarnings(options), ...poolWarnings(options)],
  };
}

/** Rules between options and the chain spec. */
export function checkAgainstChain(options: ResolvedOptions, spec: ChainSpec): Diagnostics {
  const problems = faucetProblems(options, spec);
  if (options.isGiven("tx-pool-price-bump") && spec.isZeroBaseFee) {
    problems.push(
      report(options, "Price bump option is not compatible with zero base fee market", "tx-pool-price-bump"),
    );
  }
  return { problems, warnings: listWarnings(options, spec) };
}

function listWarnings({ values }: ResolvedOptions, { dnsList }: ChainSpec): string[] {
  if (!values["p2p-enabled"] || values["discovery-dns-url"] !== undefined || dnsList === undefined) return [];
  const tree = parseTreeUrl(dnsList);
  return tree.ok ? [] : [`config.discovery.dns of the genesis file is ignored: ${tree.error.message}`];
}

/** The node's key is in one place. */
export function keyProblems(options: ResolvedOptions): string[] {
  const { isGiven } = options;
  const problems: string[] = [];
  if (isGiven("node-keystore-file") !== isGiven("node-keystore-password-file")) {
    problems.push(
      report(
        options,
        "--node-keystore-file and --node-keystore-password-file are given together or not at all.",
        "node-keystore-file",
        "node-keystore-password-file",
      ),
    );
  }
  if (isGiven("node-keystore-file") && isGiven("node-private-key-file")) {
    problems.push(
      report(
        options,
        "--node-keystore-file and --node-private-key-file cannot be used at the same time: a node has one key.",
        "node-keystore-file",
        "node-private-key-file",
      ),
    );
  }
  return problems;
}

/** A state is kept with its block, which its traces and replays need. */
function historyProblems(options: ResolvedOptions): string[] {
  const { "block-history": blocks, "state-history": states } = options.values;
  if (blocks === "all" || (states !== "all" && states <= blocks)) return [];
  const keeper = states === "all" ? "are all kept" : `--state-history=${states} keeps`;
  return [
    report(
      options,
      `--block-history=${blocks} removes blocks whose states ${keeper}: set --state-history to ${blocks} or fewer.`,
      "block-history",
      "state-history",
    ),
  ];
}

function networkProblems(options: ResolvedOptions): string[] {
  const { values, isGiven } = options;
  const problems: string[] = [];
  if (values.network !== undefined && isGiven("genesis-file")) {
    problems.push(
      report(
        options,
        "--network option and --genesis-file option can't be used at the same time.",
        "network",
        "genesis-file",
      ),
    );
  } else if (values.network !== undefined) {
    problems.push(
      report(
        options,
        `--network=${values.network} cannot be run: the public networks are not IBFT 2.0 chains. A genesis file is required: name that of your network with --genesis-file, or give neither for the development network.`,
        "network",
      ),
    );
  }
  if (values["metrics-enabled"] && values["metrics-push-enabled"]) {
    problems.push(
      report(
        options,
        "--metrics-enabled option and --metrics-push-enabled option can't be used at the same time. Choose whether Prometheus fetches the metrics or a gateway is sent them.",
        "metrics-enabled",
        "metrics-push-enabled",
      ),
    );
  }
  if (/SNAP/.test(values["sync-mode"])) {
    problems.push(report(options, "Snap sync can't be used with BFT networks", "sync-mode"));
  }
  if (/CHECKPOINT/.test(values["sync-mode"])) {
    problems.push(report(options, "Checkpoint sync can't be used with BFT networks", "sync-mode"));
  }
  if (isGiven("block-txs-selection-max-time")) {
    problems.push(
      report(
        options,
        "--block-txs-selection-max-time can't be used with PoA networks, see poa-block-txs-selection-max-time instead",
        "block-txs-selection-max-time",
      ),
    );
  }
  if (values["Xchain-pruning-blocks-retained"] < values["Xchain-pruning-blocks-retained-limit"]) {
    problems.push(
      report(
        options,
        `--Xchain-pruning-blocks-retained must be >= ${values["Xchain-pruning-blocks-retained-limit"]}`,
        "Xchain-pruning-blocks-retained",
        "Xchain-pruning-blocks-retained-limit",
      ),
    );
  }
  return problems;
}

function poolProblems(options: ResolvedOptions): string[] {
  const { values, isGiven } = options;
  if (!isGiven("tx-pool-min-gas-price") || values["tx-pool-min-gas-price"] <= values["min-gas-price"])
    return [];
  return [
    report(
      options,
      "tx-pool-min-gas-price cannot be greater than the value of min-gas-price",
      "tx-pool-min-gas-price",
      "min-gas-price",
    ),
  ];
}

/** Security switches that are on although this version cannot enforce them. */
function unsupportedGuards(options: ResolvedOptions): string[] {
  return OPTION_NAMES.flatMap((name) => {
    const { refusedWhenOn, requires } = optionNamed(name);
    if (refusedWhenOn === undefined || options.values[name] !== true) return [];
    if (requires !== undefined && !isSwitchedOn(options, requires)) return [];
    return [report(options, `--${name}=true is refused: ${refusedWhenOn}.`, name)];
  });
}

/** Enode rules (options.md#enodes-and-static-nodes) and the address to listen on. */
function peerProblems(options: ResolvedOptions): string[] {
  const { values, sourceOf } = options;
  const problems: string[] = [];
  const spelling = longestSpelling("bootnodes");
  for (const node of values.bootnodes) {
    const url = showEnode(node);
    if (isNamed(node) && !values["Xdns-enabled"]) {
      const reason = `${enodeSyntaxProblem(url)} Invalid ip address: host names need --Xdns-enabled.`;
      problems.push(report(options, `Invalid value for option '--${spelling}': ${reason}`, "bootnodes"));
    } else if (node.udpPort === undefined) {
      const reason = `Bootnodes must have discovery ports configured, but '${url}' has none.`;
      problems.push(report(options, `Invalid value for option '--${spelling}': ${reason}`, "bootnodes"));
    }
  }
  if (values["Xdns-update-enabled"] && !values["Xdns-enabled"]) {
    problems.push(
      report(
        options,
        "The --Xdns-update-enabled option needs --Xdns-enabled to be true",
        "Xdns-update-enabled",
        "Xdns-enabled",
      ),
    );
  }
  const missing = values["p2p-enabled"] ? missingNat(values) : undefined;
  if (missing !== undefined && !values["Xnat-method-fallback-enabled"])
    problems.push(report(options, missing, "nat-method", "Xnat-method-fallback-enabled"));
  const listensOn = values["p2p-interface"];
  if (values["p2p-enabled"] && sourceOf("p2p-interface").kind !== "default" && !isOurAddress(listensOn)) {
    problems.push(
      report(options, `The provided --p2p-interface is not available: ${listensOn}`, "p2p-interface"),
    );
  }
  return problems;
}

/** Whether the address belongs to this host. Host names are resolved only when the server starts to listen. */
export function isOurAddress(host: string): boolean {
  if (isIP(host) === 0 || host === "0.0.0.0" || host === "::") return true;
  return Object.values(networkInterfaces()).some((addresses) =>
    (addresses ?? []).some(({ address }) => address === host.replace(/%.*$/, "")),
  );
}

function repeatedPorts(options: ResolvedOptions): string[] {
  const { values } = options;
  const used: { name: OptionName; port: number }[] = [];
  if (values["rpc-http-enabled"]) used.push({ name: "rpc-http-port", port: values["rpc-http-port"] });
  if (values["rpc-ws-enabled"]) used.push({ name: "rpc-ws-port", port: values["rpc-ws-port"] });
  if (values["graphql-http-enabled"])
    used.push({ name: "graphql-http-port", port: values["graphql-http-port"] });
  // An explorer that the preset opens takes another port.
  if (options.isGiven("explorer-enabled"))
    used.push({ name: "explorer-port", port: values["explorer-port"] });
  if (values["metrics-enabled"]) used.push({ name: "metrics-port", port: values["metrics-port"] });
  const ports = used.map(({ port }) => port).filter((port) => port !== 0);
  const repeated = new Set(ports.filter((port, index) => ports.indexOf(port) !== index));
  return [...repeated].map((port) =>
    report(
      options,
      `Port number '${port}' has been specified multiple times. Please review the supplied configuration.`,
      ...used.filter((each) => each.port === port).map(({ name }) => name),
    ),
  );
}
