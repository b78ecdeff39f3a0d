import { join, resolve } from "node:path";
import type { ExplorerSettings } from "../explorer/server.ts";
import type { FaucetTerms } from "../faucet/gift.ts";
import type { ConnectionLimits } from "../rpc/server/connectionLimits.ts";
import { IPC_CONNECTIONS, IPC_TIMEOUT_MS } from "../rpc/server/limits.ts";
import { LONGEST_SOCKET_PATH } from "../rpc/server/unixSocket.ts";
import { type Authentication, readAuthentication } from "./authenticationSettings.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import { readFaucet } from "./faucetSettings.ts";
import type { OptionValues } from "./options.ts";
import { shownPoolSize } from "./poolSettings.ts";
import type { ResolvedOptions } from "./precedence.ts";
import type { FaucetSettings, MetricsSettings, RpcAnswerSettings, Settings } from "./settings.ts";
import { type Encryption, readTls } from "./tlsSettings.ts";

/** What was read from the files that options of the servers name. */
export interface ServerFiles {
  readonly authentication: Authentication;
  readonly tls: Encryption;
  /** Undefined when the faucet is off. */
  readonly faucet: FaucetSettings | undefined;
}

export function readServerFiles(
  options: ResolvedOptions,
  workingDirectory: string,
): ServerFiles & Diagnostics {
  const authentication = readAuthentication(options, workingDirectory);
  const tls = readTls(options, workingDirectory);
  const { faucet, ...faucetFound } = readFaucet(options, workingDirectory);
  return {
    authentication,
    tls,
    faucet,
    problems: [
      ...authentication.problems,
      ...tls.problems,
      ...faucetFound.problems,
      ...ipcProblems(options, workingDirectory),
    ],
    warnings: [...authentication.warnings, ...tls.warnings, ...faucetFound.warnings],
  };
}

/** The JSON-RPC server over HTTP. */
export function httpSettings(
  values: OptionValues,
  { authentication, tls }: ServerFiles,
): NonNullable<Settings["http"]> {
  const maxBatchSize = values["rpc-http-max-batch-size"];
  const corsOrigins = values["rpc-http-cors-origins"];
  return {
    ...perAddress(values, values["rpc-http-max-active-connections"]),
    trustedOrigins: [...values["rpc-ws-origins"], ...corsOrigins],
    host: values["rpc-http-host"],
    port: values["rpc-http-port"],
    groups: values["rpc-http-api"],
    hostAllowlist: values["host-allowlist"],
    maxConnections: values["rpc-http-max-active-connections"],
    timeoutMs: values["Xhttp-timeout-seconds"] * 1000,
    authentication: authentication.http,
    tls: tls.http,
    corsOrigins,
    maxBatchSize: maxBatchSize > 0 ? maxBatchSize : undefined,
    maxBodyBytes: values["rpc-http-max-request-content-length"],
    isPrettyPrinted: values["json-pretty-print-enabled"],
  };
}

/** The JSON-RPC server over WebSocket. */
export function webSocketSettings(
  values: OptionValues,
  { authentication, tls }: ServerFiles,
): NonNullable<Settings["webSocket"]> {
  return {
    ...perAddress(values, values["rpc-ws-max-active-connections"]),
    trustedOrigins: values["rpc-ws-origins"],
    host: values["rpc-ws-host"],
    port: values["rpc-ws-port"],
    groups: values["rpc-ws-api"],
    hostAllowlist: values["host-allowlist"],
    maxConnections: values["rpc-ws-max-active-connections"],
    timeoutMs: values["Xws-timeout-seconds"] * 1000,
    authentication: authentication.webSocket,
    tls: tls.webSocket,
    maxFrameBytes: values["rpc-ws-max-frame-size"],
  };
}

/** The JSON-RPC server over a Unix socket, whose callers have no tokens; undefined when it is off. */
export function ipcSettings(values: OptionValues, workingDirectory: string): Settings["ipc"] {
  if (!values["Xrpc-ipc-enabled"]) return undefined;
  return {
    path: ipcPath(values, workingDirectory),
    groups: values["Xrpc-ipc-api"],
    authentication: undefined,
    maxConnections: IPC_CONNECTIONS,
    // All callers have one address, which is none.
    maxConnectionsPerAddress: IPC_CONNECTIONS,
    proxyAddresses: [],
    timeoutMs: IPC_TIMEOUT_MS,
  };
}

/** A path that no Unix socket can have. */
function ipcProblems(options: ResolvedOptions, workingDirectory: string): string[] {
  const { values } = options;
  const path = ipcPath(values, workingDirectory);
  const bytes = Buffer.byteLength(path);
  if (!values["Xrpc-ipc-enabled"] || bytes <= LONGEST_SOCKET_PATH) return [];
  return [
    report(
      options,
      `The path of a Unix socket has at most ${LONGEST_SOCKET_PATH} bytes, and ${path} has ${bytes}. Choose a shorter one with --Xrpc-ipc-path.`,
      "Xrpc-ipc-path",
    ),
  ];
}

