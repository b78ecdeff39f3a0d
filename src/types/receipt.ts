import { concatBytes } from "../primitives/hex.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";
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

/** The consensus encoding, whose trie root is the header's receiptsRoot (EIP-2718: type byte before the RLP if typed). */
export function encodeReceipt({ type, outcome, cumulativeGasUsed, logsBloom, logs }: Receipt): Uint8Array {
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
