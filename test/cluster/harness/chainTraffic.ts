import { type Hex, toEventSelector, toHex } from "viem";
import type { NodeProcess } from "./nodeProcess.ts";

/** Everything that happened on a chain, by a scan of all blocks: calls by go-ethereum's callTracer, logs by eth_getLogs. */
export interface Traffic {
  readonly lastBlock: number;
  readonly transactions: readonly TracedTransaction[];
  readonly logs: readonly TrafficLog[];
}

interface TracedTransaction {
  readonly hash: Hex;
  readonly block: number;
  readonly from: Hex;
  readonly nonce: number;
  readonly call: Call;
}

/** A call with those within it, as the tracer tells it. */
export interface Call {
  readonly type: string;
  readonly depth: number;
  readonly from: Hex;
  /** Undefined for a creation that failed. */
  readonly to: Hex | undefined;
  readonly value: Hex | null;
  readonly input: Hex;
  readonly output: Hex;
  readonly isPrecompile: boolean;
  readonly hasFailed: boolean;
  readonly calls: readonly Call[];
}

interface TrafficLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly logIndex: Hex;
}

interface RawCall {
  readonly type: string;
  readonly from: Hex;
  readonly to?: Hex;
  readonly value?: Hex;
  readonly input: Hex;
  readonly output?: Hex;
  readonly error?: string;
  readonly calls?: readonly RawCall[];
}

export async function readTraffic(node: NodeProcess): Promise<Traffic> {
  const lastBlock = Number(await node.rpc<Hex>("eth_blockNumber"));
  const transactions: TracedTransaction[] = [];
  for (let number = 1; number <= lastBlock; number++) {
    const block = await node.rpc<{ transactions: { hash: Hex; from: Hex; nonce: Hex }[] }>(
      "eth_getBlockByNumber",
      [toHex(number), true],
    );
    if (block.transactions.length === 0) continue;
    const traces = await node.rpc<{ result: RawCall }[]>("debug_traceBlockByNumber", [
      toHex(number),
      { tracer: "callTracer" },
    ]);
    const receipts = await node.rpc<{ contractAddress: Hex | null }[]>("eth_getBlockReceipts", [
      toHex(number),
    ]);
    for (const [index, { hash, from, nonce }] of block.transactions.entries()) {
      const raw = traces[index]?.result as RawCall;
      const created = receipts[index]?.contractAddress;
      transactions.push({
        hash,
        block: number,
        from,
        nonce: Number(nonce),
        // The tracer does not tell the address of a creation that failed.
        call: callOf(created === null || created === undefined ? raw : { ...raw, to: created }, 0),
      });
    }
  }
  const logs = await node.rpc<TrafficLog[]>("eth_getLogs", [{ fromBlock: "0x0", toBlock: toHex(lastBlock) }]);
  return { lastBlock, transactions, logs };
}

function callOf({ type, from, to, value, input, output, error, calls = [] }: RawCall, depth: number): Call {
  return {
    type,
    depth,
    from,
    to,
    value: value ?? null,
    input,
    output: output ?? "0x",
    isPrecompile: to !== undefined && BigInt(to) > 0n && BigInt(to) < 0x20n,
    hasFailed: error !== undefined,
    calls: calls.map((call) => callOf(call, depth + 1)),
  };
}

/** A call and those within it, each before those within it. */
export function inOrder(call: Call): readonly Call[] {
  return [call, ...call.calls.flatMap(inOrder)];
}

/** Creations that were not undone. */
export function creationsIn(call: Call): readonly { readonly contract: Hex; readonly creator: Hex }[] {
  if (call.hasFailed) return [];
  const within = call.calls.flatMap(creationsIn);
  if (!call.type.startsWith("CREATE") || call.to === undefined) return within;
  return [...within, { contract: call.to, creator: call.from }];
}

/** A transfer of tokens. */
export interface Movement {
  readonly token: Hex;
  readonly block: number;
  readonly logIndex: number;
  readonly from: Hex;
  readonly to: Hex;
}

const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const SINGLE = toEventSelector("TransferSingle(address,address,address,uint256,uint256)");
const BATCH = toEventSelector("TransferBatch(address,address,address,uint256[],uint256[])");

/** The transfers among logs, by the forms of the three standards. */
export function movementsIn(logs: readonly TrafficLog[]): readonly Movement[] {
  return logs.flatMap(({ address, topics, data, blockNumber, logIndex }) => {
    const [event, ...rest] = topics;
    const bytes = (data.length - 2) / 2;
    const isFungible = event === TRANSFER && topics.length === 3 && bytes === 32;
    const isUnique = event === TRANSFER && topics.length === 4 && bytes === 0;
    const isMulti =
      topics.length === 4 && (event === SINGLE ? bytes === 64 : event === BATCH && isBatch(data));
    if (!isFungible && !isUnique && !isMulti) return [];
    const [from = "0x", to = "0x"] = isMulti ? rest.slice(1) : rest;
    const place = { block: Number(blockNumber), logIndex: Number(logIndex) };
    return [{ token: address, ...place, from: addressIn(from), to: addressIn(to) }];
  });
}

/** Whether two lists of equal length lie in the data. */
function isBatch(data: Hex): boolean {
  const wordAt = (at: bigint): bigint | undefined => {
    const from = 2 + 2 * Number(at);
    return from + 64 <= data.length ? BigInt(`0x${data.slice(from, from + 64)}`) : undefined;
  };
  const size = BigInt((data.length - 2) / 2);
  const lengths = [0n, 32n].map((at) => {
    const offset = wordAt(at);
    const length = offset === undefined || offset > size ? undefined : wordAt(offset);
    return length === undefined || offset === undefined || offset + 32n + 32n * length > size
      ? undefined
      : length;
  });
  return lengths[0] !== undefined && lengths[0] === lengths[1];
}

function addressIn(topic: Hex): Hex {
  return `0x${topic.slice(-40)}`;
}
