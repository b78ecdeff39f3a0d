import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Json = Record<string, unknown>;

/** A block as JSON-RPC shows it, with its receipts and traces. */
export interface ToyBlock {
  readonly block: Json;
  readonly receipts: readonly Json[];
  readonly traces: readonly Json[];
}

/** What a transaction is to have beside the usual. */
export interface ToyTransaction {
  readonly transaction?: Json;
  readonly receipt?: Json;
  readonly logs?: readonly Json[];
  readonly traces?: readonly Json[];
}

export const SENDER = `0x${"5e".repeat(20)}`;
export const RECIPIENT = `0x${"7e".repeat(20)}`;

export function hashOf(words: string): string {
  return `0x${createHash("sha256").update(words).digest("hex")}`;
}

/** A chain of so many blocks after the genesis block. From block `forkAt` on it differs with the `seed`. */
export function toyChain(
  length: number,
  {
    seed = "common",
    forkAt = 1,
    transactions = () => [{}] as readonly ToyTransaction[],
  }: {
    readonly seed?: string;
    readonly forkAt?: number;
    transactions?(number: number): readonly ToyTransaction[];
  } = {},
): readonly ToyBlock[] {
  const hashAt = (number: number) => hashOf(`${number >= forkAt ? seed : "common"} ${number}`);
  return Array.from({ length: length + 1 }, (_, number) =>
    toyBlock(
      number,
      hashAt(number),
      number === 0 ? hashOf("nothing") : hashAt(number - 1),
      number === 0 ? [] : transactions(number),
    ),
  );
}

function toyBlock(
  number: number,
  hash: string,
  parentHash: string,
  transactions: readonly ToyTransaction[],
): ToyBlock {
  const quantity = `0x${number.toString(16)}`;
  const place = { blockHash: hash, blockNumber: quantity };
  let logIndex = 0;
  const made = transactions.map((given, index) => {
    const transactionHash = hashOf(`${hash} ${index}`);
    const of = { ...place, transactionHash, transactionIndex: `0x${index.toString(16)}` };
    return {
      transaction: {
        ...place,
        hash: transactionHash,
        transactionIndex: of.transactionIndex,
        from: SENDER,
        to: RECIPIENT,
        value: "0x1",
        input: "0x",
        gas: "0x5208",
        gasPrice: "0x0",
        nonce: quantity,
        type: "0x0",
        v: "0x1b",
        r: "0x1",
        s: "0x2",
        ...given.transaction,
      },
      receipt: {
        ...of,
        from: SENDER,
        to: RECIPIENT,
        contractAddress: null,
        gasUsed: "0x5208",
        cumulativeGasUsed: "0x5208",
        effectiveGasPrice: "0x0",
        status: "0x1",
        type: "0x0",
        logs: (given.logs ?? []).map((log) => ({
          ...of,
          logIndex: `0x${(logIndex++).toString(16)}`,
          ...log,
        })),
        ...given.receipt,
      },
      traces: (given.traces ?? []).map((trace) => ({
        blockHash: hash,
        blockNumber: number,
        transactionHash,
        transactionPosition: index,
        subtraces: 0,
        traceAddress: [],
        type: "call",
        ...trace,
      })),
    };
  });
  const zeros = `0x${"00".repeat(32)}`;
  return {
    block: {
      number: quantity,
      hash,
      parentHash,
      nonce: "0x0000000000000000",
      sha3Uncles: zeros,
      logsBloom: "0x00",
      transactionsRoot: zeros,
      stateRoot: zeros,
      receiptsRoot: zeros,
      mixHash: zeros,
      miner: SENDER,
      difficulty: "0x1",
      totalDifficulty: quantity,
      size: "0x200",
      extraData: "0x",
      gasLimit: "0x1fffffffffffff",
      gasUsed: "0x0",
      timestamp: quantity,
      transactions: made.map(({ transaction }) => transaction),
    },
    receipts: made.map(({ receipt }) => receipt),
    traces: made.flatMap(({ traces }) => traces),
  };
}

/** A server that answers from a chain, which a test may change at any time. */
export interface ToyNode {
  readonly url: string;
  chain: readonly ToyBlock[];
  /** Looked at before each answer: one that it gives is sent instead. */
  answer: (method: string, params: readonly unknown[]) => Json | undefined;
  /** Methods that were asked for, by HTTP request. */
  readonly asked: (readonly string[])[];
  close(): void;
}

export async function startToyNode(chain: readonly ToyBlock[]): Promise<ToyNode> {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    request.on("end", () => {
      const asked = JSON.parse(text);
      node.asked.push([asked].flat().map(({ method }) => method));
      const answers = [asked].flat().map(({ id, method, params }) => {
        const given = node.answer(method, params) ?? { result: resultOf(node.chain, method, params) };
        return { jsonrpc: "2.0", id, ...given };
      });
      response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const node: ToyNode = {
    url: `http://127.0.0.1:${port}`,
    chain,
    answer: () => undefined,
    asked: [],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return node;
}

function resultOf(chain: readonly ToyBlock[], method: string, params: readonly unknown[]): unknown {
  const found = chain[Number(params[0])];
  switch (method) {
    case "eth_chainId":
      return "0x1c03";
    case "eth_blockNumber":
      return `0x${(chain.length - 1).toString(16)}`;
    case "eth_getBlockByNumber":
      return found?.block ?? null;
    case "eth_getBlockReceipts":
      return found?.receipts ?? null;
    case "trace_block":
      return found?.traces ?? null;
    default:
      return "toy";
  }
}
