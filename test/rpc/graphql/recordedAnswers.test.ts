import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { createNextBlockView } from "../../../src/chain/nextBlockView.ts";
import { nextBaseFee } from "../../../src/execution/baseFee.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { answerGraphQl } from "../../../src/rpc/graphql/answerGraphQl.ts";
import type { GraphQlRequest } from "../../../src/rpc/graphql/request.ts";
import type { RpcBackend } from "../../../src/rpc/ports.ts";
import { AdmissionQueue } from "../../../src/txpool/admissionQueue.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../../src/txpool/limits.ts";
import { TxPool } from "../../../src/txpool/txPool.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { anRpcBackend, RPC_SETTINGS } from "../../builders/anRpcBackend.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { recordedBlocks } from "../../builders/recordedChain.ts";
import { recoverSignersHere } from "../../builders/recoverSignersHere.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";

/**
 * Repeats the requests recorded from a Besu node, in their order, with the same chain imported and validated, the real executor
 * and the real pool. Status and text have to be equal. Those that the HTTP server answers by itself are not for this test.
 */

interface RecordedCase {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly body?: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly status: number;
  readonly responseText: string | null;
}

/** Answered before GraphQL sees a query: paths, methods, hosts, origins, types and bodies that are no request. */
const OF_THE_SERVER = /^(259|26[1,4-9]|277|279|28[0-2,68-9]|291|293|295|297|298|299|305|308)-/;

interface Difference {
  readonly why: string;
  readonly status: number;
  /** Our messages instead of Besu's; none for an answer without errors. */
  readonly messages: readonly string[];
  /** Our data; undefined for an answer without. */
  readonly data: unknown;
}

const VALUES = "Besu fails with a ClassCastException on prices and values of a call";
const INTEGERS = "Besu fails with a ClassCastException on a JSON number among the variables";
const UNKNOWN_ACCOUNT = "Besu forgets the address of an account that does not exist";
const NO_ADDRESS = "0x00000000000000000000000000000000000000aa";
const NO_LOGS_YET = "The transaction is pending: it has no logs yet";

/** Answered differently on purpose (differences-from-besu.md#graphql). */
const DIFFERENT: Readonly<Record<string, Difference>> = {
  "020-block-number-bad-hex.json": {
    why: "Besu fails with status 500 on what is no number, and shows the exception's text",
    status: 400,
    messages: [
      "Validation error (WrongType@[block]) : argument 'number' with value 'StringValue{value='0xzz'}' is not a valid 'Long' - Value is not any Long : 'StringValue{value='0xzz'}'",
    ],
    data: undefined,
  },
  "031-blocks-without-arguments.json": {
    why: "Besu fails with a NullPointerException",
    status: 400,
    messages: ["Exception while fetching data (/blocks) : Invalid params"],
    data: null,
  },
  "036-transactionAt-negative.json": {
    why: "Besu shows the name of a Java exception",
    status: 400,
    messages: [
      "Exception while fetching data (/block/transactionAt) : Argument 'index' must not be negative",
    ],
    data: { block: { transactionAt: null } },
  },
  "065-createdContract-at-blocks.json": {
    why: UNKNOWN_ACCOUNT,
    status: 200,
    messages: [],
    data: {
      transaction: { c2: { address: "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512", balance: "0x0" } },
    },
  },
  "079-logs-empty-filter.json": {
    why: "Besu fails with a NullPointerException where topics are left out",
    status: 200,
    messages: [],
    data: { logs: [] },
  },
  "097-account-unknown-all-fields.json": {
    why: UNKNOWN_ACCOUNT,
    status: 200,
    messages: [],
    data: {
      block: {
        account: {
          address: NO_ADDRESS,
          balance: "0x0",
          transactionCount: "0x0",
          code: "0x",
          storage: `0x${"00".repeat(32)}`,
        },
      },
    },
  },
  "118-call-with-value.json": {
    why: VALUES,
    status: 200,
    messages: [],
    data: { block: { call: { data: "0x", gasUsed: "0x79e0", status: "0x1" } } },
  },
  "120-call-with-gasPrice.json": {
    why: VALUES,
    status: 200,
    messages: [],
    data: { block: { call: { data: `0x${"00".repeat(31)}02`, gasUsed: "0x5b61", status: "0x1" } } },
  },
  "121-call-with-1559-fees.json": {
    why: VALUES,
    status: 200,
    messages: [],
    data: { block: { call: { data: `0x${"00".repeat(31)}02`, gasUsed: "0x5b61", status: "0x1" } } },
  },
  "136-estimateGas-value.json": {
    why: VALUES,
    status: 200,
    messages: [],
    data: { block: { estimateGas: "0x5208" } },
  },
  "171-subscription.json": {
    why: "Besu fails with status 500 and the text of an assertion",
    status: 400,
    messages: ["Schema is not configured for subscriptions."],
    data: undefined,
  },
  "173-pending-logs-of-transactions.json": {
    why: "Besu shows the name of a Java exception",
    status: 400,
    messages: Array.from(
      { length: 9 },
      (_, index) => `Exception while fetching data (/pending/transactions[${index}]/logs) : ${NO_LOGS_YET}`,
    ),
    data: { pending: { transactions: Array.from({ length: 9 }, () => ({ logs: null })) } },
  },
  "180-pending-call-value.json": {
    why: VALUES,
    status: 200,
    messages: [],
    data: { pending: { call: { status: "0x1" } } },
  },
  "194-variable-wrong-type.json": {
    why: "Besu fails with status 500 on what is no number, and shows the exception's text",
    status: 400,
    messages: ["Variable 'n' has an invalid value: Unable to parse variable value abc as an Long"],
    data: undefined,
  },
  "197-variable-object.json": {
    why: INTEGERS,
    status: 200,
    messages: [],
    data: { logs: ["0x0", "0x1", "0x0", "0x0", "0x0"].map((index) => ({ index })) },
  },
  "253-GET-with-variables.json": {
    why: INTEGERS,
    status: 200,
    messages: [],
    data: { block: { number: "0x2" } },
  },
  "145-send-typed-canonical-bytes.json": {
    why: "Besu takes a transaction with a type in an RLP string only, and libraries sign none",
    status: 200,
    messages: [],
    data: { sendRawTransaction: "0x91d427cac09db62c2d8ffd1b06fbaa7cabcc5d4ddf5272eb2d432703a00ce8e0" },
  },
  "146-send-typed-in-an-RLP-string.json": {
    why: "it is in the pool by the request before",
    status: 400,
    messages: ["Exception while fetching data (/sendRawTransaction) : Internal error"],
    data: null,
  },
  "148-send-2930-canonical.json": {
    why: "it is in the pool by the request before, in an RLP string",
    status: 400,
    messages: ["Exception while fetching data (/sendRawTransaction) : Internal error"],
    data: null,
  },
};

