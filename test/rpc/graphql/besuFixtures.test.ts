import { readdirSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { nextBaseFee } from "../../../src/execution/baseFee.ts";
import type { SimulationJob } from "../../../src/execution/simulation/callRequest.ts";
import { runSimulation } from "../../../src/execution/simulation/runSimulation.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { ok } from "../../../src/primitives/result.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { anRpcBackend, poolOf, RPC_SETTINGS } from "../../builders/anRpcBackend.ts";
import { readForeignChain } from "../../conformance/chains/foreignReader.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";
import { type AskGraphQl, graphQlOf } from "./aGraphQl.ts";

/** Besu's own fixtures for GraphQL, on the chain that they were made for. Their pool takes whatever can be decoded. */

interface Fixture {
  readonly request: string;
  /** JSON text. */
  readonly variables?: string;
  readonly response: unknown;
  readonly statusCode: number;
}

/** Mocks of Besu's test, which have nothing to do with the chain. */
const MOCKED = new Set(["eth_gasPrice.json", "eth_syncing.json", "graphql_pending.json"]);

describeWithVectors("Besu's fixtures for GraphQL", () => {
  const names = readdirSync(vectorPath("besu-jsonrpc", "graphql")).filter((name) => !MOCKED.has(name));
  let ask: AskGraphQl;

  beforeAll(async () => {
    const { chain, spec } = await readForeignChain("hive");
    const backend = anRpcBackend({
      chain,
      spec,
      pool: poolOf([]),
      settings: RPC_SETTINGS,
      nextBaseFeePerGas: () => nextBaseFee(spec, chain.head.header, chain.head.header.timestamp + 1n),
      submit: async (raw) => {
        const decoded = decodeTransaction(raw);
        return decoded.ok ? ok(decoded.value.hash) : decoded;
      },
      simulator: {
        async run(job: SimulationJob) {
          const { header } = expectDefined(chain.headerByNumber(job.blockNumber), "the header");
          const state = expectDefined(chain.stateAt(job.blockNumber), "the state");
          const ancestorHash = (number: bigint) => chain.headerByNumber(number)?.hash;
          return runSimulation(job, { spec, header, state, ancestorHash, gasCap: 0n });
        },
      },
    });
    ask = graphQlOf(backend);
  });

  it.each(names)("%s", async (name) => {
    const {
      request,
      variables = "{}",
      response,
      statusCode,
    } = readVectorJson<Fixture>("besu-jsonrpc", "graphql", name);
    const { status, text } = await ask(request, {
      variables: JSON.parse(variables) as Record<string, unknown>,
    });
    expect(JSON.parse(text)).toEqual(response);
    expect(status).toBe(statusCode);
  });
});
