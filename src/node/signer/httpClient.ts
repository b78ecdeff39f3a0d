import * as http from "node:http";
import * as https from "node:https";
import { readNamedFile } from "../../primitives/boundedFile.ts";
import { certificatesIn } from "../../primitives/certificates.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { CONNECTIONS_LIMIT, IDLE_MS } from "./limits.ts";

interface HttpRequest {
  readonly method: "GET" | "POST";
  /** Path below the URL of the signer. */
  readonly path: string;
  readonly body?: string;
  /** Time until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

export type HttpErrorCode = "unreachable" | "timeout" | "tooLarge";

/** Requests to one server, over connections that are kept open. Redirects are not followed. */
export class HttpClient {
  private readonly url: URL;
  private readonly isSecure: boolean;
  private readonly agent: http.Agent;

  /** `caFile`: certificates (PEM) that are trusted instead of the system's. Throws when they cannot be read. */
  constructor({ url, caFile }: { readonly url: URL; readonly caFile?: string }) {
    const pool = { keepAlive: true, maxSockets: CONNECTIONS_LIMIT, timeout: IDLE_MS };
    this.url = url;
    this.isSecure = url.protocol === "https:";
    this.agent = this.isSecure
      ? new https.Agent({ ...pool, ...(caFile !== undefined && { ca: readCertificates(caFile) }) })
      : new http.Agent(pool);
  }

  async request(request: HttpRequest): Promise<Result<HttpAnswer, HttpErrorCode>> {
    const { agent, isSecure } = this;
    const deadline = AbortSignal.timeout(request.timeoutMs);
    const ended = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
    const prefix = this.url.pathname.replace(/\/+$/, "");
    const order = { ...request, url: new URL(`${prefix}${request.path}`, this.url), agent, isSecure, ended };
    try {
      let sent = await send(order);
      // The server closed the connection while it was idle: that says nothing about the server.
      if (sent === "stale") sent = await send({ ...order, agent: undefined });
      if (sent === "stale") return fail("local", "unreachable", "it closes the connection without an answer");
      return sent === "tooLarge"
        ? fail("local", "tooLarge", `its answer is longer than ${request.maxBytes} bytes`)
        : ok(sent);
    } catch (error) {
      if (deadline.aborted)
        return fail("local", "timeout", `it does not answer within ${request.timeoutMs} ms`);
      return fail("local", "unreachable", describe(error));
    }
  }

  close(): void {
    this.agent.destroy();
  }
}

function readCertificates(path: string): string[] {
  const found = certificatesIn(readNamedFile(path, MOST_CERTIFICATE_BYTES));
  if (found.length === 0) throw new Error("there is no certificate (PEM) in the file");
  return found;
}

const MOST_CERTIFICATE_BYTES = 1024 * 1024;

interface Order extends HttpRequest {
  readonly url: URL;
  readonly isSecure: boolean;
  readonly agent: http.Agent | undefined;
  readonly ended: AbortSignal;
}

function send({
  url,
  isSecure,
  agent,
  ended,
  method,
  body,
  maxBytes,
}: Order): Promise<HttpAnswer | "tooLarge" | "stale"> {
  const headers =
    body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const options = { method, headers, signal: ended, ...(agent !== undefined && { agent }) };
    const request = (isSecure ? https : http).request(url, options, (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on("data", (piece: Buffer) => {
        bytes += piece.length;
        if (bytes <= maxBytes) pieces.push(piece);
        else {
          resolve("tooLarge");
          request.destroy();
        }
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString("utf8") }),
      );
      response.on("error", reject);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && error.code === "ECONNRESET" && !ended.aborted) resolve("stale");
      else reject(error);
    });
    request.end(body);
  });
}

/** An error of several addresses has no message of its own. */
function describe(error: unknown): string {
  const message = messageOf(error);
  if (message !== "") return message;
  return error instanceof AggregateError ? error.errors.map(messageOf).join(", ") : "it cannot be reached";
}
