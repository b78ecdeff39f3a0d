import { expect } from "vitest";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

/**
 * Two traces, ours and Besu's, as text to be compared. Where Besu's trace shows one of its known bugs, the affected part is
 * left out of both, after a check of ours where one is possible. The bugs:
 *
 * - in a vmTrace, the memory read by an MLOAD is shown as it is later, although the pushed word is right; and a call whose
 *   callee failed with an invalid instruction shows memory that was never written
 * - `used` in a vmTrace becomes negative
 * - a creation that fails when its code is stored has its error at the instruction before the RETURN
 * - a precompiled contract that runs out of gas has neither error nor gas in the flat trace, and no stateDiff
 * - when a mining beneficiary is set, a replay credits the fees to the proposer
 */
export function withoutBesuBugs(ours: unknown, theirs: unknown): readonly [ours: string, theirs: string] {
  const pair = align(ours as Json, theirs as Json);
  return [JSON.stringify(pair[0]), JSON.stringify(pair[1])];
}

type Pair = readonly [ours: Json, theirs: Json];

function align(ours: Json, theirs: Json): Pair {
  if (isList(ours) && isList(theirs) && ours.length === theirs.length) {
    const pairs = ours.map((item, index) => align(item, theirs[index] as Json));
    return [pairs.map(([item]) => item), pairs.map(([, item]) => item)];
  }
  if (!isObject(ours) || !isObject(theirs)) return [ours, theirs];
  const pair = withoutBug(ours, theirs);
  const names = Object.keys(pair[0]);
  const shared = names.filter((name) => name in pair[1]);
  const members = new Map(shared.map((name) => [name, align(pair[0][name] as Json, pair[1][name] as Json)]));
  const side = (object: JsonObject, at: 0 | 1): Json =>
    Object.fromEntries(
      Object.entries(object).map(([name, value]) => [name, members.get(name)?.[at] ?? value]),
    );
  return [side(pair[0], 0), side(pair[1], 1)];
}

type ObjectPair = readonly [ours: JsonObject, theirs: JsonObject];

function withoutBug(ours: JsonObject, theirs: JsonObject): ObjectPair {
  if ("structLogs" in ours) return withoutFailedDeposit(ours, theirs);
  if ("mem" in ours && "push" in ours) return withoutWrongMemory(ours, theirs);
  if ("stateDiff" in ours) return withoutLostDiff(ours, theirs);
  if ("action" in ours) return withoutSilentPrecompile(ours, theirs);
  return [ours, theirs];
}

function withoutFailedDeposit(ours: JsonObject, theirs: JsonObject): ObjectPair {
  const logs = ours["structLogs"] as readonly JsonObject[];
  const others = theirs["structLogs"] as readonly JsonObject[];
  const failed = logs.at(-1);
  if (ours["failed"] !== true || failed?.["op"] !== "RETURN" || !("error" in failed)) return [ours, theirs];
  expect(others.at(-2)?.["error"]).toEqual(failed["error"]);
  const bare = (list: readonly JsonObject[]): JsonObject[] => list.map(({ error, ...rest }) => rest);
  return [
    { ...ours, structLogs: bare(logs) },
    { ...theirs, structLogs: bare(others) },
  ];
}

function withoutWrongMemory(ours: JsonObject, theirs: JsonObject): ObjectPair {
  const { mem, push } = ours as { readonly mem: JsonObject | null; readonly push: readonly string[] };
  const isRead = mem !== null && push.length === 1 && BigInt(String(mem["data"])) === BigInt(push[0] ?? "0x");
  const isPhantom = mem === null && push.join() === "0x0" && JSON.stringify(theirs["mem"]) === PHANTOM;
  const used = Number(theirs["used"]) < 0;
  if (used) expect(ours["used"]).toBe(0);
  const strip = (object: JsonObject): JsonObject => ({
    ...object,
    ...((isRead || isPhantom) && { mem: null }),
    ...(used && { used: 0 }),
  });
  return [strip(ours), strip(theirs)];
}

const PHANTOM = JSON.stringify({ data: `0x${"0".repeat(64)}`, off: 0 });

/** Where fees went to the wrong account, removes both accounts from both sides. */
function withoutLostDiff(ours: JsonObject, theirs: JsonObject): ObjectPair {
  const { stateDiff: diff } = ours;
  const { stateDiff: other } = theirs;
  if (other === null || !isObject(diff ?? null)) {
    const isSilent = JSON.stringify(ours["trace"]).includes('"error":"Out of gas"');
    return isSilent ? [{ ...ours, stateDiff: null }, theirs] : [ours, theirs];
  }
  const gained = diff as JsonObject;
  const credited = other as JsonObject;
  if (!(BENEFICIARY in gained)) return [ours, theirs];
  const proposer = Object.keys(credited).filter((address) => !(address in gained));
  expect(proposer.length).toBe(1);
  expect(gainOf(gained[BENEFICIARY])).toBe(gainOf(credited[proposer[0] ?? ""]));
  const without = (object: JsonObject, address: string): JsonObject =>
    Object.fromEntries(Object.entries(object).filter(([name]) => name !== address));
  return [
    { ...ours, stateDiff: without(gained, BENEFICIARY) },
    { ...theirs, stateDiff: without(credited, proposer[0] ?? "") },
  ];
}

const BENEFICIARY = "0x00000000000000000000000000000000000beef1";

function gainOf(account: Json | undefined): bigint {
  const { balance } = account as { readonly balance: { "*"?: { from: string; to: string }; "+"?: string } };
  const change = balance["*"];
  return change === undefined ? BigInt(balance["+"] ?? "0x0") : BigInt(change.to) - BigInt(change.from);
}

function withoutSilentPrecompile(ours: JsonObject, theirs: JsonObject): ObjectPair {
  const action = theirs["action"] as JsonObject;
  if (ours["error"] !== "Out of gas" || "gas" in action || theirs["type"] !== "call") return [ours, theirs];
  const { error, action: ownAction, ...rest } = ours;
  const { gas, ...others } = ownAction as JsonObject;
  const { result, action: theirAction, ...theirRest } = theirs;
  return [
    { ...rest, action: others },
    { ...theirRest, action: theirAction ?? null },
  ];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
