import { connect, type Socket } from "node:net";
import type { RpcClient } from "../../httpClient.ts";
import { pause } from "../../pause.ts";
import type { HonestCalls } from "./honestThread.ts";
import type { Tally } from "./tally.ts";

/** The attacked node: the only validator of the development network, or one of several. */
export interface AttackedNode {
  readonly port: number;
  readonly wsPort: number;
  readonly client: RpcClient;
  /** Counts what the attack got: refusals by their words, and what else is worth telling. */
  readonly tally: Tally;
}

/** What callers do to a node; an attack is a file of this folder, listed in list.ts. */
export interface CallerAttack {
  readonly name: string;
  /** Options of the node besides its ports. */
  readonly options?: readonly string[];
  /** Members of the genesis that differ from the development network's; those of `config` are added to its own. */
  readonly genesis?: Readonly<Record<string, unknown>>;
  /** What an honest caller asks for besides the usual small calls; timed separately. */
  readonly honestCalls?: HonestCalls;
  /** What must be on the chain before; not measured. Returns the attack, which runs until `isOver`. */
  prepare(node: AttackedNode): Promise<(isOver: () => boolean) => Promise<void>>;
}

/** A connection from another address of this machine, of which nothing is read unless the attack listens. */
export function connectFrom(localAddress: string, port: number): Socket {
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  // The node may cut it.
  socket.on("error", () => undefined);
  return socket;
}

/** A JSON-RPC request, or a batch of them, as it is sent over HTTP/1.1. */
export function httpRequest(method: string, params: readonly unknown[]): string {
  return httpPost(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
}

export function httpPost(body: string): string {
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Asks again as soon as the answer begins, on one connection, which is opened again when it is cut. */
export async function keepAsking(
  { port, tally }: Pick<AttackedNode, "port" | "tally">,
  from: string,
  request: () => string,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const socket = connectFrom(from, port);
    socket.setEncoding("latin1").on("data", (text: string) => {
      noteRefusals(tally, text);
      if (text.includes("HTTP/1.1")) socket.write(request());
    });
    socket.write(request());
    while (!isOver() && !socket.destroyed) await pause(50);
    socket.destroy();
    if (!isOver()) tally.note("connections cut");
  }
}

/** Counts the errors in a part of an answer. */
export function noteRefusals(tally: Tally, text: string): void {
  for (const [, message = ""] of text.matchAll(/"code":-?\d+,"message":"([^"]*)"/g)) tally.note(message);
}

export async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await pause(50);
}
