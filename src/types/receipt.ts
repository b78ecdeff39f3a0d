import { RLP } from "@ethereumjs/rlp";
import { concatBytes, EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
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
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const first =
    "status" in receipt.outcome
      ? receipt.outcome.status === 1
        ? Uint8Array.of(1)
        : EMPTY_BYTES
      : receipt.outcome.stateRoot;
  const body = RLP.encode([
    first,
    bigintToBytes(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map((log) => [log.address, [...log.topics], log.data]),
  ]);
  return receipt.type === 0 ? body : concatBytes(Uint8Array.of(receipt.type), body);
}
