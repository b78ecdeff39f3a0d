import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import WebSocket from "ws";
import { HANG_MS } from "../../hang.ts";
import { problemsOf } from "../../rpc/responseProblems.ts";
import type { NodeProcess } from "./nodeProcess.ts";

/** Sends requests to both RPC servers of a node, several at a time, and fails on an invalid answer. */
export interface RequestSender {
  /** Sends one request by each way: connections that break off, HTTP requests, WebSocket messages. */
  sendRound(requests: readonly Buffer[]): Promise<void>;
  /** Reopens the WebSocket connections, which ends their subscriptions. */
  renewConnections(): Promise<void>;
  close(): void;
}

const CONNECTIONS = 4;

/** `cut` gives the share of a request that is sent before its connection breaks off, from 0 to 1. */
export async function openRequestSender(node: NodeProcess, cut: () => number): Promise<RequestSender> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let sockets = await openSockets(node);
  const ways: readonly ((body: Buffer) => Promise<void>)[] = [
    ...[node.httpPort, node.wsPort].map((port) => (body: Buffer) => breakOff(port, body, cut())),
    ...Array.from({ length: 6 * CONNECTIONS }, () => (body: Buffer) => expectHttpAnswer(node, agent, body)),
    ...Array.from({ length: 6 * CONNECTIONS }, (_, index) => (body: Buffer) => {
      const socket = sockets[index % CONNECTIONS];
      if (socket === undefined) throw new Error("there is no such connection");
      return expectMessageTaken(socket, body, `our own ${index}`);
    }),
  ];
  return {
    async sendRound(requests) {
      const sent = requests.map((body, index) => ways[index % ways.length]?.(body));
      await withinLimit(Promise.all(sent), () => requests.map(shown).join("\n"));
    },
    async renewConnections() {
      const closed = sockets.map((socket) => once(socket, "close"));
      for (const socket of sockets) socket.close();
      await Promise.all(closed);
      sockets = await openSockets(node);
    },
    close() {
      agent.destroy();
      for (const socket of sockets) socket.terminate();
    },
  };
}

/** The start of a request, for the message of a failing test. */
function shown(body: Buffer): string {
  return body.toString("latin1").slice(0, 500);
}

async function expectHttpAnswer(node: NodeProcess, agent: Agent, body: Buffer): Promise<void> {
  const { status, text } = await post(node, agent, body);
  const isValid = text === "" ? status === 200 : problemsOf(JSON.parse(text)).length === 0;
  if (!isValid || (status !== 200 && status !== 400))
    throw new Error(`HTTP answered ${status} ${text.slice(0, 500)} to ${shown(body)}`);
}

function post(
  node: NodeProcess,
  agent: Agent,
  body: Buffer,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-length": body.length };
    const outgoing = request(node.httpUrl, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/**
 * Sends the message and then a valid call, and waits for the answer to the call: not every message gets an answer, and
 * answers may come in any order. All messages received meanwhile must be valid.
 */
function expectMessageTaken(socket: WebSocket, message: Buffer, id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (problem?: string): void => {
      socket.off("message", onMessage);
      socket.off("close", onClose);
      if (problem === undefined) resolve();
      else reject(new Error(`${problem} around the WebSocket message ${shown(message)}`));
    };
    const onClose = (code: number): void => end(`the connection was closed with ${code}`);
    const onMessage = (data: Buffer): void => {
      const text = data.toString("utf8");
      const answer = JSON.parse(text) as { id?: unknown; method?: string; result?: unknown };
      if (answer.method === "eth_subscription") return;
      if (problemsOf(answer).length > 0) end(`the answer was ${text.slice(0, 500)}`);
      else if (answer.id === id) end(answer.result === "0x539" ? undefined : `the chain id was ${text}`);
    };
    socket.on("message", onMessage);
    socket.on("close", onClose);
    socket.send(message, { binary: !isUtf8(message) });
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "eth_chainId" }));
  });
}

/** Sends a part of an HTTP request, ends the connection, and waits until the node has closed it too. */
async function breakOff(port: number, body: Buffer, share: number): Promise<void> {
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length + 1}\r\n\r\n`;
  const whole = Buffer.concat([Buffer.from(head), body]);
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  socket.end(whole.subarray(0, Math.round(whole.length * share)));
  await once(socket, "close");
}

async function openSockets({ wsUrl }: NodeProcess): Promise<readonly WebSocket[]> {
  const sockets = Array.from({ length: CONNECTIONS }, () => new WebSocket(wsUrl));
  await Promise.all(sockets.map((socket) => once(socket, "open")));
  return sockets;
}

/** Rejects when the promise does not settle, with what was asked. */
function withinLimit(promise: Promise<unknown>, what: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer to one of\n${what()}`)), HANG_MS);
    promise.then(() => resolve(), reject).finally(() => clearTimeout(timer));
  });
}
