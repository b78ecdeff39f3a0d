import type { Server } from "node:net";
import { listenOn } from "./server.ts";
import type { SharedHosts } from "./sharedHosts.ts";

/** A socket that listens already. Where several threads listen on it, each does so on a descriptor of its own. */
export interface ListeningSocket {
  readonly descriptor: number;
  /** Another descriptor of it; undefined while there is none. Absent where no other thread listens. */
  another?(): Promise<number | undefined>;
}

/**
 * Spreads the connections of a port over the threads that listen on it. The system wakes all of them for a connection, and the
 * first one takes all that wait: of a burst, every one. So a thread that has more than others stops listening for moments, in which
 * they take the rest.
 *
 *     connection ──> far more than the thread with fewest? ──> handle closed ──(others caught up, or 50 ms)──> listens on another
 *
 * Nothing but closing the handle stops Node.js from accepting, and its descriptor with it, so each pause needs another one, which
 * the thread has at hand before. Without one it goes on.
 */
export interface AcceptBalance {
  /** Ends a pause, so that the server can be closed as one that listens, and begins no other. */
  stop(): void;
}

/** What a thread may have more than the one with fewest: so many, and an eighth. */
const SLACK = 4;
const SLACK_SHARE = 1 / 8;
const CHECK_MS = 2;
const LONGEST_PAUSE_MS = 50;
/** Wait before another descriptor is asked for when there was none. */
const ASK_PAUSE_MS = 1000;

/** The balance of a server on a socket that it shares with other threads; undefined for any other server. */
export function openBalance(
  server: Server,
  {
    socket,
    shared,
  }: { readonly socket?: ListeningSocket | undefined; readonly shared?: SharedHosts | undefined },
  connections: { readonly count: number },
): AcceptBalance | undefined {
  const another = socket?.another?.bind(socket);
  if (another === undefined || shared === undefined) return undefined;
  return balanceAccepts(server, { another }, { shared, count: () => connections.count });
}

/** `count` is that of the connections of this thread. */
function balanceAccepts(
  server: Server,
  socket: Required<Pick<ListeningSocket, "another">>,
  { shared, count }: { readonly shared: Pick<SharedHosts, "leastOfOthers">; count(): number },
): AcceptBalance {
  let spare: number | undefined;
  let pausedUntilMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function isAhead(): boolean {
    const least = shared.leastOfOthers;
    return count() > least + SLACK + least * SLACK_SHARE;
  }

  async function prepare(): Promise<void> {
    spare = await socket.another().catch(() => undefined);
    if (spare === undefined && !isStopped) setTimeout(() => void prepare(), ASK_PAUSE_MS).unref();
  }

  function pause(): void {
    takeHandle(server)?.close();
    pausedUntilMs = performance.now() + LONGEST_PAUSE_MS;
    timer = setTimeout(check, CHECK_MS);
  }

  function check(): void {
    if (isAhead() && performance.now() < pausedUntilMs) timer = setTimeout(check, CHECK_MS);
    else resume();
  }

  function resume(): void {
    clearTimeout(timer);
    timer = undefined;
    if (spare !== undefined) void listenOn(server, spare);
    spare = undefined;
    if (!isStopped) void prepare();
  }

  server.on("connection", () => {
    if (!isStopped && timer === undefined && spare !== undefined && isAhead()) pause();
  });
  void prepare();
  return {
    stop() {
      isStopped = true;
      if (timer !== undefined) resume();
    },
  };
}

interface Handle {
  close(): void;
}

/** Takes the listening handle from the server, which keeps its connections. `close` would end idle ones, and wait for others. */
function takeHandle(server: Server): Handle | undefined {
  const owner = server as unknown as { _handle: Handle | null };
  const handle = owner._handle ?? undefined;
  owner._handle = null;
  return handle;
}
