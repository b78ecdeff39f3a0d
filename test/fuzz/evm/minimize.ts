import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { ProgramAccount, ProgramTransaction, StateTestProgram } from "./stateTestProgram.ts";

const DEFAULT_SECONDS = 120;
/** JUMPDEST, which does nothing: what is left keeps its place. */
const NOTHING = 0x5b;

/**
 * The smallest program found that still `differs`: without accounts, slots, fields of the transaction and bytes of code
 * that are not needed. Tries for so many seconds at most.
 */
export async function minimize(
  program: StateTestProgram,
  differs: (program: StateTestProgram) => Promise<boolean>,
  seconds = DEFAULT_SECONDS,
): Promise<StateTestProgram> {
  const endMs = performance.now() + seconds * 1000;
  let smallest = program;
  const attempt = async (smaller: StateTestProgram): Promise<boolean> => {
    if (performance.now() > endMs || !(await differs(smaller))) return false;
    smallest = smaller;
    return true;
  };
  for (let size = -1; size !== sizeOf(smallest) && performance.now() < endMs; ) {
    size = sizeOf(smallest);
    for (const smaller of withoutFields(smallest)) await attempt(merged(smallest, smaller));
    for (const address of Object.keys(smallest.pre)) {
      if (address !== smallest.transaction.sender) await attempt(withAccount(smallest, address, undefined));
      for (const change of lesserAccounts(smallest.pre[address]))
        await attempt(withAccount(smallest, address, change));
      await shorten(
        () => smallest.pre[address]?.code ?? "0x",
        (code) => attempt(withAccount(smallest, address, { code })),
      );
    }
    await shorten(
      () => smallest.transaction.data,
      (data) => attempt(merged(smallest, { data })),
    );
  }
  return smallest;
}

function sizeOf(program: StateTestProgram): number {
  return JSON.stringify({ ...program, gasLimit: "" }).length;
}

/** Takes bytes out, or does away with what they do, in ever smaller pieces. */
async function shorten(current: () => string, attempt: (hex: string) => Promise<boolean>): Promise<void> {
  for (let piece = hexToBytes(current()).length; piece >= 1; piece = Math.floor(piece / 2))
    for (let at = hexToBytes(current()).length - piece; at >= 0; at -= piece) {
      const bytes = hexToBytes(current());
      const rest = [...bytes.subarray(0, at), ...bytes.subarray(at + piece)];
      if (await attempt(toHex(Uint8Array.from(rest)))) continue;
      const blank = bytes.slice().fill(NOTHING, at, at + piece);
      if (toHex(blank) !== toHex(bytes)) await attempt(toHex(blank));
    }
}

function withAccount(
  program: StateTestProgram,
  address: string,
  change: Partial<ProgramAccount> | undefined,
): StateTestProgram {
  const { [address]: account, ...others } = program.pre;
  if (account === undefined || change === undefined) return { ...program, pre: others };
  return { ...program, pre: { ...others, [address]: { ...account, ...change } } };
}

function lesserAccounts(account: ProgramAccount | undefined): Partial<ProgramAccount>[] {
  if (account === undefined) return [];
  const { storage, balance } = account;
  const slots = Object.keys(storage).map((slot) => {
    const { [slot]: _, ...others } = storage;
    return { storage: others };
  });
  return [...slots, ...(balance === "0x0" ? [] : [{ balance: "0x0" }])];
}

function merged(program: StateTestProgram, change: Partial<ProgramTransaction>): StateTestProgram {
  return { ...program, transaction: { ...program.transaction, ...change } };
}

function withoutFields({ transaction }: StateTestProgram): Partial<ProgramTransaction>[] {
  const { value, accessList = [], authorizationList = [], blobVersionedHashes = [] } = transaction;
  const without = <T>(items: readonly T[]): T[][] =>
    items.map((_, index) => items.filter((__, other) => other !== index));
  return [
    ...(value === "0x0" ? [] : [{ value: "0x0" }]),
    ...without(accessList).map((some) => ({ accessList: some })),
    // A transaction of these types has one at least.
    ...(authorizationList.length > 1
      ? without(authorizationList).map((some) => ({ authorizationList: some }))
      : []),
    ...(blobVersionedHashes.length > 1
      ? without(blobVersionedHashes).map((some) => ({ blobVersionedHashes: some }))
      : []),
  ];
}
