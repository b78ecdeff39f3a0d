import type { Result } from "../../primitives/result.ts";
import { SERVER_ITSELF } from "../../rpc/core/serverItself.ts";
import { createDispatcher } from "../../rpc/dispatcher.ts";
import { openHttpServer } from "../../rpc/server/http.ts";
import type { OpenServer, ServerErrorCode } from "../../rpc/server/server.ts";
import { THREAD_SERVERS, type ThreadServerName } from "../../rpc/server/serverTable.ts";
import { shareHosts } from "../../rpc/server/sharedHosts.ts";
import { openWebSocketServer } from "../../rpc/server/websocket.ts";
import { offered } from "../access/callerAccess.ts";
import type { ServedThread } from "./servedThread.ts";
import type { ServerSettings } from "./serverSettings.ts";

/** The servers of one thread. */
interface ThreadServers {
  /** Why one of them is not open. */
  readonly failure: string | undefined;
  /** Replaces what callers may do. */
  changeAccess(access: ServerSettings): void;
  /** Closes the servers, which answer what has arrived completely, and then what reads it. */
  close(): Promise<void>;
}

/** Opens the servers of which the thread has a socket that listens already. */
export async function openThreadServers(thread: ServedThread): Promise<ThreadServers> {
  const opened: Result<OpenServer, ServerErrorCode>[] = [];
  for (const name of THREAD_SERVERS)
    if (thread.sockets[name] !== undefined) opened.push(await OPEN_SERVER[name](thread));
  const open = opened.flatMap((server) => (server.ok ? [server.value] : []));
  return {
    failure: opened.flatMap((server) => (server.ok ? [] : [server.error.message]))[0],
    changeAccess(replaced) {
      thread.access = replaced;
    },
    async close() {
      const { unread, reader } = thread.parts;
      unread.stop();
      await Promise.all(open.map((server) => server.close()));
      reader.close();
    },
  };
}

type Open = (thread: ServedThread) => Promise<Result<OpenServer, ServerErrorCode>>;

/** Opens each server on a thread. What is off by default is loaded where it is on. */
const OPEN_SERVER: Readonly<Record<ThreadServerName, Open>> = {
  async http(thread) {
    const { parts } = thread;
    const { configured, ...server } = await thread.guard("http", ({ http }) => http);
    return openHttpServer(configured, {
      ...parts,
      ...server,
      dispatcher: createDispatcher(offered(parts.methods, server.current), parts),
      readiness: (query) => parts.serving.readiness(query.toString(), SERVER_ITSELF),
    });
  },
  async webSocket(thread) {
    const { parts, data } = thread;
    const { configured, ...server } = await thread.guard("webSocket", ({ webSocket }) => webSocket);
    return openWebSocketServer(configured, {
      ...parts,
      ...server,
      sharedPages: shareHosts(data.held.pages, data.index),
      dispatcher: createDispatcher(offered(thread.methodsWithSubscriptions(), server.current), parts),
    });
  },
  async ipc(thread) {
    const { parts } = thread;
    const { configured, current, ...server } = thread.serve("ipc", ({ ipc }) => ipc);
    const { openIpcServer } = await import("../../rpc/server/ipc.ts");
    return openIpcServer(configured, {
      ...parts,
      ...server,
      dispatcher: createDispatcher(offered(thread.methodsWithSubscriptions(), current), parts),
    });
  },
  async graphQl(thread) {
    const { parts } = thread;
    const { configured, ...server } = await thread.guard("graphQl", ({ graphQl }) => graphQl);
    const { openGraphQlServer } = await import("../../rpc/server/graphQl.ts");
    const { answerGraphQlCallers } = await import("../../rpc/graphql/answerGraphQl.ts");
    return openGraphQlServer(configured, { ...parts, ...server, answer: answerGraphQlCallers(parts) });
  },
  /** It is on a thread that has no other server. */
  async explorer(thread) {
    const { parts } = thread;
    const { configured, ...server } = thread.serve("explorer", ({ explorer }) => explorer);
    const { openExplorerServer } = await import("../../explorer/server.ts");
    return openExplorerServer(configured, {
      ...parts,
      ...server,
      methods: thread.methodsWithSubscriptions(),
      give: (gift) => parts.serving.gift(gift, SERVER_ITSELF),
    });
  },
};