/** Lists in the order of a hash table of Java: the same members in any order. */
const UNSORTED = new Set(["172-pending.json"]);

describeWithVectors("GraphQL answers recorded from Besu", () => {
  const names = readdirSync(vectorPath("besu-graphql", "cases"))
    .sort()
    .filter((name) => !OF_THE_SERVER.test(name));
  const ours = new Map<string, { readonly status: number; readonly text: string }>();

  beforeAll(async () => {
    const backend = await openNode();
    for (const name of names) {
      const { status, body } = await answerGraphQl(
        requestOf(readCase(name)),
        { ...aCaller, backend, logger: silentLogger },
        new AbortController().signal,
      );
      ours.set(name, { status, text: joinPieces([...body]) });
    }
  });

  it.each(names)("%s", (name) => {
    const { status, responseText } = readCase(name);
    const answer = expectDefined(ours.get(name), "our answer");
    const difference = DIFFERENT[name];
    if (difference !== undefined) {
      const { errors = [], data } = JSON.parse(answer.text) as Answer;
      expect(errors.map(({ message }) => message)).toEqual(difference.messages);
      if (difference.data === undefined) expect(data).toBeUndefined();
      else expect({ data }).toMatchObject({ data: difference.data });
      expect(answer.status).toBe(difference.status);
    } else if (UNSORTED.has(name)) {
      expect(sortedTransactions(answer.text)).toEqual(
        sortedTransactions(expectDefined(responseText ?? undefined, "the text")),
      );
    } else {
      expect(answer).toEqual({ status, text: responseText });
    }
  });
});

interface Answer {
  readonly errors?: readonly { readonly message: string }[];
  readonly data?: unknown;
}

function sortedTransactions(text: string): unknown {
  const { data } = JSON.parse(text) as { data: { pending: { transactions: { hash: string }[] } } };
  data.pending.transactions.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return data;
}

function readCase(name: string): RecordedCase {
  return readVectorJson<RecordedCase>("besu-graphql", "cases", name);
}

/** The request as the HTTP server hands it over. */
function requestOf({ request }: RecordedCase): GraphQlRequest {
  const { method, path, body = "", headers } = request;
  if (method === "GET") {
    const { searchParams } = new URL(path, "http://localhost");
    const variables = searchParams.get("variables");
    return {
      query: searchParams.get("query") ?? "",
      operationName: searchParams.get("operationName") ?? undefined,
      variables: variables === null ? {} : (JSON.parse(variables) as Record<string, unknown>),
    };
  }
  if (!/^application\/json/i.test(headers["Content-Type"] ?? ""))
    return { query: body.trim(), operationName: undefined, variables: {} };
  const members = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return {
    query: String(members["query"] ?? ""),
    operationName: (members["operationName"] ?? undefined) as string | undefined,
    variables: (members["variables"] ?? {}) as Readonly<Record<string, unknown>>,
  };
}

async function openNode(): Promise<RpcBackend> {
  const node = await aChain({
    genesis: readFileSync(vectorPath("besu-graphql", "genesis.json"), "utf8"),
    minGasPriceWei: 0n,
  });
  for (const { header, transactions, ommers } of recordedBlocks(["besu-graphql"])) {
    if (header.number === 0n) continue;
    const imported = await node.chain.importBlock({ header, transactions, ommers });
    if (!imported.ok) throw new Error(imported.error.message);
  }
  return backendOf(node);
}

function backendOf({ chain, spec, world, database }: TestChain): RpcBackend {
  const pool = new TxPool(
    { ...DEFAULT_TX_POOL_LIMITS, blockFloors: { minGasPriceWei: 0n, minPriorityFeeWei: 0n } },
    { chain: createNextBlockView(spec, chain, world.head, systemClock), clock: systemClock },
  );
  const queue = new AdmissionQueue(pool, recoverSignersHere);
  return anRpcBackend({
    chain,
    spec,
    pool,
    ...hereWorkers({ chain, spec, database }),
    submit: (raw) => queue.submit(raw),
    nextBaseFeePerGas: () => nextBaseFee(spec, chain.head.header, chain.head.header.timestamp + 1n),
    settings: RPC_SETTINGS,
  });
}
