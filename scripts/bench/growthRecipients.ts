import { getContractAddress, type Hex } from "viem";
import { keccak256 } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { type Draft, presign, senderAddresses, type Workload } from "./workload.ts";

/** The account that the transaction of this index creates, or gives tokens to: as scattered as real addresses are. */
export function recipientOf(index: number): Hex {
  return toHex(keccak256(new TextEncoder().encode(`recipient ${index}`)).subarray(0, 20));
}

/** The transfer of this index, which creates its account. */
export function transferToNew(index: number): Draft {
  return { to: recipientOf(index), value: 1n, gasLimit: 21_000n };
}

/** Transfers from ten senders, each to a new account. */
export function growthWorkload(count: number, firstNonces: readonly number[]): Workload {
  const bodies = presign(count, firstNonces, transferToNew);
  return { name: "transfers to new accounts", setUp: [], bodies, transactions: count };
}

/** Whether the transaction of this index is an ERC-20 transfer, where a tenth of them is. */
export function isTokenTransfer(index: number): boolean {
  return index % 10 === 9;
}

/** The token: the first contract of the first sender. */
export function tokenAddress(): Hex {
  const [from = "0x"] = senderAddresses();
  return getContractAddress({ from, nonce: 0n });
}
