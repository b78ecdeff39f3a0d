import type { Logger } from "../../observability/logger.ts";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import type { Pacer } from "../../primitives/pacer.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { RpcBackend } from "../ports.ts";

/** A GraphQL request as the HTTP server reads it. */
export interface GraphQlRequest {
  readonly query: string;
  /** Which operation of the query to run; undefined, and an empty name, for its only one. */
  readonly operationName: string | undefined;
  /** Values as JSON has them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether a mutation is refused; it is not unless given. */
  readonly isReadOnly?: boolean;
}

/** Who asks, and what is asked. The context of a JSON-RPC method on the same thread has all but the logger. */
export interface GraphQlContext extends Requester {
  readonly backend: RpcBackend;
  readonly logger: Logger;
  /** Called with about the bytes that the answer takes in memory, again and again while it is made. */
  readonly onInFlight?: ((bytes: number) => void) | undefined;
  /** Gives the thread to others between two steps, in the turns of the caller's host; in no turns if not given. */
  readonly pacer?: RestartedPacer | undefined;
}

/** A pacer whose slice begins anew after a wait for other threads. */
export interface RestartedPacer extends Pacer {
  /** Counts the slice, before the wait; absent where slices count for nobody. */
  end?(): void;
  restart(): void;
}

/** The answer: an HTTP status, and a body of formatted JSON, whose pieces are made as they are read. It can be read once. */
export interface GraphQlAnswer {
  readonly status: number;
  readonly body: Iterable<JsonPiece>;
  /** About the bytes that the body keeps in memory until it has been read; few if not given. */
  readonly heldBytes?: number;
}
