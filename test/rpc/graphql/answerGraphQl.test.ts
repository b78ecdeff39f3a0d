import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { answerGraphQl } from "../../../src/rpc/graphql/answerGraphQl.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChainSpec, anRpcBackend } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";

describe("answers to GraphQL requests", () => {
  it("gives the gas price in hexadecimal, formatted", async () => {
    const chain = chainOf([aStoredBlock({ number: 0 })]);
    const backend = anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1n, fork: "london" }) });
    const { status, body } = await answerGraphQl(
      { query: "{gasPrice}", operationName: undefined, variables: {} },
      { ...aCaller, backend, logger: silentLogger },
      new AbortController().signal,
    );
    expect(Buffer.concat([...body].map((piece) => Buffer.from(piece))).toString()).toBe(
      '{\n  "data" : {\n    "gasPrice" : "0x0"\n  }\n}',
    );
    expect(status).toBe(200);
  });

  it("refuses a mutation, and nothing else, where it may only read", async () => {
    const chain = chainOf([aStoredBlock({ number: 0 })]);
    const backend = anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1n, fork: "london" }) });
    const statusOf = async (query: string, operationName?: string) => {
      const request = { query, operationName, variables: {}, isReadOnly: true };
      const context = { ...aCaller, backend, logger: silentLogger };
      const { status, body } = await answerGraphQl(request, context, new AbortController().signal);
      return [status, joinPieces([...body]).includes("by POST")];
    };
    const mutation = 'mutation M{sendRawTransaction(data:"0x")}';
    expect(await statusOf(mutation)).toEqual([403, true]);
    expect(await statusOf(`query Q{chainID} ${mutation}`, "M")).toEqual([403, true]);
    expect(await statusOf(`query Q{chainID} ${mutation}`, "Q")).toEqual([200, false]);
  });
});
