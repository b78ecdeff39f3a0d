import { addressFromHex } from "../../../src/primitives/address.ts";
import { parseHex } from "../../../src/primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { JournaledOverlay, type Overlay } from "../../../src/state/overlay.ts";
import { WorldState } from "../../../src/state/worldState.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";

/** Accounts before a test, by address; quantities in hex or decimal, with zero as the default. */
export type PreState = Readonly<Record<string, PreAccount>>;

export interface PreAccount {
  readonly balance?: string;
  readonly nonce?: string;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
}

/** A world state in memory whose block 0 is `pre`. */
export async function worldOf(pre: PreState): Promise<WorldState> {
  const database = createMemoryDatabase();
  const world = new WorldState({ database });
  const overlay = new JournaledOverlay(world.head);
  for (const [address, account] of Object.entries(pre)) put(overlay, address, account);
  const staged = world.stage(overlay.changes(), 0n);
  const batch = new Batch();
  staged.writeTo(batch);
  await database.write(batch);
  world.adopt(staged);
  return world;
}

function put(overlay: Overlay, name: string, account: PreAccount): void {
  const { balance = "0x0", nonce = "0x0", code = "0x", storage = {} } = account;
  const address = addressFromHex(name.startsWith("0x") ? name : `0x${name}`);
  overlay.putAccount(address, { ...EMPTY_ACCOUNT, balance: BigInt(balance), nonce: BigInt(nonce) });
  if (code !== "0x") overlay.putCode(address, bytesOfHex(code));
  for (const [slot, value] of Object.entries(storage)) {
    if (BigInt(value) === 0n) continue;
    overlay.putStorage(address, bigintToFixedBytes(BigInt(slot), 32), bigintToBytes(BigInt(value)));
  }
}

/** Hex with or without prefix, because the vectors come from several projects. */
export function bytesOfHex(text: string): Uint8Array {
  const bytes = parseHex(text.startsWith("0x") ? text : `0x${text}`);
  if (bytes === undefined) throw new Error(`not hexadecimal: ${text.slice(0, 40)}`);
  return bytes;
}
