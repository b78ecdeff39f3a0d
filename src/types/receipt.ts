import { asAddress } from "../primitives/address.ts";
import { asHash } from "../primitives/hash.ts";
import { concatBytes } from "../primitives/hex.ts";
import { type Outcome, ok, rejected } from "../primitives/outcome.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString, type RlpItem, readRlp } from "../primitives/rlp.ts";
import type { Log } from "./log.ts";
import type { TransactionType } from "./transaction.ts";

/** What a transaction left behind. Gas in gas units. */
export interface Receipt {
  readonly type: TransactionType;
  /** 1 or 0 from Byzantium on (EIP-658), else the state root after the transaction. */
  readonly outcome: { readonly status: 0 | 1 } | { readonly stateRoot: Uint8Array };
  readonly cumulativeGasUsed: bigint;
  readonly gasUsed: bigint;
  readonly logsBloom: Uint8Array;
  readonly logs: readonly Log[];
  /** Output of a reverted transaction; kept only by a node with --revert-reason-enabled, never part of the consensus encoding. */
  readonly revertReason?: Uint8Array;
}

/** What the consensus encoding holds of a receipt. */
export type BareReceipt = Omit<Receipt, "gasUsed" | "revertReason">;

/** The consensus encoding, whose trie root is the header's receiptsRoot (EIP-2718: type byte before the RLP if typed). */
export function encodeReceipt({
  type,
  outcome,
  cumulativeGasUsed,
  logsBloom,
  logs,
}: BareReceipt): Uint8Array {
  const first = "status" in outcome ? STATUS_ITEMS[outcome.status] : encodeRlpString(outcome.stateRoot);
  // Written by hand, because each transfer of an imported block has one: the library takes four times as long.
  const body = encodeRlpList([
    first,
    encodeRlpString(bigintToBytes(cumulativeGasUsed)),
    encodeRlpString(logsBloom),
    logs.length === 0 ? EMPTY_LIST : encodeRlpList(logs.map(encodeLog)),
  ]);
  return type === 0 ? body : concatBytes(Uint8Array.of(type), body);
}

/** Reads the consensus encoding, strictly. */
export function decodeReceipt(bytes: Uint8Array): Outcome<BareReceipt, "malformedReceipt"> {
  const first = bytes[0] ?? 0;
  const isTyped = first >= 1 && first <= 4;
  try {
    const items = readRlp(isTyped ? bytes.subarray(1) : bytes, RECEIPT_DEPTH);
    const [outcome, gas, logsBloom, logs] = membersOf(items, 4);
    const bloom = stringAt(logsBloom);
    if (bloom.length !== 256) throw new RangeError("a bloom filter has 256 bytes");
    if (!Array.isArray(logs)) throw new RangeError("the logs are a list");
    return ok({
      type: isTyped ? (first as TransactionType) : 0,
      outcome: outcomeOf(stringAt(outcome)),
      cumulativeGasUsed: scalarOf(stringAt(gas)),
      logsBloom: bloom,
      logs: logs.map(decodeLog),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : "not RLP";
    return rejected({ code: "malformedReceipt", fault: "peer", message });
  }
}

/** The receipt, its logs, a log, its topics. */
const RECEIPT_DEPTH = 4;

function outcomeOf(bytes: Uint8Array): Receipt["outcome"] {
  if (bytes.length === 32) return { stateRoot: bytes };
  if (bytes.length > 1 || (bytes[0] ?? 1) !== 1) throw new RangeError("a status is 0 or 1");
  return { status: bytes.length === 0 ? 0 : 1 };
}

function decodeLog(item: RlpItem): Log {
  const [address, topics, data] = membersOf(item, 3);
  if (!Array.isArray(topics)) throw new RangeError("topics are a list");
  return {
    address: asAddress(stringAt(address)),
    topics: topics.map((topic: RlpItem) => asHash(stringAt(topic))),
    data: stringAt(data),
  };
}

function membersOf(item: RlpItem, count: number): readonly RlpItem[] {
  if (item instanceof Uint8Array || item.length !== count) throw new RangeError(`not a list of ${count}`);
  return item;
}

function stringAt(item: RlpItem | undefined): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new RangeError("a list where bytes belong");
  return item;
}

function scalarOf(bytes: Uint8Array): bigint {
  if (bytes.length > 8 || bytes[0] === 0) throw new RangeError("a number is too large or has leading zeros");
  return bytesToBigint(bytes);
}

function encodeLog({ address, topics, data }: Log): Uint8Array {
  return encodeRlpList([
    encodeRlpString(address),
    encodeRlpList(topics.map(encodeRlpString)),
    encodeRlpString(data),
  ]);
}

/** A status is a number without leading zeros: 0 is empty. */
const STATUS_ITEMS = [Uint8Array.of(0x80), Uint8Array.of(1)] as const;
const EMPTY_LIST = Uint8Array.of(0xc0);
