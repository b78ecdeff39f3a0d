import { type Address, addressFromHex } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES, toHex } from "../primitives/hex.ts";
import { type Outcome, ok, rejected } from "../primitives/outcome.ts";
import type { BlockSession } from "./blockSession.ts";
import { clearIfEmpty } from "./emptyAccounts.ts";
import { codeOf } from "./libraryState.ts";

/** Before the transactions of a Prague block: the parent's hash goes into the history contract (EIP-2935). */
export function keepParentHash(
  session: BlockSession,
  parentHash: Hash,
): Promise<Outcome<void, "systemCallFailed">> {
  return callIfPresent(session, HISTORY_CONTRACT, parentHash);
}

/**
 * After the transactions of a Prague block: the contracts for withdrawals and consolidations empty their queues
 * (EIP-7002, EIP-7251). What they hand out goes nowhere on a chain without a beacon chain (ibft2.md §17).
 */
export async function drainRequestQueues(session: BlockSession): Promise<Outcome<void, "systemCallFailed">> {
  const withdrawals = await callIfPresent(session, WITHDRAWAL_CONTRACT, EMPTY_BYTES);
  return withdrawals.ok ? callIfPresent(session, CONSOLIDATION_CONTRACT, EMPTY_BYTES) : withdrawals;
}

const HISTORY_CONTRACT = addressFromHex("0x0000f90827f1c53a10cb7a02335b175320002935");
const WITHDRAWAL_CONTRACT = addressFromHex("0x00000961ef480eb55e80d19ad83579a64c007002");
const CONSOLIDATION_CONTRACT = addressFromHex("0x0000bbddc7ce488642fb579f8b00f3a590007251");
const SYSTEM_ADDRESS = addressFromHex("0xfffffffffffffffffffffffffffffffffffffffe");
/** Not taken from the block's gas. */
const SYSTEM_CALL_GAS = 30_000_000n;

/** A contract that is not there is passed over; one that fails makes the block invalid. */
async function callIfPresent(
  session: BlockSession,
  contract: Address,
  data: Uint8Array,
): Promise<Outcome<void, "systemCallFailed">> {
  const { overlay, accesses } = session;
  if (codeOf(overlay, contract).length === 0) return ok(undefined);
  overlay.beginTransaction();
  accesses.clear();
  const { outcome } = await session.evm.run({
    caller: SYSTEM_ADDRESS,
    to: contract,
    value: 0n,
    data,
    gasLimit: SYSTEM_CALL_GAS,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
  // The interpreter makes an account for the caller, who has none.
  for (const address of accesses.touched()) clearIfEmpty(overlay, address);
  if (outcome.kind === "succeeded") return ok(undefined);
  const message = `the system contract ${toHex(contract)} did not execute to completion`;
  return rejected({ code: "systemCallFailed", fault: "peer", message });
}
