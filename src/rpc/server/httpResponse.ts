import type { ServerResponse } from "node:http";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";

/**
 * Responses of the HTTP server, with exactly the headers that Besu sends (json-rpc-errors.md#routes) and two differences:
 * Content-Length is given where Besu sends chunks, and Node's keep-alive hint is present, because Ibex closes idle
 * connections and clients must know when.
 */
export function respondJson(
  response: ServerResponse,
  status: number,
  json: JsonPiece,
  type = "application/json",
): void {
  response.writeHead(status, {
    "Content-Type": type,
    Vary: "origin",
    "Content-Length": Buffer.byteLength(json),
  });
  response.end(json);
}

/** A body without a content type, as Besu sends it for health, parse errors and plain texts. */
export function respondUntyped(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { Vary: "origin", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

/** A refusal before routing, which does not vary with the origin. */
export function respondRefusal(response: ServerResponse, status: number, body: string, type?: string): void {
  response.writeHead(status, {
    ...(type !== undefined && { "Content-Type": type }),
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

export function respondNotFound(response: ServerResponse): void {
  const body = "<html><body><h1>Resource not found</h1></body></html>";
  response.writeHead(404, {
    Vary: "origin",
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

/** A known path requested with another method. */
export function respondNotAllowed(response: ServerResponse, allowed: string): void {
  response.writeHead(405, { Vary: "origin", Allow: allowed, "Content-Length": 0 });
  response.end();
}

/** The answer of /login without authentication; the reason is in the status line. */
export function respondNoAuthentication(response: ServerResponse): void {
  response.writeHead(400, "Authentication not enabled", { Vary: "origin", "Content-Length": 0 });
  response.end();
}
