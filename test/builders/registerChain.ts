import { type Address, asAddress } from "../../src/primitives/address.ts";
import { hexToBytes } from "../../src/primitives/hex.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { REGISTER_CREATION, writeRegister } from "../contracts/register.ts";
import type { Random } from "../storage/random.ts";
import { aTransaction } from "./aTransaction.ts";
import { sealedDevBlocks } from "./sealedChain.ts";
import { accountFromSeed } from "./testAccounts.ts";

/** The register (test/contracts/register.ts) that account 0 creates with its first transaction on the development network. */
export const REGISTER: Address = asAddress(hexToBytes("0x5fbdb2315678afecb367f032d93f642f64180aa3"));
/** Slots of it that are written. */
export const REGISTER_SLOTS = 64;
const RECIPIENTS = 1_000;

/**
 * Blocks of the development network from block 1 on, as RLP: the first one creates the register, the others have so many
 * transactions of account 0 each.
 */
export async function registerBlocks(
  { blocks, transactions }: { readonly blocks: number; readonly transactions: number },
  random: Random,
): Promise<readonly Uint8Array[]> {
  let nonce = 0n;
  const bodies = Array.from({ length: blocks }, (_, index) => {
    if (index === 0)
      return [aTransaction({ nonce: nonce++, to: undefined, value: 0n, data: REGISTER_CREATION })];
    return Array.from({ length: transactions }, (_, at) =>
      registerTransaction(at, { nonce: nonce++ }, random),
    );
  });
  return (await sealedDevBlocks(bodies)).slice(1);
}

/** A transfer to one of many accounts; every fourth writes a slot of the register, to zero at times. */
export function registerTransaction(
  at: number,
  fields: { readonly nonce: bigint; readonly privateKey?: Uint8Array },
  random: Random,
): SentTransaction {
  if (at % 4 !== 0) return aTransaction({ ...fields, to: registerRecipient(random), value: 1n });
  const data = writeRegister(random.below(REGISTER_SLOTS), BigInt(random.below(3)));
  return aTransaction({ ...fields, to: REGISTER, value: 0n, data });
}

/** One of the accounts that such transfers go to. */
export function registerRecipient(random: Random): Address {
  return accountFromSeed(1 + random.below(RECIPIENTS)).address;
}