function ipcPath(values: OptionValues, workingDirectory: string): string {
  const { "Xrpc-ipc-path": path = join(values["data-path"], "besu.ipc") } = values;
  return resolve(workingDirectory, path);
}

/** The GraphQL server, whose callers, bodies and times are bounded as those of JSON-RPC over HTTP. */
export function graphQlSettings(
  values: OptionValues,
  { authentication, tls }: ServerFiles,
): NonNullable<Settings["graphQl"]> {
  return {
    ...perAddress(values, values["graphql-http-max-active-connections"]),
    host: values["graphql-http-host"],
    port: values["graphql-http-port"],
    hostAllowlist: values["host-allowlist"],
    corsOrigins: values["graphql-http-cors-origins"],
    maxConnections: values["graphql-http-max-active-connections"],
    maxBodyBytes: values["rpc-http-max-request-content-length"],
    timeoutMs: values["Xhttp-timeout-seconds"] * 1000,
    authentication: authentication.graphQl,
    tls: tls.graphQl,
  };
}

/** The page that shows the chain, on a port of its own; undefined when it is off. */
export function explorerSettings(
  { values, isGiven }: ResolvedOptions,
  { faucet }: Pick<ServerFiles, "faucet">,
  { dataPath, workingDirectory }: { readonly dataPath: string; readonly workingDirectory: string },
): ExplorerSettings | undefined {
  if (!values["explorer-enabled"]) return undefined;
  const compilers = values["explorer-verify-compilers"];
  const maxConnections = values["explorer-max-active-connections"];
  return {
    ...perAddress(values, maxConnections),
    host: values["explorer-host"],
    port: values["explorer-port"],
    visitorProxies: values["explorer-proxy-addresses"],
    coinSymbol: values["explorer-coin-symbol"],
    verifier:
      compilers === undefined
        ? undefined
        : {
            compilersPath: resolve(workingDirectory, compilers),
            contractsPath: join(dataPath, "explorer-contracts"),
            runsOnValidators: values["explorer-verify-on-validators"],
          },
    isAnyPortFine: !isGiven("explorer-enabled") && !isGiven("explorer-port"),
    hostAllowlist: values["host-allowlist"],
    maxConnections,
    faucet: faucet && withoutKey(faucet),
  };
}

/** What the threads of servers know of the faucet. */
function withoutKey({ privateKey: _, ...terms }: FaucetSettings): FaucetTerms {
  return terms;
}

/** What the servers answer, and how. */
export function answerSettings(options: ResolvedOptions): RpcAnswerSettings {
  const { values } = options;
  const threads = values["rpc-threads"];
  return {
    threads: threads === undefined ? undefined : Math.max(1, threads),
    gasCap: values["rpc-gas-cap"],
    maxLogsRange: values["rpc-max-logs-range"],
    maxTraceFilterRange: values["rpc-max-trace-filter-range"],
    isLogIndexAutomatic: values["auto-log-bloom-caching-enabled"],
    gasPrice: {
      blocks: values["api-gas-price-blocks"],
      percentile: values["api-gas-price-percentile"],
      maxWei: values["api-gas-price-max"],
    },
    coinbase: values["miner-coinbase"],
    poolMaxSize: shownPoolSize(options),
  };
}

/** Metrics, offered by a server or pushed; undefined when nothing asks for them. */
export function metricsSettings(values: OptionValues): MetricsSettings | undefined {
  const isOffered = values["metrics-enabled"];
  if (!(isOffered || values["metrics-push-enabled"]) || values["metrics-protocol"] === "NONE")
    return undefined;
  const server = {
    host: values["metrics-host"],
    port: values["metrics-port"],
    hostAllowlist: values["host-allowlist"],
    idleTimeoutMs: values["Xmetrics-idle-timeout"] * 1000,
  };
  const push = {
    host: values["metrics-push-host"],
    port: values["metrics-push-port"],
    intervalMs: values["metrics-push-interval"] * 1000,
    job: values["metrics-push-prometheus-job"],
  };
  return {
    categories: new Set(values["metrics-category"]),
    hasTimers: values["Xmetrics-timers-enabled"],
    ...(isOffered ? { server } : { push }),
  };
}

/** Limits the connections of one address: by default to three quarters of a server's, which leaves a quarter to the others. */
function perAddress(
  values: OptionValues,
  maxConnections: number,
): Pick<ConnectionLimits, "maxConnectionsPerAddress" | "proxyAddresses"> {
  const share = Math.max(1, Math.floor(maxConnections * 0.75));
  return {
    maxConnectionsPerAddress: values["rpc-max-connections-per-address"] ?? share,
    proxyAddresses: values["rpc-proxy-addresses"],
  };
}
