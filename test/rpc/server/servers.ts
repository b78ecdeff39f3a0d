import { once } from "node:events";
import { request } from "node:http";
import net from "node:net";
import { onTestFinished } from "vitest";
import WebSocket, { type ClientOptions } from "ws";
import { silentLogger } from "../../../src/observability/logger.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import type { Dispatcher } from "../../../src/rpc/dispatcher.ts";
import {
  type GraphQlParts,
  type GraphQlSettings,
  openGraphQlServer,
} from "../../../src/rpc/server/graphQl.ts";
import { type HttpParts, type HttpSettings, openHttpServer } from "../../../src/rpc/server/http.ts";
import { ARRIVAL_LIMIT_MS, type ArrivalTimes } from "../../../src/rpc/server/limits.ts";
import { MessageReader } from "../../../src/rpc/server/messageReader.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import {
  openWebSocketServer,
  type WebSocketParts,
  type WebSocketSettings,
} from "../../../src/rpc/server/websocket.ts";
import { HANG_MS, TEST_HANG_MS } from "../../hang.ts";

/** For clients that share a process with the server: both stand still where the machine is busy. */
export const PATIENT: ArrivalTimes = {
  headersMs: ARRIVAL_LIMIT_MS,
  bodyPauseMs: HANG_MS,
  checkMs: 1_000,
  handshakeMs: HANG_MS,
};

/** Besu's defaults, on any free port. */
export const HTTP_DEFAULTS: HttpSettings = {
  host: "127.0.0.1",
  port: 0,
  hostAllowlist: ["localhost", "127.0.0.1"],
  corsOrigins: [],
  trustedOrigins: [],
  maxConnections: 80,
  maxConnectionsPerAddress: 60,
  proxyAddresses: ["localhost"],
  maxBodyBytes: 5_242_880,
  maxBatchSize: 1024,
  timeoutMs: TEST_HANG_MS,
  isPrettyPrinted: false,
};

export const HTTP_PARTS: Omit<HttpParts, "dispatcher"> = {
  readiness: () => [],
  reader: new MessageReader(systemClock),
  logger: silentLogger,
  arrivalTimes: PATIENT,
};

/** An HTTP server on a free port, with Besu's defaults; closed when the test ends. */
export async function anHttpServer(
  dispatcher: Dispatcher,
  settings: Partial<HttpSettings> = {},
  parts: Partial<HttpParts> = {},
): Promise<RpcServer> {
  const opened = await openHttpServer(
    { ...HTTP_DEFAULTS, ...settings },
    { ...HTTP_PARTS, dispatcher, ...parts },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(() => opened.value.close());
  return opened.value;
}

/** Besu's defaults, on any free port. */
const GRAPHQL_DEFAULTS: GraphQlSettings = {
  host: "127.0.0.1",
  port: 0,
  hostAllowlist: ["localhost", "127.0.0.1"],
  corsOrigins: [],
  maxConnections: 80,
  maxConnectionsPerAddress: 60,
  proxyAddresses: ["localhost"],
  maxBodyBytes: 5_242_880,
  timeoutMs: TEST_HANG_MS,
};

/** A GraphQL server on a free port, with Besu's defaults; closed when the test ends. */
export async function aGraphQlServer(
  answer: GraphQlParts["answer"],
  settings: Partial<GraphQlSettings> = {},
  parts: Partial<GraphQlParts> = {},
): Promise<RpcServer> {
  const reader = new MessageReader(systemClock);
  const opened = await openGraphQlServer(
    { ...GRAPHQL_DEFAULTS, ...settings },
    { reader, logger: silentLogger, arrivalTimes: PATIENT, answer, ...parts },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(() => opened.value.close());
  return opened.value;
}

export const WEB_SOCKET_DEFAULTS: WebSocketSettings = {
  host: "127.0.0.1",
  port: 0,
  hostAllowlist: ["localhost", "127.0.0.1"],
  trustedOrigins: [],
  maxConnections: 80,
  maxConnectionsPerAddress: 60,
  proxyAddresses: ["localhost"],
  maxFrameBytes: 1_048_576,
  timeoutMs: TEST_HANG_MS,
};

export const WEB_SOCKET_PARTS: Omit<WebSocketParts, "dispatcher"> = {
  reader: new MessageReader(systemClock),
  clock: systemClock,
  logger: silentLogger,
  arrivalTimes: PATIENT,
};

export async function aWebSocketServer(
  dispatcher: Dispatcher,
  settings: Partial<WebSocketSettings> = {},
  parts: Partial<WebSocketParts> = {},
): Promise<RpcServer> {
  const opened = await openWebSocketServer(
    { ...WEB_SOCKET_DEFAULTS, ...settings },
    { ...WEB_SOCKET_PARTS, dispatcher, ...parts },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(() => opened.value.close());
  return opened.value;
}

export interface HttpAnswer {
  readonly status: number;
  readonly reason: string;
  /** All headers except those about keep-alive. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface HttpRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Source address of the client; any loopback address. */
  readonly localAddress?: string;
}

/** Sends one request on a connection of its own. */
export function ask(server: RpcServer, httpRequest: HttpRequest = {}): Promise<HttpAnswer> {
  const { method = "POST", path = "/", headers = {}, body = "", localAddress } = httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: server.port,
        method,
        path,
        agent: false,
        localAddress,
        headers: {
          ...headers,
          ...(headers["transfer-encoding"] === undefined && { "content-length": Buffer.byteLength(body) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const { connection: _, "keep-alive": __, ...others } = response.headers;
          resolve({
            status: response.statusCode ?? 0,
            reason: response.statusMessage ?? "",
            headers: others,
            body: Buffer.concat(chunks).toString("utf8"),
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Sends bytes on a plain connection and returns the response once the server closes it. */
export async function sendRaw(server: RpcServer, bytes: string): Promise<string> {
  const socket = net.connect(server.port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => undefined);
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
}

export interface WebSocketClient {
  readonly socket: WebSocket;
  send(message: unknown): void;
  /** The next message, as text. */
  next(): Promise<string>;
  nextJson<T>(): Promise<T>;
  /** Close code, once the connection has ended. */
  readonly closed: Promise<number>;
}

/** A connected client; sends strings unchanged and other values as JSON. */
export async function aWebSocketClient(
  server: RpcServer,
  { path = "/", ...options }: ClientOptions & { readonly path?: string } = {},
): Promise<WebSocketClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, options);
  const received: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  socket.on("message", (data: Buffer) => {
    const text = data.toString("utf8");
    const first = waiting.shift();
    if (first === undefined) received.push(text);
    else first(text);
  });
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await once(socket, "open");
  socket.on("error", () => undefined);
  onTestFinished(() => socket.terminate());
  const next = (): Promise<string> => {
    const text = received.shift();
    return text === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(text);
  };
  return {
    socket,
    send: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    next,
    nextJson: async <T>() => JSON.parse(await next()) as T,
    closed,
  };
}
