import { onTestFinished } from "vitest";
import { startDescriptorCopier } from "../../../src/callers/threads/descriptorCopier.ts";
import { createHeldMemory } from "../../../src/callers/threads/heldMemory.ts";
import { ServedThread } from "../../../src/callers/threads/servedThread.ts";
import type { ServerSettings } from "../../../src/callers/threads/serverSettings.ts";
import { openSharedListener } from "../../../src/callers/threads/sharedListener.ts";
import { openThreadServers } from "../../../src/callers/threads/threadServers.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { type Clock, systemClock } from "../../../src/primitives/clock.ts";
import { createRpcBackend } from "../../../src/rpc/backend.ts";
import { createMainCore } from "../../../src/rpc/core/mainCore.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { CallerTime } from "../../../src/rpc/server/callerTime.ts";
import { MessageReader } from "../../../src/rpc/server/messageReader.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { allOfHosts } from "../../../src/rpc/server/sharedHosts.ts";
import { type SharedTotals, shareTotals } from "../../../src/rpc/server/sharedTotals.ts";
import { createHandshakeTime } from "../../../src/rpc/server/tls/handshakeTime.ts";
import { type AllParts, poolOf } from "../../builders/anRpcBackend.ts";

type ServerOfTest = "http" | "webSocket" | "graphQl";

export interface ThreadServersOfTest {
  readonly http: RpcServer | undefined;
  readonly webSocket: RpcServer | undefined;
  readonly graphQl: RpcServer | undefined;
  readonly totals: SharedTotals;
  /** Times that a spare descriptor was asked for. */
  descriptorsAsked(): number;
  close(): Promise<void>;
}

/**
 * The servers of a thread for callers, opened in this one as such a thread opens them, before a backend that answers all methods
 * here. `clock` is that of large messages and of handshakes.
 */
export async function threadServersOf(
  { http, webSocket, graphQl }: Pick<ServerSettings, ServerOfTest>,
  parts: AllParts,
  clock: Clock = systemClock,
): Promise<ThreadServersOfTest> {
  const core = createMainCore(parts);
  const backend = createRpcBackend(parts, core);
  const held = createHeldMemory(1);
  const totals = shareTotals(held.totals);
  let descriptorsAsked = 0;
  const descriptor = async (): Promise<undefined> => void descriptorsAsked++;
  const servers = { http, webSocket, graphQl, explorer: undefined };
  const copier = startDescriptorCopier();
  const socketOf = async (server: ServerSettings[ServerOfTest]) => {
    if (server === undefined) return undefined;
    const listener = await openSharedListener(
      { host: server.host, port: server.port },
      { threads: 1, spares: 0 },
      copier,
    );
    onTestFinished(() => listener.close());
    return { port: listener.address.port, descriptor: await listener.descriptor(0) };
  };
  const sockets = {
    http: await socketOf(http),
    webSocket: await socketOf(webSocket),
    graphQl: await socketOf(graphQl),
  };
  copier.close();
  const thread = new ServedThread(
    { servers, held, index: 0, issuedKeys: {}, subscriptions: new SharedArrayBuffer(4) },
    {
      http: sockets.http?.descriptor,
      webSocket: sockets.webSocket?.descriptor,
      graphQl: sockets.graphQl?.descriptor,
      explorer: undefined,
    },
    {
      methods: METHODS,
      backend,
      view: backend.chain,
      serving: { ...core.serving, descriptor },
      reader: new MessageReader(clock),
      callerTime: new CallerTime(),
      handshakeTime: createHandshakeTime(clock),
      metrics: undefined,
      feed: { pool: poolOf([]), onSyncChanged: () => () => undefined, onLost: () => undefined },
      totals,
      logger: silentLogger,
    },
  );
  const opened = await openThreadServers(thread);
  if (opened.failure !== undefined) throw new Error(opened.failure);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= opened.close());
  onTestFinished(close);
  const serverOf = (name: ServerOfTest): RpcServer | undefined => {
    const { [name]: socket } = sockets;
    const { [name]: memory } = held;
    return (
      socket && {
        host: "127.0.0.1",
        port: socket.port,
        get connectionCount() {
          return allOfHosts(memory);
        },
        close,
      }
    );
  };
  return {
    http: serverOf("http"),
    webSocket: serverOf("webSocket"),
    graphQl: serverOf("graphQl"),
    totals,
    descriptorsAsked: () => descriptorsAsked,
    close,
  };
}
