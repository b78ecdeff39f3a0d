import { gzipSync } from "node:zlib";
import type { Address } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { type Hash, ZERO_HASH } from "../../primitives/hash.ts";
import { toHex, toWordHex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { TimeSlice } from "../../primitives/timeSlice.ts";
import type { Account } from "../../types/account.ts";
import type { StateHistory } from "../stateHistory.ts";
import { DUMP_LIMITS } from "./dumpLimits.ts";

interface DumpOrder {
  readonly blockNumber: bigint;
  /** Whether an account belongs in no dump. */
  isLeftOut(address: Address): boolean;
  readonly slice?: TimeSlice | undefined;
}

export type WrittenDump =
  /** Gzip of the JSON text. */
  | { readonly kind: "dump"; readonly gzip: Uint8Array }
  | { readonly kind: "tooLargeToDump" }
  /** The database was created before addresses and slots were stored, and only this hash of one is known. */
  | { readonly kind: "unknownAddress"; readonly hash: Hash };

/**
 * Writes the state after a block as anvil's anvil_dumpState does, without blocks: anvil and readDump add such accounts to the state
 * that they have. Undefined when the state is not stored.
 */
export function writeDump(history: StateHistory, order: DumpOrder): WrittenDump | undefined {
  const { blockNumber, isLeftOut, slice } = order;
  const state = history.at(blockNumber);
  const accounts = history.accountsFrom(blockNumber, ZERO_HASH);
  if (state === undefined || accounts === undefined) return undefined;
  const text = new DumpText();
  for (const { hash, address } of accounts) {
    if (address === undefined) return { kind: "unknownAddress", hash };
    if (isLeftOut(address)) continue;
    const account = expectDefined(state.account(address), "an account of the state");
    text.beginAccount(address, account, state.code(account.codeHash));
    for (const { hash: slotHash, slot, value } of history.slotsFrom(blockNumber, address, ZERO_HASH) ?? []) {
      if (slot === undefined) return { kind: "unknownAddress", hash: slotHash };
      text.slot(slot, value);
      if (text.isTooLarge) return { kind: "tooLargeToDump" };
      if (slice?.isUsedUp() === true) slice.giveUp();
    }
    text.endAccount();
    if (text.isTooLarge) return { kind: "tooLargeToDump" };
    if (slice?.isUsedUp() === true) slice.giveUp();
  }
  return { kind: "dump", gzip: gzipSync(text.ended()) };
}

/** The text of a dump, as far as it is written. */
class DumpText {
  private readonly parts: string[] = ['{"block":null,"accounts":{'];
  private bytes = 0;
  private entries = 0;
  private codeBytes = 0;
  private hasAccount = false;
  private hasSlot = false;

  get isTooLarge(): boolean {
    const { entries, textBytes, codeBytes } = DUMP_LIMITS;
    return this.entries > entries || this.bytes > textBytes - ROOM_BYTES || this.codeBytes > codeBytes;
  }

  beginAccount(address: Address, { nonce, balance }: Account, code: Uint8Array): void {
    this.codeBytes += code.length;
    this.entries++;
    // A number of JSON, as anvil has it, unless readers would round it.
    const nonceText = nonce <= BigInt(Number.MAX_SAFE_INTEGER) ? `${nonce}` : `"${toQuantity(nonce)}"`;
    this.add(
      `${this.hasAccount ? "," : ""}"${toHex(address)}":{"nonce":${nonceText},"balance":"${toQuantity(balance)}",` +
        `"code":"${toHex(code)}","storage":{`,
    );
    this.hasAccount = true;
    this.hasSlot = false;
  }

  slot(slot: Hash, value: Uint8Array): void {
    this.entries++;
    this.add(`${this.hasSlot ? "," : ""}"${toHex(slot)}":"${toWordHex(value)}"`);
    this.hasSlot = true;
  }

  endAccount(): void {
    this.add("}}");
  }

  ended(): Buffer {
    this.add('},"best_block_number":null,"blocks":[],"transactions":[],"historical_states":null}');
    return Buffer.from(this.parts.join(""), "latin1");
  }

  private add(part: string): void {
    this.parts.push(part);
    this.bytes += part.length;
  }
}

/** Room for what ends the text. */
const ROOM_BYTES = 1024;
