import { connect, type Socket } from "node:net";
import type { RpcClient } from "../../httpClient.ts";

/** The attacked node, the only validator of the development network. */
export interface AttackedNode {
  readonly port: number;
  readonly wsPort: number;
  readonly client: RpcClient;
}

/** What callers do to a node; an attack is a file of this folder, listed in run.ts. */
export interface CallerAttack {
  readonly name: string;
  /** Options of the node besides its ports. */
  readonly options?: readonly string[];
  /** Members of the genesis that differ from the development network's. */
  readonly genesis?: Readonly<Record<string, unknown>>;
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

/** A JSON-RPC request as it is sent over HTTP/1.1. */
export function httpRequest(method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
