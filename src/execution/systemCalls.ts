import { type Address, addressFromHex } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES, toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { codeOf } from "./accountCode.ts";
import type { BlockSession } from "./blockSession.ts";
import { clearIfEmpty } from "./emptyAccounts.ts";

/** Stores the parent's hash in the history contract, before the transactions of a Prague block (EIP-2935). */
export function storeParentHash(session: BlockSession, parentHash: Hash): Promise<SystemCallOutcome> {
  return callSystemContract(session, HISTORY_CONTRACT, parentHash);
}

/**
 * Empties the queues of the withdrawal and consolidation contracts, after the transactions of a Prague block (EIP-7002,
 * EIP-7251). Without a beacon chain the requests are discarded (ibft2.md#later-forks).
 */
export async function drainRequestQueues(
  session: BlockSession,
): Promise<Result<DrainedRequests, "systemCallFailed">> {
  const withdrawals = await callSystemContract(session, WITHDRAWAL_CONTRACT, EMPTY_BYTES);
  if (!withdrawals.ok) return withdrawals;
  const consolidations = await callSystemContract(session, CONSOLIDATION_CONTRACT, EMPTY_BYTES);
  if (!consolidations.ok) return consolidations;
  return ok({ withdrawals: withdrawals.value, consolidations: consolidations.value });
}

/** The requests of a block as the two contracts encode them; with a beacon chain, headers commit to them. */
export interface DrainedRequests {
  readonly withdrawals: Uint8Array;
  readonly consolidations: Uint8Array;
}

/** The contract's output. */
type SystemCallOutcome = Result<Uint8Array, "systemCallFailed">;

export const HISTORY_CONTRACT = addressFromHex("0x0000f90827f1c53a10cb7a02335b175320002935");
export const WITHDRAWAL_CONTRACT = addressFromHex("0x00000961ef480eb55e80d19ad83579a64c007002");
export const CONSOLIDATION_CONTRACT = addressFromHex("0x0000bbddc7ce488642fb579f8b00f3a590007251");
const SYSTEM_ADDRESS = addressFromHex("0xfffffffffffffffffffffffffffffffffffffffe");
/** Gas of a system call, which is not counted in the block's gas. */
const SYSTEM_CALL_GAS = 30_000_000n;

/**
 * Performs a call that the protocol makes before or after a block's transactions. A contract without code counts as
 * successful with empty output; a failure makes the block invalid.
 */
export async function callSystemContract(
  session: BlockSession,
  contract: Address,
  data: Uint8Array,
): Promise<SystemCallOutcome> {
  const { overlay, accesses } = session;
  if (codeOf(overlay, contract).length === 0) return ok(EMPTY_BYTES);
  overlay.beginTransaction();
  accesses.clear();
  const { outcome, output } = await session.evm.run({
    caller: SYSTEM_ADDRESS,
    to: contract,
    value: 0n,
    data,
    gasLimit: SYSTEM_CALL_GAS,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
  // The interpreter creates an account for the caller, which has none.
  for (const address of accesses.touched()) clearIfEmpty(overlay, address);
  if (outcome.kind === "succeeded") return ok(output);
  const message = `the system contract ${toHex(contract)} did not execute to completion`;
  return fail("peer", "systemCallFailed", message);
}
