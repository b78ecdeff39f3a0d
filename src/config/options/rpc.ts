import { type ApiGroup, apiGroupsType } from "../apiGroups.ts";
import {
  addressesType,
  bigintType,
  connectionsType,
  decimalType,
  hostType,
  integerType,
  originsType,
  pathType,
  portType,
  secondsType,
  switchType,
  weiType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

const DEFAULT_GROUPS: readonly ApiGroup[] = ["ETH", "NET", "WEB3"];
const MAX_LONG = 2n ** 63n - 1n;

const bytesType = integerType({ label: "<BYTES>", unit: "bytes", min: 1n });

/** The servers of which GraphQL shares a setting with JSON-RPC. */
const HTTP_OR_GRAPHQL = ["rpc-http-enabled", "graphql-http-enabled"] as const;

const HTTP_OPTIONS = {
  "rpc-http-enabled": option({
    type: switchType,
    default: false,
    group: "JSON-RPC over HTTP",
    help: "Serve JSON-RPC over HTTP.",
  }),
  "rpc-http-host": option({
    type: hostType,
    default: "127.0.0.1",
    group: "JSON-RPC over HTTP",
    requires: "rpc-http-enabled",
    help: "Address to listen on.",
  }),
  "rpc-http-port": option({
    type: portType,
    default: 8545,
    group: "JSON-RPC over HTTP",
    requires: "rpc-http-enabled",
    help: "Port to listen on; 0 picks a free one, written to the file besu.ports in the data folder.",
  }),
  "rpc-http-api": option({
    type: apiGroupsType,
    default: DEFAULT_GROUPS,
    group: "JSON-RPC over HTTP",
    aliases: ["rpc-http-apis"],
    requires: "rpc-http-enabled",
    help: "API groups to enable.",
  }),
  "rpc-http-cors-origins": option({
    type: originsType,
    default: [],
    defaultText: "none",
    group: "JSON-RPC over HTTP",
    requires: "rpc-http-enabled",
    help: "Web origins whose pages may send requests; * for any. Only origins listed by name may change the node.",
  }),
  "rpc-http-max-active-connections": option({
    type: connectionsType,
    default: 80,
    group: "JSON-RPC over HTTP",
    requires: "rpc-http-enabled",
    help: "Maximum number of connections. A further one replaces an idle one, or is closed at once.",
  }),
  "rpc-http-max-batch-size": option({
    type: integerType({ label: "<COUNT>", unit: "requests, -1 for no limit", min: -1n }),
    default: 1024,
    group: "JSON-RPC over HTTP",
    requires: "rpc-http-enabled",
    help: "Maximum number of requests in one batch; -1 for no limit.",
  }),
  "rpc-http-max-request-content-length": option({
    type: bytesType,
    default: 5_242_880,
    group: "JSON-RPC over HTTP",
    requires: HTTP_OR_GRAPHQL,
    help: "Maximum size of a request body, also over GraphQL.",
  }),
  "json-pretty-print-enabled": option({
    type: switchType,
    default: false,
    group: "JSON-RPC over HTTP",
    requires: "rpc-http-enabled",
    isMetBy: false,
    help: "Indent responses.",
  }),
  "Xhttp-timeout-seconds": option({
    type: secondsType,
    default: 300,
    group: "JSON-RPC over HTTP",
    isHidden: true,
    requires: HTTP_OR_GRAPHQL,
    help: "Maximum duration of a request, also over GraphQL.",
  }),
} as const;

const WEBSOCKET_OPTIONS = {
  "rpc-ws-enabled": option({
    type: switchType,
    default: false,
    group: "JSON-RPC over WebSocket",
    help: "Serve JSON-RPC over WebSocket.",
  }),
  "rpc-ws-host": option({
    type: hostType,
    default: "127.0.0.1",
    group: "JSON-RPC over WebSocket",
    requires: "rpc-ws-enabled",
    help: "Address to listen on.",
  }),
  "rpc-ws-port": option({
    type: portType,
    default: 8546,
    group: "JSON-RPC over WebSocket",
    requires: "rpc-ws-enabled",
    help: "Port to listen on; 0 picks a free one.",
  }),
  "rpc-ws-api": option({
    type: apiGroupsType,
    default: DEFAULT_GROUPS,
    group: "JSON-RPC over WebSocket",
    aliases: ["rpc-ws-apis"],
    requires: "rpc-ws-enabled",
    help: "API groups to enable.",
  }),
  "rpc-ws-origins": option({
    type: originsType,
    default: [],
    defaultText: "none",
    group: "JSON-RPC over WebSocket",
    help: "Web origins whose pages may change the node, also over HTTP; * matches none. Pages of other origins may only read and send transactions.",
  }),
  "rpc-ws-max-frame-size": option({
    type: bytesType,
    default: 1_048_576,
    group: "JSON-RPC over WebSocket",
    requires: "rpc-ws-enabled",
    help: "A quarter of the maximum size of a message, however many frames it has.",
  }),
  "rpc-ws-max-active-connections": option({
    type: connectionsType,
    default: 80,
    group: "JSON-RPC over WebSocket",
    requires: "rpc-ws-enabled",
    help: "Maximum number of connections. A further one replaces an idle one, or is closed at once.",
  }),
  "Xws-timeout-seconds": option({
    type: secondsType,
    default: 300,
    group: "JSON-RPC over WebSocket",
    isHidden: true,
    requires: "rpc-ws-enabled",
    help: "Maximum duration of a request.",
  }),
} as const;

const IPC_OPTIONS = {
  "Xrpc-ipc-enabled": option({
    type: switchType,
    default: false,
    group: "JSON-RPC over a Unix socket",
    help: "Serve JSON-RPC over a Unix socket, for programs that run as the node's user.",
  }),
  "Xrpc-ipc-path": option({
    type: pathType,
    default: undefined,
    defaultText: "besu.ipc in the data folder",
    group: "JSON-RPC over a Unix socket",
    requires: "Xrpc-ipc-enabled",
    help: "File of the socket, made at the start and removed at the stop.",
  }),
  "Xrpc-ipc-api": option({
    type: apiGroupsType,
    default: DEFAULT_GROUPS,
    group: "JSON-RPC over a Unix socket",
    aliases: ["Xrpc-ipc-apis"],
    requires: "Xrpc-ipc-enabled",
    help: "API groups to enable.",
  }),
} as const;

const ANSWER_OPTIONS = {
  "rpc-max-connections-per-address": option({
    type: connectionsType,
    default: undefined,
    defaultText: "three quarters of the maximum number of connections",
    group: "Limits and answers of JSON-RPC",
    help: "Maximum number of connections from one remote address, counted separately for each port.",
  }),
  "rpc-proxy-addresses": option({
    type: addressesType,
    default: ["localhost"],
    group: "Limits and answers of JSON-RPC",
    help: "Addresses of proxies that --rpc-max-connections-per-address does not apply to; localhost for all addresses of this host, none for no proxy.",
  }),
  "rpc-threads": option({
    type: integerType({ label: "<COUNT>", unit: "threads", max: 64n }),
    default: undefined,
    defaultText: "the number of cores less one, and at least 2",
    group: "Limits and answers of JSON-RPC",
    help: "Number of threads that serve JSON-RPC, apart from the main thread; 0 counts as 1.",
  }),
  "rpc-gas-cap": option({
    type: bigintType({ label: "<GAS>", unit: "gas, 0 for no cap", max: MAX_LONG }),
    default: 0n,
    group: "Limits and answers of JSON-RPC",
    help: "Gas limit of a simulated call; 0 for no cap.",
  }),
  "rpc-max-logs-range": option({
    type: bigintType({ label: "<BLOCKS>", unit: "blocks, 0 for no limit", max: MAX_LONG }),
    default: 1000n,
    group: "Limits and answers of JSON-RPC",
    help: "Maximum distance between the first and the last block of a log query; 0 for no limit.",
  }),
  "rpc-max-trace-filter-range": option({
    type: bigintType({ label: "<BLOCKS>", unit: "blocks, 0 for no limit", max: MAX_LONG }),
    default: 1000n,
    group: "Limits and answers of JSON-RPC",
    help: "Maximum block range of trace_filter; 0 for no limit.",
  }),
  "api-gas-price-blocks": option({
    type: integerType({ label: "<BLOCKS>", unit: "blocks", min: 1n, kind: "a long" }),
    default: 100,
    group: "Limits and answers of JSON-RPC",
    help: "Number of newest blocks that eth_gasPrice samples.",
  }),
  "api-gas-price-percentile": option({
    type: decimalType({ label: "<PERCENT>", min: 0, max: 100 }),
    default: 50,
    group: "Limits and answers of JSON-RPC",
    help: "Percentile of the sampled prices that eth_gasPrice returns.",
  }),
  "api-gas-price-max": option({
    type: weiType,
    default: 500_000_000_000n,
    group: "Limits and answers of JSON-RPC",
    help: "Highest price that eth_gasPrice returns, unless the next base fee or --min-gas-price is higher.",
  }),
} as const;

export const RPC_OPTIONS = {
  ...HTTP_OPTIONS,
  ...WEBSOCKET_OPTIONS,
  ...IPC_OPTIONS,
  ...ANSWER_OPTIONS,
} as const;
