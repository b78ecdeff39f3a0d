import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { TlsFiles } from "../builders/tlsFiles.ts";

/** A message of a node: its name and what it says. */
export interface NodeMessage {
  readonly name: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * A server that speaks as the public one does (goerli/ethstats-server): it accepts a hello with its secret and closes the
 * connection on any other, answers each node-ping, and asks for old blocks when the test says so.
 */
export class EthstatsServer {
  readonly secret = "s3cret-of-the-test";
  readonly messages: NodeMessage[] = [];
  /** Texts that are no messages, such as heartbeats. */
  readonly texts: string[] = [];
  /** Opened connections. */
  connections = 0;
  /** Answers hellos unless false. */
  isWelcoming = true;
  socket: WebSocket | undefined;
  private readonly server: Server;
  private readonly sockets: WebSocketServer;
  private readonly waiting: (() => void)[] = [];

  constructor(tls?: TlsFiles) {
    this.server =
      tls === undefined ? createServer() : createTlsServer({ key: tls.key, cert: tls.certificate });
    this.sockets = new WebSocketServer({ server: this.server, path: "/api" });
    this.sockets.on("connection", (socket) => {
      this.socket = socket;
      this.connections++;
      socket.on("error", () => undefined);
      socket.on("message", (data: Buffer) => {
        this.take(socket, data.toString("utf8"));
        this.wake();
      });
      socket.on("close", () => this.wake());
      this.wake();
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return (this.server.address() as AddressInfo).port;
  }

  /** Says something to the node. */
  say(name: string, content?: unknown): void {
    this.socket?.send(JSON.stringify({ emit: content === undefined ? [name] : [name, content] }));
  }

  /** Resolves once `condition` holds, which is looked at after each message and connection. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  named(name: string): readonly NodeMessage["content"][] {
    return this.messages.filter((message) => message.name === name).map(({ content }) => content);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    this.sockets.close();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private take(socket: WebSocket, text: string): void {
    const value = JSON.parse(text) as string | { readonly emit: readonly [string, NodeMessage["content"]] };
    if (typeof value === "string") {
      this.texts.push(value);
      return;
    }
    const [name, content] = value.emit;
    this.messages.push({ name, content });
    if (name === "hello" && content["secret"] !== this.secret) socket.close();
    else if (name === "hello" && this.isWelcoming) this.say("ready");
    if (name === "node-ping")
      this.say("node-pong", { clientTime: content["clientTime"], serverTime: Date.now() });
  }

  private wake(): void {
    for (const waiter of this.waiting.splice(0)) waiter();
  }
}
