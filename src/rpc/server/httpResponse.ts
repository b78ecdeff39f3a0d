import type { ServerResponse } from "node:http";

/**
 * Answers of the HTTP door, with exactly the headers that the incumbent sends (json-rpc-errors.md#routes) and
 * two differences: the length is always given, where it sends chunks, and Node's keep-alive hint is there,
 * because unlike the incumbent we close idle connections and clients must know when.
 */
export function respondJson(response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, {
    "Content-Type": "application/json",
    Vary: "origin",
    "Content-Length": Buffer.byteLength(json),
  });
  response.end(json);
}

/** A body without a content type: the incumbent's health, parse errors and plain texts. */
export function respondUntyped(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { Vary: "origin", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

/** What comes before routing: a refusal does not vary with the origin. */
export function respondRefusal(response: ServerResponse, status: number, body: string, type?: string): void {
  response.writeHead(status, {
    ...(type !== undefined && { "Content-Type": type }),
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

/** What a name that is not on the host allow-list is told. */
export const HOST_REFUSED = '{"message":"Host not authorized."}';

export function respondNotFound(response: ServerResponse): void {
  const body = "<html><body><h1>Resource not found</h1></body></html>";
  response.writeHead(404, {
    Vary: "origin",
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

/** A known path asked with another method. */
export function respondNotAllowed(response: ServerResponse, allowed: string): void {
  response.writeHead(405, { Vary: "origin", Allow: allowed, "Content-Length": 0 });
  response.end();
}

/** The answer of /login when there is nothing to log in to; its reason stands in the status line. */
export function respondNoAuthentication(response: ServerResponse): void {
  response.writeHead(400, "Authentication not enabled", { Vary: "origin", "Content-Length": 0 });
  response.end();
}
