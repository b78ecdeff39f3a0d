import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../primitives/address.ts";
import { NoSmallFile, readRegularFile } from "../../primitives/boundedFile.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { translateDiskError } from "../../storage/diskErrors.ts";
import { replaceFile } from "../../storage/durableFile.ts";

/**
 * What a data folder knows of validators that were handed over (docs/operating/hand-over.md). It is durable before the key
 * leaves the folder, and before a key comes into it, so that at every moment at most one of both folders may use the key.
 */
export interface HandOverMark {
  /** The validator that this folder gave away: the node does not start with its key. */
  readonly given?: GivenValidator;
  /** The hand-over whose key and votes are being put into this folder: the node does not start. */
  readonly taking?: { readonly id: string };
  /** Ids of all hand-overs that ended here: given, taken, or undone. None of them can be taken here again. */
  readonly past: readonly string[];
}

interface GivenValidator {
  /** Names this hand-over; 32 hexadecimal digits. */
  readonly id: string;
  /** Lower-case hexadecimal. */
  readonly address: string;
  /** The newest block of the folder. */
  readonly height: string;
  /** ISO 8601. */
  readonly at: string;
}

const NO_HAND_OVER: HandOverMark = { past: [] };

/** The oldest are forgotten beyond this many. */
const MAX_PAST = 1000;
/** The ids of so many, each on its line, take 41 KB. */
const MARK_BYTES = 256 * 1024;

export const handOverMarkFile = (dataPath: string): string => join(dataPath, "hand-over.json");

/** The mark of a data folder; an empty one when there is none. An error when the file says nothing that can be relied upon. */
export function readHandOverMark(dataPath: string): Result<HandOverMark, "unusableMark" | "diskFailure"> {
  const path = handOverMarkFile(dataPath);
  try {
    return existsSync(path) ? parseMark(readRegularFile(path, MARK_BYTES), path) : ok(NO_HAND_OVER);
  } catch (error) {
    if (error instanceof NoSmallFile) return unusable(path, error.message);
    const { message } = translateDiskError(error, `The file ${path} cannot be read`);
    return fail("local", "diskFailure", message);
  }
}

/** Durable when it returns. Throws DiskError. */
export function writeHandOverMark(dataPath: string, mark: HandOverMark): void {
  const content = { version: VERSION, ...mark, past: [...new Set(mark.past)].slice(-MAX_PAST) };
  replaceFile(handOverMarkFile(dataPath), `${JSON.stringify(content, undefined, 2)}\n`, 0o644);
}

/** Refuses a folder into which a validator is half taken over: its key and votes may not belong together. */
export function refuseUnfinished({ taking }: HandOverMark, dataPath: string): Result<void, "handedOver"> {
  if (taking === undefined) return ok(undefined);
  return fail(
    "local",
    "handedOver",
    `A validator is being taken over into ${dataPath}, and this was not finished. Run ibex validator take-over again, with ` +
      "the same file.",
  );
}

/** Refuses the key of a validator that the folder gave away. */
export function refuseGivenKey(
  { given }: HandOverMark,
  address: Address,
  dataPath: string,
): Result<void, "handedOver"> {
  if (given?.address !== toHex(address)) return ok(undefined);
  return fail(
    "local",
    "handedOver",
    `The validator ${given.address} was handed over from ${dataPath} at ${given.at}, at block ${given.height}: another node ` +
      "may run with its key, and two nodes with one key can fork the chain. Leave this one off. Only if no other node has taken " +
      "the validator, or that one is stopped for good: ibex validator hand-over --undo. See docs/operating/hand-over.md.",
  );
}

/**
 * Refuses a start during which a validator was given away from the folder or taken into it: from a keystore the key takes seconds,
 * and only the database's lock keeps these commands out. To be called with that lock; `before` is the mark as it was when the key
 * was read, `addresses` are all that this node would sign with.
 */
export function refuseMeanwhile(
  before: HandOverMark,
  addresses: readonly Address[],
  dataPath: string,
): Result<void, "handedOver" | "unusableMark" | "diskFailure"> {
  const mark = readHandOverMark(dataPath);
  if (!mark.ok) return mark;
  const finished = refuseUnfinished(mark.value, dataPath);
  if (!finished.ok) return finished;
  for (const address of addresses) {
    const refused = refuseGivenKey(mark.value, address, dataPath);
    if (!refused.ok) return refused;
  }
  if (mark.value.past.at(-1) === before.past.at(-1)) return ok(undefined);
  return fail(
    "local",
    "handedOver",
    `A validator was handed over or taken over in ${dataPath} while this node started: start it again.`,
  );
}

const VERSION = 1;

function parseMark(text: string, path: string): Result<HandOverMark, "unusableMark"> {
  try {
    const mark = JSON.parse(text) as Partial<HandOverMark> & { readonly version?: unknown };
    if (mark.version !== VERSION) throw new RangeError(`its version is ${String(mark.version)}`);
    const { given, taking, past } = mark;
    const ids = [...(past ?? [NOT_AN_ID]), ...(given ? [given.id] : []), ...(taking ? [taking.id] : [])];
    if (!ids.every((id) => HAND_OVER_ID.test(id))) throw new RangeError("an id is missing");
    if (given !== undefined && !/^0x[0-9a-f]{40}$/.test(given.address))
      throw new RangeError("an address is missing");
    return ok({
      ...(given !== undefined && { given }),
      ...(taking !== undefined && { taking }),
      past: past ?? [],
    });
  } catch (error) {
    return unusable(path, messageOf(error));
  }
}

function unusable(path: string, reason: string): Result<never, "unusableMark"> {
  return fail(
    "local",
    "unusableMark",
    `The file ${path} cannot be understood (${reason}), so it is unknown whether this folder gave its ` +
      "validator away. If no other node has its key, delete the file.",
  );
}

export const HAND_OVER_ID = /^[0-9a-f]{32}$/;
const NOT_AN_ID = "";
