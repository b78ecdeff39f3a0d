import type { Abi, AbiParameter } from "viem";

/** Most characters read. Compilers' files have code beside the ABI. */
export const LONGEST_TEXT = 2_000_000;
/** Most entries of an ABI. The largest contracts have some hundreds. */
const MOST_ENTRIES = 2_000;

/** An ABI, or why there is none, in the visitor's words. */
type AbiReading = { readonly abi: Abi } | { readonly problem: string };

/** Reads an ABI as compilers and build tools write it: the list itself, or an object that has it as `abi`. */
export function readAbi(text: string): AbiReading {
  if (text.length > LONGEST_TEXT) return { problem: TOO_LONG };
  try {
    const value: unknown = JSON.parse(text);
    return readEntries(isRecord(value) ? value["abi"] : value);
  } catch {
    return { problem: NO_ABI };
  }
}

/** Reads an ABI from parsed JSON. */
export function readEntries(list: unknown): AbiReading {
  if (!Array.isArray(list) || list.length === 0) return { problem: NO_ABI };
  if (list.length > MOST_ENTRIES) return { problem: TOO_MANY };
  const entries = list.map(entryOf);
  return entries.includes(undefined) ? { problem: NO_ABI } : { abi: entries as unknown as Abi };
}

const NO_ABI = "That is no ABI: a list in JSON, or a file of a compiler that has one as “abi”.";
export const TOO_LONG = `That is longer than the ${LONGEST_TEXT.toLocaleString("en")} characters that are read.`;
const TOO_MANY = `That has more than ${MOST_ENTRIES.toLocaleString("en")} entries, which no contract has.`;

type Entry = Readonly<Record<string, unknown>>;

/** An entry with everything that the page needs; compilers leave out empty lists. Undefined for other values. */
function entryOf(value: unknown): Entry | undefined {
  if (!isRecord(value) || typeof value["type"] !== "string") return undefined;
  const { type, name, inputs = [], outputs = [] } = value;
  if (!["function", "event", "error"].includes(type)) return value;
  if (typeof name !== "string" || !areParameters(inputs) || !areParameters(outputs)) return undefined;
  return { ...value, inputs, outputs, stateMutability: mutabilityOf(value) };
}

/** The mutability of a function. Solidity before 0.4.16 only says whether it is constant, and whether it takes value. */
function mutabilityOf({ stateMutability, constant, payable }: Entry): unknown {
  if (stateMutability !== undefined) return stateMutability;
  if (constant === true) return "view";
  return payable === true ? "payable" : "nonpayable";
}

function areParameters(value: unknown): value is readonly AbiParameter[] {
  return (
    Array.isArray(value) &&
    value.every(
      (one) => isRecord(one) && typeof one["type"] === "string" && areParameters(one["components"] ?? []),
    )
  );
}

function isRecord(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
