import { silentLogger } from "../../../src/observability/logger.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { answerGraphQl } from "../../../src/rpc/graphql/answerGraphQl.ts";
import type { GraphQlContext } from "../../../src/rpc/graphql/request.ts";
import type { RpcBackend } from "../../../src/rpc/ports.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChainSpec, anRpcBackend } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";

export interface ShownError {
  readonly message: string;
  readonly locations?: readonly object[];
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface Shown {
  readonly status: number;
  readonly text: string;
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly ShownError[];
}

/** What a test may say about a request besides its query. */
export interface Asked {
  readonly operationName?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly context?: Partial<GraphQlContext>;
}

export type AskGraphQl = (query: string, asked?: Asked) => Promise<Shown>;

/** Asks a node by GraphQL, without the HTTP server. */
export function graphQlOf(backend: RpcBackend): AskGraphQl {
  return async (query, { operationName, variables = {}, signal, context } = {}) => {
    const { status, body } = await answerGraphQl(
      { query, operationName, variables },
      { ...aCaller, backend, logger: silentLogger, ...context },
      signal ?? new AbortController().signal,
    );
    const text = joinPieces([...body]);
    return { ...(JSON.parse(text) as object), status, text };
  };
}

/** A node that has a genesis block and nothing else. */
export function aGraphQl(): AskGraphQl {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  return graphQlOf(anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1n, fork: "london" }) }));
}
