import type { Endpoint } from "../../primitives/endpoint.ts";
import { type Err, err } from "../../primitives/result.ts";
import type { ServerErrorCode } from "./server.ts";
import { isPath, type SocketPath } from "./unixSocket.ts";

/**
 * The ports of a node, in the order in which they open. The compiler refuses a row whose settings, metrics or
 * opening are missing elsewhere (docs/checklists/add-a-port.md).
 *
 *   option       begins the names of its options
 *   address      where it listens: a host and a port, or the path of a Unix socket
 *   scheme       of its URL
 *   file         its name in the file of ports (options.md#files-in-the-data-folder); undefined without a port
 *   service      its name in the status, and in net_services if Besu lists it there; undefined for one that neither shows
 *   threads      who answers: threads for callers; the explorer's, whose visitors keep no caller waiting; or the main thread
 *   connections  the gauge of its open connections (protocol/metrics.md), of those that answer callers
 *   isGuarded    whether it may have tokens, users and TLS
 */
export const SERVERS = {
  http: {
    option: "rpc-http",
    address: "port",
    scheme: "http",
    file: "json-rpc",
    service: "jsonrpc",
    threads: "callers",
    connections: { name: "active_http_connection_count", help: "Open HTTP connections" },
    isGuarded: true,
  },
  webSocket: {
    option: "rpc-ws",
    address: "port",
    scheme: "ws",
    file: "ws-rpc",
    service: "ws",
    threads: "callers",
    connections: { name: "active_ws_connection_count", help: "Open WebSocket connections" },
    isGuarded: true,
  },
  ipc: {
    option: "Xrpc-ipc",
    address: "path",
    scheme: "unix",
    file: undefined,
    service: undefined,
    threads: "callers",
    connections: { prefix: "rpc_", name: "ipc_connections", help: "Open connections over the Unix socket" },
    isGuarded: false,
  },
  graphQl: {
    option: "graphql-http",
    address: "port",
    scheme: "http",
    file: "graphql-http",
    service: "graphql",
    threads: "callers",
    connections: { prefix: "rpc_", name: "graphql_connections", help: "Open connections of GraphQL" },
    isGuarded: true,
  },
  explorer: {
    option: "explorer",
    address: "port",
    scheme: "http",
    file: "explorer",
    service: undefined,
    threads: "visitors",
    isGuarded: false,
  },
  metrics: {
    option: "metrics",
    address: "port",
    scheme: "http",
    file: "metrics",
    service: "metrics",
    threads: "none",
    isGuarded: false,
  },
} as const;

export type ServerName = keyof typeof SERVERS;
type NameWith<Trait> = {
  [Name in ServerName]: (typeof SERVERS)[Name] extends Trait ? Name : never;
}[ServerName];
export type CallerServerName = NameWith<{ readonly threads: "callers" }>;
type VisitorServerName = NameWith<{ readonly threads: "visitors" }>;
export type ThreadServerName = CallerServerName | VisitorServerName;
export type GuardedServerName = NameWith<{ readonly isGuarded: true }>;

/** Where the named server listens. */
export type AddressOf<Name extends ServerName> = (typeof SERVERS)[Name] extends { readonly address: "path" }
  ? SocketPath
  : Endpoint;

/** Where the servers listen; undefined for one that is off. */
export type Endpoints = { readonly [Name in ServerName]?: AddressOf<Name> | undefined };

export const SERVER_NAMES = Object.keys(SERVERS) as readonly ServerName[];
export const CALLER_SERVERS = SERVER_NAMES.filter(
  (name): name is CallerServerName => SERVERS[name].threads === "callers",
);
export const VISITOR_SERVERS = SERVER_NAMES.filter(
  (name): name is VisitorServerName => SERVERS[name].threads === "visitors",
);
export const THREAD_SERVERS: readonly ThreadServerName[] = [...CALLER_SERVERS, ...VISITOR_SERVERS];
export const GUARDED_SERVERS = SERVER_NAMES.filter(
  (name): name is GuardedServerName => SERVERS[name].isGuarded,
);

/** One value for each of the named servers. */
export function forServers<Name extends ServerName, Made>(
  names: readonly Name[],
  make: (name: Name) => Made,
): Readonly<Record<Name, Made>> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Made>;
}

/** The ports of the servers that listen at one, by their names in the file of ports. */
export function portsByFile(endpoints: Endpoints): Readonly<Record<string, number>> {
  return Object.fromEntries(
    listeningAtPorts(endpoints).flatMap(([name, { port }]) => {
      const { file } = SERVERS[name];
      return file === undefined ? [] : [[file, port] as const];
    }),
  );
}

/** The endpoints of the servers that the status or net_services lists, by their names there. */
export function endpointsByService(endpoints: Endpoints): Partial<Record<ServiceName, Endpoint>> {
  return Object.fromEntries(
    listeningAtPorts(endpoints).flatMap(([name, endpoint]) => {
      const { service } = SERVERS[name];
      return service === undefined ? [] : [[service, endpoint] as const];
    }),
  );
}

type ServiceName = NonNullable<(typeof SERVERS)[ServerName]["service"]>;

function listeningAtPorts(endpoints: Endpoints): readonly (readonly [ServerName, Endpoint])[] {
  return SERVER_NAMES.flatMap((name) => {
    const { [name]: endpoint } = endpoints;
    return endpoint === undefined || isPath(endpoint) ? [] : [[name, endpoint] as const];
  });
}

/** Adds the options that the operator can change. */
export function nameOptions({ error }: Err<ServerErrorCode>, name: ServerName): Err<ServerErrorCode> {
  const { option, address } = SERVERS[name];
  const remedy =
    address === "path"
      ? `Choose another path with --${option}-path.`
      : error.code === "addressInUse"
        ? `Choose another port with --${option}-port.`
        : `Choose another address with --${option}-host and --${option}-port.`;
  return err({ ...error, message: `${error.message}. ${remedy}` });
}
