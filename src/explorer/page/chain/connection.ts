/** JSON-RPC over one WebSocket to the node that served the page. */

interface CallError extends Error {
  /** Error code of JSON-RPC. */
  readonly code: number;
  /** Error data, such as the bytes that a contract reverted with. */
  readonly data: unknown;
}

export type ConnectionState = "connecting" | "open" | "lost";

interface WaitingCall {
  readonly text: string;
  /** Number of connections on which it may still be sent. */
  sendsLeft: number;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Pauses between two attempts: the first is short, for a node that restarts. */
const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;
/** Most connections on which one call is sent: the answer itself may break them. */
const MOST_SENDS = 2;

/**
 * A connection that is restored when it breaks. Calls wait until it is open, and are sent again once when it breaks: all of
 * them only read, so answering one twice does no harm.
 */
class Connection {
  state: ConnectionState = "connecting";
  private readonly url: string;
  private socket: WebSocket | undefined;
  private nextId = 1;
  private pauseMs = SHORTEST_PAUSE_MS;
  private readonly waiting = new Map<number, WaitingCall>();
  private readonly stateListeners = new Set<() => void>();
  private readonly headListeners = new Set<() => void>();

  constructor(url: string) {
    this.url = url;
    this.connect();
  }

  call<T>(method: string, params: readonly unknown[] = []): Promise<T> {
    return this.ask(method, params, MOST_SENDS);
  }

  private ask<T>(method: string, params: readonly unknown[], sendsLeft: number): Promise<T> {
    const id = this.nextId++;
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    return new Promise<unknown>((resolve, reject) => {
      const waiting = { text, sendsLeft, resolve, reject };
      this.waiting.set(id, waiting);
      if (this.state === "open" && this.socket !== undefined) send(waiting, this.socket);
    }) as Promise<T>;
  }

  onState(listener: () => void): () => void {
    this.stateListeners.add(listener);
    return () => this.stateListeners.delete(listener);
  }

  /** Calls `listener` for each new head, and when the connection is restored. */
  onHead(listener: () => void): () => void {
    this.headListeners.add(listener);
    return () => this.headListeners.delete(listener);
  }

  private connect(): void {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => this.opened(socket);
    socket.onmessage = ({ data }) => this.receive(String(data));
    socket.onclose = () => this.closed();
  }

  private opened(socket: WebSocket): void {
    this.change("open");
    for (const waiting of this.waiting.values()) send(waiting, socket);
    void this.subscribe(socket);
    this.tellHead();
  }

  /** Subscribes to heads on this connection. While that is refused, such as beyond the budget, the head is polled. */
  private async subscribe(socket: WebSocket): Promise<void> {
    while (socket.readyState === WebSocket.OPEN) {
      try {
        await this.ask("eth_subscribe", ["newHeads"], 1);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, LONGEST_PAUSE_MS));
        this.tellHead();
      }
    }
  }

  private closed(): void {
    this.change("lost");
    for (const [id, { sendsLeft, reject }] of this.waiting) {
      if (sendsLeft > 0) continue;
      this.waiting.delete(id);
      reject(new Error("The connection to the node broke twice before it had answered."));
    }
    setTimeout(() => this.connect(), this.pauseMs);
    this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
  }

  private receive(text: string): void {
    const message: unknown = JSON.parse(text);
    if (!isRecord(message)) return;
    // Only a message ends the longer pauses: a connection that a proxy opens and closes at once is tried ever less often.
    this.pauseMs = SHORTEST_PAUSE_MS;
    if (message["method"] === "eth_subscription") {
      this.tellHead();
      return;
    }
    const call = this.waiting.get(Number(message["id"]));
    if (call === undefined) return;
    this.waiting.delete(Number(message["id"]));
    if (isRecord(message["error"])) call.reject(errorOf(message["error"]));
    else call.resolve(message["result"]);
  }

  private change(state: ConnectionState): void {
    this.state = state;
    for (const listener of this.stateListeners) listener();
  }

  private tellHead(): void {
    for (const listener of this.headListeners) listener();
  }
}

function send(waiting: WaitingCall, socket: WebSocket): void {
  waiting.sendsLeft--;
  socket.send(waiting.text);
}

function errorOf({ code, message, data }: Record<string, unknown>): CallError {
  return Object.assign(new Error(String(message)), { code: Number(code), data });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

export const connection = new Connection(location.origin.replace(/^http/, "ws"));

export const call: Connection["call"] = (method, params) => connection.call(method, params);
