import type { ApiGroup } from "../config/apiGroups.ts";
import type { HttpSettings, Settings, WebSocketSettings } from "../config/settings.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { type Outcome, ok, type Rejected, rejected } from "../primitives/outcome.ts";
import { createRpcBackend } from "../rpc/backend.ts";
import { createDispatcher } from "../rpc/dispatcher.ts";
import type { RpcMethod } from "../rpc/method.ts";
import { METHODS } from "../rpc/methods/registry.ts";
import type { RpcBackend, RpcPorts } from "../rpc/ports.ts";
import type { Door, DoorRejectionCode } from "../rpc/server/door.ts";
import { openHttpDoor } from "../rpc/server/http.ts";
import { openWebSocketDoor } from "../rpc/server/websocket.ts";
import { createSubscriptionMethods } from "../rpc/subscriptions.ts";

/** The JSON-RPC servers that the operator enabled. */
export interface Doors {
  readonly http: Door | undefined;
  readonly webSocket: Door | undefined;
  close(): Promise<void>;
}

export interface DoorParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function openDoors(
  { http, webSocket }: Pick<Settings, "http" | "webSocket">,
  ports: RpcPorts,
  parts: DoorParts,
): Promise<Outcome<Doors, DoorRejectionCode>> {
  const backend = createRpcBackend(ports);
  const httpDoor = http === undefined ? undefined : await openHttp(http, backend, parts);
  if (httpDoor?.ok === false) return nameOption(httpDoor, "--rpc-http");
  const webSocketDoor = webSocket === undefined ? undefined : await openWebSocket(webSocket, backend, parts);
  if (webSocketDoor?.ok === false) {
    await httpDoor?.value.close();
    return nameOption(webSocketDoor, "--rpc-ws");
  }
  const opened = { http: httpDoor?.value, webSocket: webSocketDoor?.value };
  return ok({
    ...opened,
    close: async () => {
      await Promise.all([opened.http?.close(), opened.webSocket?.close()]);
    },
  });
}

function openHttp(
  settings: HttpSettings,
  backend: RpcBackend,
  { logger }: DoorParts,
): Promise<Outcome<Door, DoorRejectionCode>> {
  const { host, port, hostAllowlist, corsOrigins, maxConnections, maxBodyBytes, timeoutMs } = settings;
  const modules = servedBy(METHODS, settings.groups);
  const dispatcher = createDispatcher({ methods: METHODS, modules }, { backend, logger });
  const health = {
    peerCount: () => backend.network.peerToPeer?.peerCount,
    syncStatus: () => backend.syncStatus(),
  };
  return openHttpDoor(
    {
      host,
      port,
      allowedHosts: hostAllowlist,
      corsOrigins,
      maxActiveConnections: maxConnections,
      maxBodyBytes,
      maxBatchSize: settings.maxBatchSize ?? 0,
      timeoutMs,
      isPretty: settings.isPrettyPrinted,
    },
    { dispatcher, health, logger },
  );
}

function openWebSocket(
  settings: WebSocketSettings,
  backend: RpcBackend,
  { clock, logger }: DoorParts,
): Promise<Outcome<Door, DoorRejectionCode>> {
  const { host, port, hostAllowlist, maxConnections, maxFrameBytes, timeoutMs } = settings;
  const subscriptions = createSubscriptionMethods({
    chain: backend.chain,
    pool: backend.pool,
    onSyncChanged: () => () => undefined,
    logger,
  });
  const methods = [...METHODS, ...subscriptions];
  const dispatcher = createDispatcher(
    { methods, modules: servedBy(METHODS, settings.groups) },
    { backend, logger },
  );
  return openWebSocketDoor(
    {
      host,
      port,
      allowedHosts: hostAllowlist,
      maxActiveConnections: maxConnections,
      maxFrameBytes,
      timeoutMs,
    },
    { dispatcher, clock, logger },
  );
}

/** The groups asked for that have methods: rpc_modules must not promise what nobody answers. */
function servedBy(methods: readonly RpcMethod[], groups: readonly ApiGroup[]): ReadonlySet<ApiGroup> {
  return new Set(groups.filter((group) => methods.some(({ namespace }) => namespace === group)));
}

/** Which option to change, for the operator. */
function nameOption(
  { rejection }: Rejected<DoorRejectionCode>,
  prefix: "--rpc-http" | "--rpc-ws",
): Outcome<never, DoorRejectionCode> {
  const cure =
    rejection.code === "addressInUse"
      ? `Choose another port with ${prefix}-port.`
      : `Choose another address with ${prefix}-host and ${prefix}-port.`;
  return rejected({ ...rejection, message: `${rejection.message}. ${cure}` });
}
