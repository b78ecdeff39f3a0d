import { recoverSealers } from "../../../src/ibft/sealRules.ts";
import { proposerOf } from "../../../src/ibft/validatorSet.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { type Hex, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToBytes, toQuantity } from "../../../src/primitives/quantity.ts";
import { sealDigest } from "../../../src/types/blockHash.ts";
import { decodeExtraData, type ExtraData } from "../../../src/types/extraData.ts";
import { headerFromItems } from "../../../src/types/header.ts";
import { ask } from "./history.ts";
import { type NodeProcess, until } from "./nodeProcess.ts";

/** A block, with what its header shows about its consensus. */
export interface AgreedBlock {
  readonly number: number;
  readonly hash: Hex;
  /** Who built it. */
  readonly proposer: Hex;
  /** The round in which it was decided. */
  readonly round: number;
  /** Authors of the seals that this node has: at least a quorum. */
  readonly sealers: readonly Hex[];
  readonly extra: ExtraData;
}

export async function heightOf(node: NodeProcess): Promise<number> {
  return Number(await node.rpc<Hex>("eth_blockNumber"));
}

/** Waits until every node has the block of that number. */
export async function reach(nodes: readonly NodeProcess[], height: number): Promise<void> {
  await until(
    async () => ((await Promise.all(nodes.map(heightOf))).every((each) => each >= height) ? true : undefined),
    `block ${height} on all nodes`,
  );
}

/** Hashes of the blocks from `first` to `last`, both included. */
export async function hashesOf(node: NodeProcess, first: number, last: number): Promise<readonly Hex[]> {
  const blocks = await blocksOf(node, first, last);
  return blocks.map(({ hash }) => hash ?? "0x");
}

type JsonBlock = Readonly<Record<string, Hex>>;

/** Reads blocks in batches, because a node limits its connections. */
async function blocksOf(node: NodeProcess, first: number, last: number): Promise<readonly JsonBlock[]> {
  const requests = numbersFrom(first, last).map((number) => ({
    method: "eth_getBlockByNumber",
    params: [toQuantity(number), false],
  }));
  return (await ask(node.httpUrl, requests)).map(({ result }) => result as JsonBlock);
}

/** Recovers the sealers from the block's own fields, so that a seal of another block yields no validator. */
function agreedBlock(block: JsonBlock): AgreedBlock {
  const header = headerFromItems([
    ...BYTES_FIRST.map((name) => hexToBytes(block[name] ?? "0x")),
    ...QUANTITIES.map((name) => bigintToBytes(BigInt(block[name] ?? "0x0"))),
    ...BYTES_LAST.map((name) => hexToBytes(block[name] ?? "0x")),
    bigintToBytes(BigInt(block["baseFeePerGas"] ?? "0x0")),
  ]);
  if (!header.ok) throw new Error(header.error.message);
  const extra = decodeExtraData(header.value.extraData);
  if (!extra.ok) throw new Error(extra.error.message);
  const sealers = recoverSealers(sealDigest(header.value, extra.value), extra.value.seals);
  return {
    number: Number(block["number"]),
    hash: block["hash"] ?? "0x",
    proposer: toHex(header.value.coinbase),
    round: extra.value.round,
    sealers: sealers.map((sealer) => (sealer === undefined ? "0x" : toHex(sealer))),
    extra: extra.value,
  };
}

/** The fields of a header in their order, as JSON-RPC names them. */
const BYTES_FIRST = [
  "parentHash",
  "sha3Uncles",
  "miner",
  "stateRoot",
  "transactionsRoot",
  "receiptsRoot",
  "logsBloom",
];
const QUANTITIES = ["difficulty", "number", "gasLimit", "gasUsed", "timestamp"];
const BYTES_LAST = ["extraData", "mixHash", "nonce"];

export async function agreedBlocks(
  node: NodeProcess,
  first: number,
  last: number,
): Promise<readonly AgreedBlock[]> {
  return (await blocksOf(node, first, last)).map(agreedBlock);
}

function numbersFrom(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** The proposer of `block` in round 0. */
function roundZeroProposer(parent: AgreedBlock, block: AgreedBlock): Hex {
  return toHex(proposerOf(block.extra.validators, addressFromHex(parent.proposer), 0));
}

/** Blocks, except the first, whose round 0 proposer was `proposer`. */
export function turnsOf(proposer: Hex, blocks: readonly AgreedBlock[]): readonly AgreedBlock[] {
  return blocks.filter((block, index) => {
    const parent = blocks[index - 1];
    return parent !== undefined && roundZeroProposer(parent, block) === proposer;
  });
}

/** Blocks decided in a later round though their round 0 proposer is not in `lost`, and the other way round. */
export function surprises(blocks: readonly AgreedBlock[], lost: readonly Hex[]): readonly AgreedBlock[] {
  return blocks.filter((block, index) => {
    const parent = blocks[index - 1];
    return parent !== undefined && block.round > 0 !== lost.includes(roundZeroProposer(parent, block));
  });
}
