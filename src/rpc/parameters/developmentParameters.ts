import { isObject } from "./parameters.ts";

/** A number as tools for development send it: a JSON integer, hex text with 0x, or decimal text; at most 32 bytes, not negative. */
export function decodeNumberOrQuantity(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  if (typeof value !== "string" || value.length > LONGEST_NUMBER) return undefined;
  if (!/^(0x[0-9a-fA-F]{1,64}|[0-9]{1,77})$/.test(value)) return undefined;
  const number = BigInt(value);
  return number < 2n ** 256n ? number : undefined;
}

const LONGEST_NUMBER = 77;

/** True or false as JSON has them, which other methods take in more forms: tools for development refuse these. */
export function decodeFlag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** A time in seconds, or in milliseconds where it is so large, as anvil takes them. */
export function decodeTime(value: unknown): bigint | undefined {
  const time = decodeNumberOrQuantity(value);
  return time !== undefined && time > LATEST_IN_SECONDS ? time / 1000n : time;
}

/** Some 30,000 years after 1970. */
const LATEST_IN_SECONDS = 10n ** 12n;

/** Seconds, as `decodeNumberOrQuantity` reads a number; thousands of years at most. */
export function decodeSeconds(value: unknown): bigint | undefined {
  const seconds = decodeNumberOrQuantity(value);
  return seconds === undefined || seconds > MOST_SECONDS ? undefined : seconds;
}

const MOST_SECONDS = 2n ** 40n;

/** Bounds of the time between two blocks. */
interface IntervalParameter {
  readonly least: number;
  readonly most: number;
}

/** Milliseconds between two blocks, or two bounds of them, as Hardhat takes them; 0 for no blocks by time. */
export function decodeMiningInterval(value: unknown): IntervalParameter | undefined {
  const [least, most, ...others] = Array.isArray(value) ? (value as readonly unknown[]) : [value, value];
  if (!isInterval(least) || !isInterval(most) || others.length > 0 || least > most) return undefined;
  return { least, most };
}

function isInterval(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_INTERVAL_MS;
}

/** A day. */
const MOST_INTERVAL_MS = 86_400_000;

/** What evm_mine is asked for. */
interface MineParameter {
  readonly blocks?: bigint;
  readonly timestamp?: bigint;
}

/** The time of the block to mine; or an object, as anvil takes it. */
export function decodeMineParameter(value: unknown): MineParameter | undefined {
  if (!isObject(value)) {
    const timestamp = decodeNumberOrQuantity(value);
    return timestamp === undefined ? undefined : { timestamp };
  }
  const read = { blocks: value["blocks"], timestamp: value["timestamp"] };
  const decoded: { blocks?: bigint; timestamp?: bigint } = {};
  for (const name of ["blocks", "timestamp"] as const) {
    if (read[name] === undefined || read[name] === null) continue;
    const number = decodeNumberOrQuantity(read[name]);
    if (number === undefined) return undefined;
    decoded[name] = number;
  }
  return decoded;
}
